"""Compares old and new inputs of a node pool or a cluster."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from aks_catalogue.shapes import at
from aks_preview.aks_types import HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.equivalence import settled, supplemented
from provider_kit.diff import diff

# What removing a property means: the default of new pools, although AKS keeps the value.
_DEFAULTS: Mapping[str, str] = MappingProxyType({"gpuProfile.nvidia.managementMode": "Unmanaged"})


def aks_diff(
    aks_type: AksType,
    old_inputs: Mapping[str, Any],
    old_state: Mapping[str, Any],
    new_inputs: Mapping[str, Any],
) -> DiffResponse:
    """Returns the changes, and whether they replace the resource.

    Another order, and values that equal Azure's defaults, are no change.
    """
    new_inputs = _with_defaults(old_inputs, new_inputs)
    actual = aks_type.inputs_of(old_state)
    old = supplemented(aks_type.inputs, old_inputs, actual, new_inputs)
    if HEADERS not in old_state and HEADERS not in old and HEADERS in new_inputs:
        # After an import, the headers of the creation are unknown, so the program's are assumed.
        old = {**old, HEADERS: new_inputs[HEADERS]}
    new = settled(aks_type.inputs, old, new_inputs)
    old, new = (
        _with_missing_objects(aks_type, old, new),
        _with_missing_objects(aks_type, new, old),
    )
    return diff(
        old,
        new,
        replaces=[
            *aks_type.path_names,
            *aks_type.known.replacing(aks_type.known.given_in(new_inputs)),
            *([HEADERS] if new.get(REPLACE_ON_HEADERS) is True else []),
        ],
        # It only controls how other changes are made.
        ignored=[REPLACE_ON_HEADERS],
    )


def _with_defaults(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the new inputs, with the defaults of removed properties that AKS would keep."""
    for path, default in _DEFAULTS.items():
        if at(old, path) is not None and at(new, path) is None:
            new = _with(new, path, default)
    return new


def _with(values: Mapping[str, Any], path: str, value: Any) -> Mapping[str, Any]:
    name, _, rest = path.partition(".")
    inner = values.get(name)
    if rest and not isinstance(inner, Mapping | None):
        # The value is unknown.
        return values
    return {**values, name: _with(inner or {}, rest, value) if rest else value}


def _with_missing_objects(
    aks_type: AksType, inputs: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """Adds an empty object for each object that only `others` has, if part of it may replace.

    Then the members of the object are compared one by one.
    """
    in_part = {path.partition(".")[0] for path in aks_type.replaces if "." in path} | {HEADERS}
    missing: dict[str, Any] = {
        name: {} for name in in_part if name not in inputs and name in others
    }
    return {**inputs, **missing}
