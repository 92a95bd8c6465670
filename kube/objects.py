"""What objects say of themselves, whatever their kind."""

from collections.abc import Mapping
from typing import Any


def conditions(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns the conditions in an object's status, by their types."""
    listed = (obj.get("status") or {}).get("conditions") or ()
    return {found["type"]: found for found in listed}


def is_true(obj: Mapping[str, Any], condition: str) -> bool:
    """Returns whether an object has a condition, and says that it holds."""
    return conditions(obj).get(condition, {}).get("status") == "True"
