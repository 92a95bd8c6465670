"""Custom headers: which ones may be sent with a request to AKS, and those that AKS knows."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from catalogue.mistakes import Mistake, property_path

# When the facts here were true.
AS_OF = date(2026, 11, 21)

# A token, as RFC 9110 has it.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAME_RULE = "letters, digits and any of !#$%&'*+-.^_`|~"
# Visible characters, with blanks between them.
_VALUE = re.compile(r"[!-~](?:[ !-~]*[!-~])?")

# The headers that the client writes by itself, in lower case: another value would break the
# exchange, or say who asks.
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

# Asks for the specialized GPU image, with driver and device plugin in it.
SPECIALIZED_IMAGE = "UseGPUDedicatedVHD"
# What sends it by itself in a stack file, for the reasons of refusals.
SETTINGS_OF_SPECIALIZED_IMAGE = (
    f"gpuStack: specialized-image (or image: specialized), which sends {SPECIALIZED_IMAGE}"
)
# Asks for a generation 2 machine, in the days when generation 1 was the default.
GENERATION_2 = "usegen2vm"
# Names preview features, Microsoft.ContainerService/NAME, that a request is to have.
CUSTOM_FEATURES = "AKSHTTPCustomFeatures"


def header_mistakes(headers: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Everything that is wrong with custom headers; a value that is no text is judged elsewhere.

    `path` is the property that holds the headers. A reason repeats no value: it may be a secret.
    """
    seen: set[str] = set()
    for name, value in headers.items():
        header = property_path(path, name) if path else name
        if not _NAME.fullmatch(name):
            yield Mistake(header, f"is no name of a header: it takes {_NAME_RULE}")
        elif name.lower() in CLIENTS_OWN:
            yield Mistake(header, "is written by the client itself: leave it out")
        elif name.lower() in seen:
            yield Mistake(header, "stands twice, in upper and lower case")
        if isinstance(value, str) and not _VALUE.fullmatch(value):
            yield Mistake(header, "has to be printable text in one line")
        seen.add(name.lower())


def is_on(headers: Mapping[str, str] | None, switch: str) -> bool:
    """Whether a switch among the headers is on; their names have no case."""
    return any(
        name.lower() == switch.lower() and value.lower() == "true"
        for name, value in (headers or {}).items()
    )


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
