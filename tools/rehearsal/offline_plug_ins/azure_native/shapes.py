"""The shapes of resource properties, and the mistakes in inputs that do not match them.

Shapes are made from the classes of an SDK, so that no property is written twice.
"""

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import EnumMeta
from types import MappingProxyType, UnionType
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path
from provider_kit.values import UNKNOWN


@dataclass(frozen=True)
class Scalar:
    """A primitive value of JSON, by its name in a schema."""

    kind: str


@dataclass(frozen=True)
class ListOf:
    item: "Shape"


@dataclass(frozen=True)
class MapOf:
    """An object with keys that the user chooses."""

    value: "Shape"


@dataclass(frozen=True)
class ObjectOf:
    """An object of Azure's API, with the shape of each property."""

    name: str
    fields: Mapping[str, "Shape"] = field(hash=False, default_factory=lambda: MappingProxyType({}))
    required: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Anything:
    """A value of any type."""


Shape = Scalar | ListOf | MapOf | ObjectOf | Anything

STRING, BOOLEAN = Scalar("string"), Scalar("boolean")
INTEGER, NUMBER = Scalar("integer"), Scalar("number")

# The type hints of the members of an SDK's class, and the required members; None for other types.
Members = tuple[Mapping[str, Any], frozenset[str]] | None
_SCALARS: Mapping[Any, Shape] = MappingProxyType(
    {bool: BOOLEAN, float: NUMBER, int: INTEGER, str: STRING}
)

_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}
)
_WORDS: Mapping[type, str] = MappingProxyType(
    {
        bool: "a boolean",
        dict: "an object",
        float: "a number",
        int: "an integer",
        list: "a list",
        str: "a string",
    }
)


def shape_of(
    hint: Any, members_of: Callable[[Any], Members], around: tuple[Any, ...] = ()
) -> Shape:
    """Returns the shape of a type hint in an SDK.

    `members_of` returns the members of the SDK's classes. A class inside itself becomes Anything.
    """
    arguments, container = typing.get_args(hint), typing.get_origin(hint)
    if container in (typing.Union, UnionType):
        return _union_shape(arguments, members_of, around)
    if container in (list, Sequence):
        return ListOf(shape_of(arguments[0], members_of, around))
    if container in (dict, Mapping):
        return MapOf(shape_of(arguments[1], members_of, around))
    members = None if hint in around else members_of(hint)
    if members is None:
        return STRING if isinstance(hint, EnumMeta) else _SCALARS.get(hint, Anything())
    hints, required = members
    inside = (*around, hint)
    fields = {name: shape_of(inner, members_of, inside) for name, inner in hints.items()}
    return ObjectOf(hint.__name__, MappingProxyType(fields), required)


def _union_shape(
    kinds: tuple[Any, ...], members_of: Callable[[Any], Members], around: tuple[Any, ...]
) -> Shape:
    if str in kinds:  # beside an enumeration, for values that Azure adds later
        return STRING
    # The other members are outputs of the same type.
    shapes = (shape_of(kind, members_of, around) for kind in kinds)
    return next((shape for shape in shapes if shape != Anything()), Anything())


NOT_A_PROPERTY = "is not a property of"


def mistakes(shape: ObjectOf, values: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Yields all mistakes in the properties of an object. Reasons do not contain values."""
    for name in sorted(shape.required):
        if values.get(name) is None:
            yield Mistake(property_path(path, name), "is required")
    for name, value in values.items():
        if name in shape.fields:
            yield from _value_mistakes(shape.fields[name], value, property_path(path, name))
        else:
            yield Mistake(property_path(path, name), f"{NOT_A_PROPERTY} {shape.name}")


def _value_mistakes(shape: Shape, value: Any, path: str) -> Iterator[Mistake]:
    if value is UNKNOWN or value is None:
        return
    expected = _expected(shape, value)
    if expected:
        word = _WORDS.get(type(value), "a file or a resource")
        yield Mistake(path, f"is {word}, but must be {expected}")
        return
    match shape:
        case ListOf(item):
            for index, member in enumerate(value):
                if member is None:
                    yield Mistake(property_path(path, index), "is null: remove it")
                yield from _value_mistakes(item, member, property_path(path, index))
        case MapOf(member):
            for key, inner in value.items():
                yield from _value_mistakes(member, inner, property_path(path, key))
        case ObjectOf():
            yield from mistakes(shape, value, path)


def _expected(shape: Shape, value: Any) -> str:
    """Returns the type that a value must have; empty if it has it."""
    match shape:
        case Scalar(kind=kind) if type(value) not in _TYPES[kind]:
            return f"{'an' if kind == 'integer' else 'a'} {kind}"
        case ListOf() if not isinstance(value, list):
            return "a list"
        case MapOf() if not isinstance(value, Mapping):
            return "a map"
        case ObjectOf() if not isinstance(value, Mapping):
            return "an object"
    return ""
