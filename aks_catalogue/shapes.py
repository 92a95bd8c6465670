"""Reads untrusted values: a value of the wrong type counts as not set."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def at(values: Any, path: str) -> Any:
    """Returns the value at a dotted path; None if there is none."""
    for name in path.split("."):
        # This is asked for hundreds of times a request, and `dict` by itself is the quick question.
        if not isinstance(values, (dict, Mapping)):
            return None
        values = values.get(name)
    return values


def mapping(value: Any) -> Mapping[str, Any]:
    """Returns an object; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    """Returns a list; an empty one for any other value. Reads no items."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the objects in a list."""
    return (item for item in sequence(value) if isinstance(item, Mapping))
