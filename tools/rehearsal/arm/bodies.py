"""Request bodies: JSON, with values of the types of the API."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.arm import errors

# Resource Manager's limit.
MOST_BYTES = 4 << 20
# The kinds of the fields of each type, in the notation of aks_catalogue/aks_types.py.
Types = Mapping[str, Mapping[str, str]]
# Returns the error for a value at a path that is not of its kind, or for a field that no type has,
# whose kind is None.
Misfit = Callable[[str, str | None], errors.ArmError]

_PRIMITIVES = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}
# Marks a value that is dropped.
_LEFT_OUT: Final = object()


def parse(content: bytes) -> Any:
    """Returns the parsed body; refuses invalid JSON."""
    if not content:
        return None
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (RecursionError, ValueError) as error:
        raise errors.ArmError(errors.BAD_CONTENT, reason=error) from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


@dataclass(frozen=True)
class Reader:
    """Reads values by the types of an API. A null counts as absent, as on AKS."""

    types: Types
    misfit: Misfit
    # Whether fields that no type has are refused.
    is_strict: bool = False

    def read(self, kind: str, value: Any, path: str = "") -> Any:
        """Returns the value without nulls, with names in the case of the API."""
        container, _, inner = kind.partition(" of ")
        if value is None:
            # A null in a list of strings counts as an empty string.
            return "" if kind == "string" else _LEFT_OUT
        if container == "list" and isinstance(value, list):
            items = [self.read(inner, item, path) for item in value]
            return [item for item in items if item is not _LEFT_OUT]
        if container == "map" and isinstance(value, dict):
            read = {name: self.read(inner, item, path) for name, item in value.items()}
            return _without_left_out(read)
        if kind in self.types and isinstance(value, dict):
            return self._object(self.types[kind], value, path)
        if kind == "anything" or _is(kind, value):
            return value
        # Resource Manager takes a number in a tag as the text that it is.
        is_tag = kind == "string" and not path.startswith("properties")
        if is_tag and isinstance(value, bool | int | float):
            return json.dumps(value)
        raise self.misfit(path, kind)

    def _object(self, fields: Mapping[str, str], values: dict[str, Any], path: str) -> Any:
        """Reads an object; names match in any case, as in both JSON readers of Azure."""
        read = {}
        for name, value in values.items():
            known = name if name in fields else _in_another_case(name, fields)
            below = f"{path}.{known or name}".lstrip(".")
            if known is None:
                if self.is_strict:
                    raise self.misfit(below, None)
                read[name] = value
            elif value is not None:
                read[known] = self.read(fields[known], value, below)
        return _without_left_out(read)


def _in_another_case(name: str, fields: Iterable[str]) -> str | None:
    return {field.lower(): field for field in fields}.get(name.lower())


def _without_left_out(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not _LEFT_OUT}


def _is(kind: str, value: Any) -> bool:
    return type(value) in _PRIMITIVES.get(kind, ())


def of_resource_manager(path: str, kind: str | None) -> errors.ArmError:
    """Returns the error for a value that Resource Manager cannot read."""
    return errors.ArmError(errors.BAD_CONTENT, reason=f"{path} has to be a {kind}")
