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


class NotKnownError(Exception):
    """What a mapping raises when a value is read that is not known before the update."""


class OddValueError(ValueError):
    """A value that cannot be what its property is, without the value, which can be a secret."""


def text(value: Any, place: str) -> str:
    """Returns a string; empty if it is not set."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    if value is not None:
        raise OddValueError(f"{place} is not a string")
    return ""


def number(value: Any, place: str) -> int | None:
    """Returns a whole number; None if it is not set."""
    if value in (None, ""):
        return None
    is_scalar = isinstance(value, str | int | float)
    if not is_scalar or not _NUMBER.fullmatch(written := text(value, place)):
        raise OddValueError(f"{place} is not a number")
    return int(float(written))


def flag(value: Any, place: str) -> bool:
    """Returns true or false; false if it is not set."""
    written = str(value).lower() if isinstance(value, str | bool) else value
    if written not in ("true", "false", "", None):
        raise OddValueError(f"{place} is neither true nor false")
    return bool(written == "true")


def part(value: Any, place: str) -> Mapping[str, Any]:
    """Returns an object; empty if it is not set."""
    if value is not None and not isinstance(value, Mapping):
        raise OddValueError(f"{place} is not an object")
    return value or {}


def texts(value: Any, place: str) -> list[str]:
    """Returns a list of strings; empty if it is not set."""
    if value is not None and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise OddValueError(f"{place} is not a list")
    return [text(item, f"{place}[{index}]") for index, item in enumerate(value or ())]


def listed(value: Any) -> Sequence[Any]:
    """Returns a list as it is, a single value as a list of one, and no value as an empty list."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    return [value] if value else []
