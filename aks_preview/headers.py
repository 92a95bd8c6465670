"""What is wrong with the headers of a resource, beside their shape."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_preview.aks_type import HEADERS, UPDATABLE_HEADERS
from catalogue import headers as known_headers
from catalogue.mistakes import Mistake, property_path


def header_mistakes(inputs: Mapping[str, Any]) -> Iterator[Mistake]:
    """Everything that is wrong with the headers themselves, and with what names them."""
    headers, updatable = inputs.get(HEADERS), inputs.get(UPDATABLE_HEADERS)
    if not isinstance(headers, Mapping):
        return
    yield from known_headers.header_mistakes(headers, HEADERS)
    known = {name.lower() for name in headers}
    for index, name in enumerate(updatable if isinstance(updatable, Sequence) else ()):
        if isinstance(name, str) and name.lower() not in known:
            yield Mistake(property_path(UPDATABLE_HEADERS, index), f"is not one of the {HEADERS}")
