"""What a change of the inputs of a pool or a cluster does to it."""

from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from aks_preview.aks_types import HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.sameness import settled, supplemented
from catalogue import fixed
from catalogue.shapes import at
from provider_kit.diff import diff

# What older states have in their inputs: it named headers whose change replaced nothing.
_OF_OLDER_STATES = "updatableHeaders"


def aks_diff(
    aks_type: AksType,
    old_inputs: Mapping[str, Any],
    old_state: Mapping[str, Any],
    new_inputs: Mapping[str, Any],
) -> DiffResponse:
    """Returns what changes, and whether in place; order and Azure's own defaults are no change."""
    actual = aks_type.inputs_of(old_state)
    old = supplemented(aks_type.inputs, old_inputs, actual, new_inputs)
    if HEADERS not in old_state and HEADERS not in old and HEADERS in new_inputs:
        # Imported: nobody can say which headers made it, so the program is taken at its word.
        old = {**old, HEADERS: new_inputs[HEADERS]}
    new = settled(aks_type.inputs, old, new_inputs)
    said = [path for path in aks_type.replaces if at(new_inputs, path) is not None]
    old, new = (
        _with_missing_objects(aks_type, old, new),
        _with_missing_objects(aks_type, new, old),
    )
    return diff(
        old,
        new,
        replaces=[
            *fixed.replacing(aks_type.replaces, said),
            *([HEADERS] if new.get(REPLACE_ON_HEADERS) is True else []),
        ],
        # They say how other changes are made, and are none themselves.
        ignored=[REPLACE_ON_HEADERS, _OF_OLDER_STATES],
    )


def _with_missing_objects(
    aks_type: AksType, these: Mapping[str, Any], those: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns these, with an empty object for one of those that may replace in part.

    So the members of a new object are compared one by one.
    """
    in_part = {path.partition(".")[0] for path in aks_type.replaces if "." in path} | {HEADERS}
    one_sided: dict[str, Any] = {
        name: {} for name in in_part if name not in these and name in those
    }
    return {**these, **one_sided}
