"""What the inputs of a resource may look like, and what is wrong with inputs that do not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from catalogue.mistakes import Mistake, property_path
from provider_kit.values import UNKNOWN


@dataclass(frozen=True)
class Scalar:
    """One of JSON's simple values, by the name it has in a schema."""

    kind: str
    # One of several words that Azure knows, in whatever case they are written.
    is_choice: bool = False


@dataclass(frozen=True)
class ListOf:
    item: "Shape"


@dataclass(frozen=True)
class MapOf:
    """Names of the user's own, each with a value."""

    value: "Shape"


@dataclass(frozen=True)
class ObjectOf:
    """Names that Azure knows, each with a shape of its own."""

    name: str
    fields: Mapping[str, "Shape"] = field(hash=False, default_factory=lambda: MappingProxyType({}))
    required: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Anything:
    """A value that Azure alone understands."""


Shape = Scalar | ListOf | MapOf | ObjectOf | Anything

STRING, BOOLEAN = Scalar("string"), Scalar("boolean")
CHOICE = Scalar("string", is_choice=True)
INTEGER, NUMBER = Scalar("integer"), Scalar("number")
STRINGS, STRING_MAP = ListOf(STRING), MapOf(STRING)

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


def mistakes(shape: ObjectOf, values: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Everything that is wrong with the properties of an object; no reason repeats a value."""
    for name in sorted(shape.required):
        if values.get(name) is None:
            yield Mistake(property_path(path, name), "is required")
    for name, value in values.items():
        if name in shape.fields:
            yield from _value_mistakes(shape.fields[name], value, property_path(path, name))
        else:
            yield Mistake(property_path(path, name), f"is not a property of {shape.name}")


def _value_mistakes(shape: Shape, value: Any, path: str) -> Iterator[Mistake]:
    if value is UNKNOWN or value is None:
        return
    wanted = _wanted(shape, value)
    if wanted:
        yield Mistake(path, f"is {_WORDS[type(value)]}, but has to be {wanted}")
        return
    match shape:
        case ListOf(item):
            for index, member in enumerate(value):
                yield from _value_mistakes(item, member, property_path(path, index))
        case MapOf(member):
            for key, inner in value.items():
                yield from _value_mistakes(member, inner, property_path(path, key))
        case ObjectOf():
            yield from mistakes(shape, value, path)


def _wanted(shape: Shape, value: Any) -> str:
    """What the value is not, but has to be; '' if it is."""
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
