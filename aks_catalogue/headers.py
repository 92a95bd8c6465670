"""Custom headers of requests to AKS: which are valid, and those that AKS has or had (headers.csv).

A retired header has the day on which AKS took its feature away, or gave it a property or made it
the default. AKS may still read such a header, but none of its pages names it as the way.

To renew the table: AKS's release notes and pages (`custom-headers`), and what Azure's own programs
send. Then AS_OF.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.retirement import has_passed

# The date of these facts.
AS_OF = date(2026, 11, 29)

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


@dataclass(frozen=True, kw_only=True)
class Header:
    """A header that AKS has or had. None as the day means that AKS has it."""

    name: str
    asks_for: str
    retired_on: date | None
    instead: str
    source: str


def _table() -> Iterator[Header]:
    with Path(__file__).with_name("headers.csv").open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            day = row["retired_on"]
            yield Header(
                name=row["header"],
                asks_for=row["asks_for"],
                retired_on=date.fromisoformat(day) if day else None,
                instead=row["instead"],
                source=row["source"],
            )


# By name in lower case.
HEADERS: Mapping[str, Header] = MappingProxyType({row.name.lower(): row for row in _table()})


def header_mistakes(headers: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Yields all mistakes in custom headers. A caller checks that values are strings.

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


def retired_headers(headers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each header that AKS has retired, as it is written, and what to say of it.

    A header that is `false` asks for nothing: AKS's pages switch off what is gone that way.
    """
    for name in headers:
        row = HEADERS.get(name.lower())
        # The value of another header can be unknown.
        if row and has_passed(row.retired_on) and str(headers[name]).lower() != "false":
            yield name, f"AKS retired the header {name} on {row.retired_on}: {row.instead}."


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
