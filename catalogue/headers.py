"""Custom headers: what HTTP allows, whom a name belongs to, and those that AKS knows."""

import re
from collections.abc import Mapping
from types import MappingProxyType

# A token, as RFC 9110 has it.
LEGAL_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
LEGAL_NAME_RULE = "letters, digits and any of !#$%&'*+-.^_`|~"

# The headers that the client writes by itself, in lower case.
CLIENTS_OWN = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "if-match",
        "if-none-match",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "x-ms-client-request-id",
    }
)

# Asks for the specialised GPU image, with driver and device plugin in it.
SPECIALISED_IMAGE = "UseGPUDedicatedVHD"
# Asks for a generation 2 machine, in the days when generation 1 was the default.
GENERATION_2 = "usegen2vm"
# Names preview features, Microsoft.ContainerService/NAME, that a request is to have.
CUSTOM_FEATURES = "AKSHTTPCustomFeatures"


def parse(text: str) -> Mapping[str, str]:
    """Headers in the form that the Azure CLI takes, `a=b,c=d`, by the CLI's rules.

    Raises ValueError where the CLI would refuse.
    """
    headers: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, separator, value = item.partition("=")
        if not separator or not value or "=" in value:
            raise ValueError(f"{item!r} is not of the form name=value")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return MappingProxyType(headers)
