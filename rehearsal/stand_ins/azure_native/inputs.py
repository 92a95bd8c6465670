"""Azure's answers, as the inputs that would ask for them: what an import and a refresh find."""

from collections.abc import Mapping
from typing import Any

from provider_kit.shapes import ListOf, MapOf, ObjectOf, Shape
from rehearsal.stand_ins.azure_native.outputs import outputs
from rehearsal.stand_ins.azure_native.shapes import args_shape
from rehearsal.stand_ins.azure_native.types import ArmType


def imported(arm_type: ArmType, resource_id: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a resource that has none yet: all that Azure filled in, beside its names."""
    flat = outputs(arm_type, answer)
    # In the outputs ARM's own `type` hides the pool's, which stands under `properties`.
    inside = (answer.get("properties") or {}).items()
    flat |= {name: value for name, value in inside if name not in arm_type.dashed}
    found = {name: value for name, value in projection(arm_type, flat).items() if name != "id"}
    filled: dict[str, Any] = _without_empty(found)
    return filled | arm_type.path_values(resource_id)


def refreshed(
    arm_type: ArmType,
    inputs: Mapping[str, Any],
    old_state: Mapping[str, Any],
    new_state: Mapping[str, Any],
) -> dict[str, Any]:
    """The inputs, with whatever has changed in Azure since the state was written."""
    return _members(inputs, projection(arm_type, old_state), projection(arm_type, new_state))


def projection(arm_type: ArmType, state: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a state in the form of inputs, without what only Azure sets."""
    fields = args_shape(arm_type.args).fields
    return {
        name: _projected(shape, state[name])
        for name, shape in fields.items()
        if name in state and name not in arm_type.path_properties
    }


def _projected(shape: Shape, value: Any) -> Any:
    match shape:
        case ObjectOf(fields=fields) if isinstance(value, Mapping):
            return {name: _projected(fields[name], value[name]) for name in fields if name in value}
        case MapOf(member) if isinstance(value, Mapping):
            return {key: _projected(member, inner) for key, inner in value.items()}
        case ListOf() if isinstance(value, Mapping):
            # Ids, which a program lists and Azure says more of.
            return sorted(value)
        case ListOf(item) if isinstance(value, list):
            return [_projected(item, inner) for inner in value]
        case _:
            return value


def _members(
    base: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """`base`, changed as `old` has changed to `new`."""
    changed = {name: value for name, value in base.items() if name in new or name not in old}
    for name, value in new.items():
        if name not in old:
            changed[name] = value
        elif old[name] != value:
            changed[name] = _value(base[name], old[name], value) if name in base else value
    return changed


def _value(base: Any, old: Any, new: Any) -> Any:
    values = (base, old, new)
    if all(isinstance(value, Mapping) for value in values):
        return _members(base, old, new)
    if all(isinstance(value, list) for value in values):
        # By place: an item that was not there before pushes the others on.
        known = min(len(base), len(old))
        return [_value(*found) for found in zip(base, old, new, strict=False)] + new[known:]
    return new


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = {name: _without_empty(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in ({}, [], None)}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value
