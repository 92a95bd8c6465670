"""Custom headers of requests to AKS: which names and values are valid, and which AKS supports."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path

# The date of these facts.
AS_OF = date(2026, 11, 21)

# A token (RFC 9110).
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAME_RULE = "letters, digits and any of !#$%&'*+-.^_`|~"
# Visible characters, and spaces between them.
_VALUE = re.compile(r"[!-~](?:[ !-~]*[!-~])?")

# The headers that the HTTP client sets, in lower case: other values would break the exchange or
# change who is signed in.
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
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "x-ms-authorization-auxiliary",
        "x-ms-client-request-id",
        "x-ms-correlation-request-id",
        "x-ms-return-client-request-id",
    }
)

# Requests the specialized GPU image, which contains the driver and the device plugin.
SPECIALIZED_IMAGE = "UseGPUDedicatedVHD"
# The keys of a stack file that send it, for messages.
SETTINGS_OF_SPECIALIZED_IMAGE = (
    f"gpuStack: specialized-image (or image: specialized), which sends {SPECIALIZED_IMAGE}"
)
# Requests a generation 2 VM, from the time when generation 1 was the default.
GENERATION_2 = "usegen2vm"
# Lists the preview features (Microsoft.ContainerService/NAME) of a request.
CUSTOM_FEATURES = "AKSHTTPCustomFeatures"


def header_mistakes(headers: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Yields all mistakes in custom headers. Values that are not strings are checked elsewhere.

    `path` is the property with the headers. Reasons do not contain values, which may be secrets.
    """
    seen: set[str] = set()
    for name, value in headers.items():
        header = property_path(path, name) if path else name
        if not _NAME.fullmatch(name):
            yield Mistake(header, f"is not a valid header name: use {_NAME_RULE}")
        elif name.lower() in CLIENTS_OWN:
            yield Mistake(header, "is set by the HTTP client: remove it")
        elif name.lower() in seen:
            yield Mistake(header, "appears twice (header names are case-insensitive): remove one")
        if isinstance(value, str) and not _VALUE.fullmatch(value):
            yield Mistake(header, "must be printable text on one line")
        seen.add(name.lower())


def is_on(headers: Mapping[str, str] | None, switch: str) -> bool:
    """Whether a boolean header is true. Header names are case-insensitive."""
    return any(
        name.lower() == switch.lower() and value.lower() == "true"
        for name, value in (headers or {}).items()
    )


def parse(text: str) -> Mapping[str, str]:
    """Parses headers in the form of the Azure CLI, `a=b,c=d`.

    Raises ValueError if the CLI would refuse them.
    """
    headers: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, separator, value = item.partition("=")
        if not separator or not value or "=" in value:
            raise ValueError(f"{item!r} does not have the form name=value")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return MappingProxyType(headers)
