"""Which custom headers may be sent: the names and values that HTTP allows and the client leaves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aks_preview.aks_type import HEADERS, UPDATABLE_HEADERS
from provider_kit.shapes import Mistake

# RFC 9110: a token, and visible characters with blanks between them.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[!-~](?:[ \t!-~]*[!-~])?")

# What the client sets itself; another value would break the exchange, or say who asks.
_OF_THE_CLIENT: Final = frozenset(
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


def header_mistakes(inputs: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with the headers themselves; their shape is looked at elsewhere."""
    headers = inputs.get(HEADERS)
    if not isinstance(headers, Mapping):
        return
    seen: set[str] = set()
    for name, value in headers.items():
        path = f'{HEADERS}["{name}"]'
        if not _TOKEN.fullmatch(name):
            yield Mistake(path, "is no name of an HTTP header: letters, digits and - are")
        elif name.lower() in _OF_THE_CLIENT:
            yield Mistake(path, "is a header that the client sets itself")
        elif name.lower() in seen:
            yield Mistake(path, "is there twice: HTTP does not tell upper from lower case")
        if isinstance(value, str) and not _VALUE.fullmatch(value):
            yield Mistake(
                path, "has a value that HTTP cannot carry: visible ASCII characters can be, not ''"
            )
        seen.add(name.lower())
    yield from _strangers(headers, inputs.get(UPDATABLE_HEADERS))


def _strangers(headers: Mapping[str, Any], updatable: Any) -> Iterator[Mistake]:
    if not isinstance(updatable, Sequence):
        return
    known = {name.lower() for name in headers}
    for index, name in enumerate(updatable):
        if isinstance(name, str) and name.lower() not in known:
            yield Mistake(f"{UPDATABLE_HEADERS}[{index}]", f"is not one of the {HEADERS}")
