"""What objects say of themselves, whatever their kind."""

from collections.abc import Mapping
from typing import Any

from aks_catalogue.shapes import mapping, mappings, sequence


def conditions(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns the conditions in an object's status, by their types."""
    listed = sequence(mapping(obj.get("status")).get("conditions"))
    return {str(found["type"]): found for found in mappings(listed) if "type" in found}


def is_true(obj: Mapping[str, Any], condition: str) -> bool:
    """Returns whether an object has a condition, and says that it holds."""
    return conditions(obj).get(condition, {}).get("status") == "True"
