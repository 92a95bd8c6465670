"""Reads the properties of a resource for the rules.

A value is converted to its type when a rule reads it: the string "false" becomes False for a
boolean property. A value that is unknown or has the wrong type raises CannotReadError then. An
absent value, an empty object and null mean the same.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple

from pulumi_policy.proxy import (
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
    UnknownValueError,
)

# Of a chart, or of manifests, whose content the engine does not know yet.
NOT_RENDERED = "has no child resources before its cluster exists"


class CannotReadError(UnknownValueError):
    """Why a rule could not judge a value. The engine reports it as advisory, at any level."""

    def __init__(self, message: str, urn: str = "") -> None:
        Exception.__init__(self, message)
        self.message = message
        # The URN of the resource, in rules on the stack; in other rules the engine knows it.
        self.urn = urn


class _Wrong(Enum):
    WRONG = "a value of the wrong type"


_WRONG: Final = _Wrong.WRONG
_UNKNOWN: Mapping[str, str] = {
    UNKNOWN_ARRAY_VALUE: "Array",
    UNKNOWN_ASSET_VALUE: "asset",
    UNKNOWN_BOOLEAN_VALUE: "boolean",
    UNKNOWN_NUMBER_VALUE: "number",
    UNKNOWN_OBJECT_VALUE: "Object",
    UNKNOWN_STRING_VALUE: "string",
}


@dataclass(frozen=True)
class Shape:
    """The type of a value. Properties without a shape can have any value."""

    description: str
    convert: Callable[[Any], Any] = field(repr=False)
    # The properties of an object, by name.
    parts: Mapping[str, "Shape"] = field(default_factory=dict)
    # The items of a list, or the properties of an object that `parts` does not name.
    items: "Shape | None" = None

    def of(self, key: str | int) -> "Shape":
        return (isinstance(key, str) and self.parts.get(key)) or self.items or ANYTHING


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    # The engine passes all numbers as floats.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else _WRONG


def _number(value: Any) -> Any:
    if value == "":
        return None
    text = _text(value)
    is_number = text is not _WRONG and text.removeprefix("-").replace(".", "", 1).isdecimal()
    return float(text) if is_number and math.isfinite(float(text)) else _WRONG


_FLAGS: Mapping[str, bool | None] = {"true": True, "false": False, "": None}


def _flag(value: Any) -> Any:
    if isinstance(value, str):
        return _FLAGS.get(value.lower(), _WRONG)
    return value if isinstance(value, bool) else _WRONG


def _only(kind: type | tuple[type, ...]) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else _WRONG


def _one_or_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


ANYTHING = Shape("anything", lambda value: value)
TEXT = Shape("a string", _text)
NUMBER = Shape("a number", _number)
FLAG = Shape("true or false", _flag)


def listed(items: Shape, *, or_one: bool = False) -> Shape:
    """Returns the shape of a list; with `or_one`, a single value counts as a list of one."""
    return Shape("a list", _one_or_list if or_one else _only(list), items=items)


def an_object(parts: Mapping[str, Shape], others: Shape | None = None) -> Shape:
    return Shape("an object", _only(dict), parts, others)


class Owner(NamedTuple):
    """The resource of a value, in rules on the stack; in other rules the engine reports it."""

    name: str = ""
    type: str = ""
    urn: str = ""

    def __str__(self) -> str:
        return f" of {self.name} ({self.type})" if self.urn else ""


@dataclass(frozen=True)
class _Reader:
    """Reads the properties or items of the value at a path."""

    shape: Shape
    path: str
    owner: Owner

    def part(self, key: str | int, raw: Any) -> Any:
        shape = self.shape.of(key)
        path = f"{self.path}.{key}"
        if isinstance(raw, str) and raw in _UNKNOWN:
            # As the SDK words it.
            message = f"{_UNKNOWN[raw]} value at {path}{self.owner} can't be known during preview"
            raise CannotReadError(message, self.owner.urn)
        bare = _without_proxy(raw)
        value = shape.convert(bare)
        if value is _WRONG:
            actual = _TYPE_NAMES.get(type(bare), "an asset")
            message = f"{path}{self.owner} is {actual}, not {shape.description}"
            raise CannotReadError(message, self.owner.urn)
        reader = _Reader(shape, path, self.owner)
        if isinstance(value, dict):
            return Object(value, reader)
        return Items(value, reader) if isinstance(value, list) else value


class Object(Mapping[str, Any]):
    """An object's properties, without those that are null."""

    def __init__(self, raw: Mapping[str, Any], reader: _Reader) -> None:
        self._raw = {name: value for name, value in raw.items() if value is not None}
        self._reader = reader
        # All rules share this object, so each property is converted once.
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._reader.part(name, self._raw[name])
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        """Whether the property is set, even if its value is unknown."""
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


class Items(Sequence[Any]):
    """A list's items."""

    def __init__(self, raw: Sequence[Any], reader: _Reader) -> None:
        self._raw = raw
        self._reader = reader

    def __getitem__(self, index: Any) -> Any:
        return self._reader.part(index, self._raw[index])

    def __len__(self) -> int:
        return len(self._raw)


def reading(
    properties: Mapping[str, Any], shape: Shape, owner: Owner | None = None
) -> Mapping[str, Any]:
    """Returns the properties of a resource, each to be converted when it is read."""
    return Object(_without_proxy(properties), _Reader(shape, "", owner or Owner()))


def _without_proxy(value: Any) -> Any:
    """Returns the value inside the SDK's proxy."""
    is_proxy = isinstance(value, Mapping | Sequence) and not isinstance(value, dict | list | str)
    return value["__target"] if is_proxy else value


_TYPE_NAMES: Mapping[type, str] = {
    str: "a string", bool: "true or false", float: "a number", int: "a number", list: "a list",
    dict: "an object", type(None): "null",
}  # fmt: skip
