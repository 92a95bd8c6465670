"""What a program says of a resource, as the rules read it.

A value is read when it is asked for, and comes as what it has to be: the text "false" is off where
something can be on or off. One that is not known yet, and one that is something else than it has to
be, raises CannotReadError then. An absent value, an empty object and null are the same.
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


class CannotReadError(UnknownValueError):
    """Why a rule could not judge: of that the engine tells, as advisory whatever its level is."""

    def __init__(self, message: str, urn: str = "") -> None:
        Exception.__init__(self, message)
        self.message = message
        # The resource that cannot be judged, where the engine does not tell that by itself.
        self.urn = urn


class _Wrong(Enum):
    WRONG = "something else than it has to be"


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
    """What a value has to be. What nothing is known of may be anything."""

    what: str
    read: Callable[[Any], Any] = field(repr=False)
    # By name, the parts of an object; of those without a name here, and of a list, the items.
    parts: Mapping[str, "Shape"] = field(default_factory=dict)
    items: "Shape | None" = None

    def of(self, key: str | int) -> "Shape":
        return (isinstance(key, str) and self.parts.get(key)) or self.items or ANYTHING


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    # The engine hands over all numbers as floats.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else _WRONG


def _number(value: Any) -> Any:
    if value == "":
        return None
    text = _text(value)
    is_number = text is not _WRONG and text.removeprefix("-").replace(".", "", 1).isdecimal()
    return float(text) if is_number and math.isfinite(float(text)) else _WRONG


def _flag(value: Any) -> Any:
    said = {"true": True, "false": False, "": None}
    return said.get(value.lower(), _WRONG) if isinstance(value, str) else _only(bool)(value)


def _only(kind: type | tuple[type, ...]) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else _WRONG


def _one_or_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


ANYTHING = Shape("anything", lambda value: value)
TEXT = Shape("a text", _text)
NUMBER = Shape("a number", _number)
FLAG = Shape("true or false", _flag)


def listed(items: Shape, *, or_one: bool = False) -> Shape:
    """A list; with `or_one` a value in its place stands for a list of that one."""
    return Shape("a list", _one_or_list if or_one else _only(list), items=items)


def an_object(parts: Mapping[str, Shape], others: Shape | None = None) -> Shape:
    return Shape("an object", _only(dict), parts, others)


class Whose(NamedTuple):
    """The resource that a value is of, for rules on the stack; the engine tells it to others."""

    name: str = ""
    type: str = ""
    urn: str = ""

    def __str__(self) -> str:
        return f" of {self.name} ({self.type})" if self.urn else ""


@dataclass(frozen=True)
class _Reader:
    """Reads the parts of a value; `path` are the steps to it."""

    shape: Shape
    path: str
    whose: Whose

    def part(self, key: str | int, said: Any) -> Any:
        shape = self.shape.of(key)
        path = f"{self.path}.{key}"
        if isinstance(said, str) and said in _UNKNOWN:
            kind = _UNKNOWN[said]
            message = f"{kind} value at {path}{self.whose} can't be known during preview"
            raise CannotReadError(message, self.whose.urn)
        bare = _bare(said)
        value = shape.read(bare)
        if value is _WRONG:
            instead = f"{_told(bare)} stands where {shape.what} belongs"
            message = f"{path}{self.whose} cannot be read: {instead}"
            raise CannotReadError(message, self.whose.urn)
        reader = _Reader(shape, path, self.whose)
        if isinstance(value, dict):
            return Object(value, reader)
        return Items(value, reader) if isinstance(value, list) else value


class Object(Mapping[str, Any]):
    """An object's properties, without those that are null."""

    def __init__(self, said: Mapping[str, Any], reader: _Reader) -> None:
        self._said = {name: value for name, value in said.items() if value is not None}
        self._reader = reader
        # All rules read the same: each part is made out once.
        self._parts: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._parts:
            self._parts[name] = self._reader.part(name, self._said[name])
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        """That a property is there is known even where its value is not."""
        return name in self._said

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)

    def __len__(self) -> int:
        return len(self._said)


class Items(Sequence[Any]):
    """A list's items."""

    def __init__(self, said: Sequence[Any], reader: _Reader) -> None:
        self._said = said
        self._reader = reader

    def __getitem__(self, index: Any) -> Any:
        return self._reader.part(index, self._said[index])

    def __len__(self) -> int:
        return len(self._said)


def reading(
    said: Mapping[str, Any], shape: Shape, whose: "Whose | None" = None
) -> Mapping[str, Any]:
    """A resource's properties, as the engine hands them over, to be read as that shape."""
    return Object(_bare(said), _Reader(shape, "", whose or Whose()))


def _bare(said: Any) -> Any:
    """A value as it is below the SDK's proxy."""
    is_proxy = isinstance(said, Mapping | Sequence) and not isinstance(said, dict | list | str)
    return said["__target"] if is_proxy else said


_NAMES: Mapping[type, str] = {
    str: "a text", bool: "true or false", float: "a number", int: "a number", list: "a list",
    dict: "an object", type(None): "null",
}  # fmt: skip


def _told(value: Any) -> str:
    return _NAMES.get(type(value), "an asset")
