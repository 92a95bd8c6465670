"""What a change of the inputs of a pool or a cluster does to it."""

from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from aks_preview import arm_form
from aks_preview.aks_type import HEADERS, UPDATABLE_HEADERS, AksType
from aks_preview.sameness import settled, supplemented
from catalogue.mistakes import property_path
from provider_kit.diff import diff


def aks_diff(
    aks_type: AksType,
    old_inputs: Mapping[str, Any],
    old_state: Mapping[str, Any],
    new_inputs: Mapping[str, Any],
) -> DiffResponse:
    """What changes, and whether in place; neither order nor Azure's own defaults are changes."""
    actual = arm_form.inputs(aks_type, old_state)
    old = supplemented(aks_type.inputs, old_inputs, actual, new_inputs)
    if HEADERS not in old_state and HEADERS not in old and HEADERS in new_inputs:
        # Imported: nobody can say which headers made it, so the program is taken at its word.
        old = {**old, HEADERS: new_inputs[HEADERS]}
    new = settled(aks_type.inputs, old, new_inputs, aks_type.unordered)
    old, new = _in_pairs(aks_type, old, new), _in_pairs(aks_type, new, old)
    return diff(
        old,
        new,
        replaces=_replaces(aks_type, old, new),
        # It says how other changes are made, and is none itself.
        ignored=[UPDATABLE_HEADERS],
    )


def _in_pairs(
    aks_type: AksType, these: Mapping[str, Any], those: Mapping[str, Any]
) -> dict[str, Any]:
    """The same, with an empty object where only the other side has one that may replace in part.

    So what is new in it is told apart, member by member.
    """
    in_part = {path.partition(".")[0] for path in aks_type.replaces if "." in path} | {HEADERS}
    one_sided: dict[str, Any] = {
        name: {} for name in in_part if name not in these and name in those
    }
    return {**these, **one_sided}


def _replaces(aks_type: AksType, old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    """The paths whose changes replace; a header that may be updated is not among them."""
    updatable = {str(name).lower() for name in new.get(UPDATABLE_HEADERS) or ()}
    headers = {*_names(old.get(HEADERS)), *_names(new.get(HEADERS))}
    fixed = {property_path(HEADERS, name) for name in headers if name.lower() not in updatable}
    if not (_is_map(old.get(HEADERS, {})) and _is_map(new.get(HEADERS, {}))):
        fixed.add(HEADERS)  # not known yet, as a whole
    return {path for path in aks_type.replaces if path != HEADERS} | fixed


def _names(headers: Any) -> list[str]:
    return list(headers) if _is_map(headers) else []


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)
