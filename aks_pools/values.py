"""Reads values as what a property is: "3" is a number, and "false" is no.

Programs in YAML write numbers and switches as texts, and the engine hands all numbers on as floats.
A value that is not set, null and an empty object mean the same.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# What Pulumi writes for a text that is not known yet.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]+)?")
_FLAGS: Mapping[str, bool] = {"true": True, "false": False, "": False}


class NotKnownError(Exception):
    """What a mapping raises when a value is read that is not known before the update."""


class OddValueError(ValueError):
    """A value that cannot be what its property is; the text says which, and what it would be."""

    def __init__(self, place: str, value: Any, wanted: str) -> None:
        super().__init__(f"{place} is {_kind(value)}, not {wanted}")


def text(value: Any, place: str) -> str:
    """Returns a string; empty if it is not set."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    if value is not None:
        raise OddValueError(place, value, "a string")
    return ""


def number(value: Any, place: str) -> int | None:
    """Returns a whole number; None if it is not set."""
    if value in (None, ""):
        return None
    is_scalar = isinstance(value, str | int | float)
    if not is_scalar or not _NUMBER.fullmatch(written := text(value, place)):
        raise OddValueError(place, value, "a number")
    return int(float(written))


def flag(value: Any, place: str) -> bool:
    """Returns true or false; false if it is not set."""
    written = str(value).lower() if isinstance(value, str | bool) else ""
    if written not in _FLAGS or not isinstance(value, str | bool | None):
        raise OddValueError(place, value, "true or false")
    return _FLAGS[written]


def part(value: Any, place: str) -> Mapping[str, Any]:
    """Returns an object; empty if it is not set."""
    if value is not None and not isinstance(value, Mapping):
        raise OddValueError(place, value, "an object")
    return value or {}


def texts(value: Any, place: str) -> list[str]:
    """Returns a list of strings; empty if it is not set."""
    if value is not None and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise OddValueError(place, value, "a list")
    return [text(item, f"{place}[{index}]") for index, item in enumerate(value or ())]


def listed(value: Any) -> Sequence[Any]:
    """Returns a list as it is, a single value as a list of one, and no value as an empty list."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    return [value] if value else []


def _kind(value: Any) -> str:
    # Without the value, which can be a secret.
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, Sequence) else "an asset"
