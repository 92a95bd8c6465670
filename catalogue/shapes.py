"""Reads what others wrote: a value of another shape than belongs there is taken for none."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def at(values: Any, path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    for name in path.split("."):
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def mapping(value: Any) -> Mapping[str, Any]:
    """An object; empty where it is something else."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    """A list; empty where it is something else. Its items are not read."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list."""
    return (one for one in sequence(value) if isinstance(one, Mapping))
