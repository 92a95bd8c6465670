"""Request bodies: JSON within limits, with values of the types of the API."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.arm import errors

# Resource Manager's limit.
MOST_BYTES = 4 << 20
# The default limit of .NET's JSON reader; bodies of AKS have about ten levels.
MOST_LEVELS = 64

# The largest 32-bit floating-point number.
LARGEST_NUMBER = (2 - 2**-23) * 2.0**127

# The kinds of the fields of each type, in the notation of aks_catalogue/aks_types.py.
Types = Mapping[str, Mapping[str, str]]

# Marks a value that is dropped.
_LEFT_OUT: Final = object()


def parse(content: bytes) -> Any:
    """Returns the parsed body; refuses invalid JSON, and values that cannot be stored."""
    if not content:
        return None
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
        _check(value)
    except RecursionError:
        raise _bad(_TOO_DEEP) from None
    except ValueError as error:
        raise _bad(error) from None
    return value


_TOO_DEEP = f"The reader's MaxDepth of {MOST_LEVELS} has been exceeded."


def _bad(reason: object) -> errors.ArmError:
    return errors.ArmError(errors.BAD_CONTENT, reason=reason)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _check(value: Any) -> None:
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        texts = [item for item in level if isinstance(item, str)]
        objects = [item for item in level if isinstance(item, dict)]
        for text in (*texts, *(name for item in objects for name in item)):
            # A lone surrogate cannot be encoded in UTF-8; UnicodeEncodeError is a ValueError.
            if b"\0" in text.encode():
                raise ValueError("Invalid character in a string: \\u0000")
        if any(isinstance(item, float) and not math.isfinite(item) for item in level):
            raise ValueError("A number is too large")
        lists = [item for item in level if isinstance(item, list)]
        level = [inner for item in lists for inner in item]
        level += [inner for item in objects for inner in item.values()]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


@dataclass(frozen=True)
class Misfit:
    """A value of the wrong kind."""

    path: tuple[str | int, ...]
    value: Any
    kind: str
    # The type that has the field.
    owner: str


@dataclass(frozen=True)
class Reader:
    """Reads values by the types of an API. A null counts as absent, as on AKS."""

    types: Types
    # Returns the value to use instead of a misfit, or raises.
    misfit: Callable[[Misfit], Any]
    # Returns whether to keep a field that the type does not have, or raises.
    unknown: Callable[[str], bool] = lambda _: True

    def read(self, kind: str, value: Any, path: tuple[str | int, ...] = (), owner: str = "") -> Any:
        """Returns the value, or its replacement."""
        container, _, inner = kind.partition(" of ")
        if value is None:
            # A null in a list of strings counts as an empty string.
            return "" if kind == "string" else _LEFT_OUT
        if container == "list" and isinstance(value, list):
            items = [self.read(inner, item, (*path, at), owner) for at, item in enumerate(value)]
            return [item for item in items if item is not _LEFT_OUT]
        if container == "map" and isinstance(value, dict):
            return _without_left_out(
                {name: self.read(inner, item, (*path, name), owner) for name, item in value.items()}
            )
        if kind in self.types and isinstance(value, dict):
            return self._object(kind, value, path)
        if kind == "anything" or _is(kind, value):
            return value
        return self.misfit(Misfit(path, value, kind, owner))

    def _object(self, kind: str, values: dict[str, Any], path: tuple[str | int, ...]) -> Any:
        """Reads an object; names match in any case, as in both JSON readers of Azure."""
        fields = self.types[kind]
        read = {}
        for name, value in values.items():
            known = name if name in fields else _in_another_case(name, fields)
            if known is None:
                if self.unknown(name):
                    read[name] = value
            elif value is not None:
                read[known] = self.read(fields[known], value, (*path, known), kind)
        return _without_left_out(read)


def _in_another_case(name: str, fields: Iterable[str]) -> str | None:
    return {field.lower(): field for field in fields}.get(name.lower())


def _without_left_out(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not _LEFT_OUT}


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        # All integers of AKS have 32 bits.
        case "integer":
            return type(value) is int and -(1 << 31) <= value < 1 << 31
        case "number":
            return type(value) in (int, float) and abs(value) <= LARGEST_NUMBER
    return False


def of_resource_manager(misfit: Misfit) -> str:
    """Resource Manager accepts a number or a boolean as a string, and refuses all other misfits."""
    if misfit.kind == "string" and isinstance(misfit.value, bool | int | float):
        return json.dumps(misfit.value)
    token = {str: "String", dict: "StartObject", list: "StartArray", bool: "Boolean"}
    actual = token.get(type(misfit.value), "Number")
    path = ".".join(map(str, misfit.path))
    raise _bad(f"Error reading {misfit.kind}. Unexpected token: {actual}. Path '{path}'.")
