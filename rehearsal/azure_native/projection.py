"""Finds drift: a resource's inputs, with the values that Azure has for them now."""

from collections.abc import Mapping
from typing import Any


def project(inputs: Any, actual: Any) -> Any:
    """The actual values of what the inputs say; what they leave out is the server's affair."""
    if isinstance(inputs, Mapping) and isinstance(actual, Mapping):
        return {key: project(inputs[key], actual[key]) for key in inputs if key in actual}
    if _named(inputs) and _named(actual):
        by_name = {item["name"]: item for item in actual}
        return [project(item, by_name[item["name"]]) for item in inputs if item["name"] in by_name]
    return actual


def _named(items: Any) -> bool:
    """Whether this is a list of things with names, as a cluster's pools."""
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and "name" in item for item in items
    )
