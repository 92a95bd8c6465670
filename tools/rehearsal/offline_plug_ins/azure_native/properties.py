"""Converts between azure-native's properties and ARM's requests and responses."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from provider_kit.arm import Method
from provider_kit.values import UNKNOWN
from rehearsal.offline_plug_ins.azure_native.native_types import API_VERSION, NativeType
from rehearsal.offline_plug_ins.azure_native.shapes import ListOf, MapOf, ObjectOf, Shape

Fields = Mapping[str, Shape]
Values = Mapping[str, Any]

# The outputs that azure-native's preview of an update knows.
_STABLE = ("location", "name")
_CAPITAL, _DASH = re.compile(r"[A-Z]"), re.compile(r"-(\w)")


def request(
    native_type: NativeType, inputs: Values, before: Values
) -> tuple[Method, dict[str, Any]]:
    """Returns the request that updates a resource from the inputs `before` to these inputs.

    It leaves out what the SDK does not have.
    """
    names = {name: inputs[name] for name in native_type.path_names if name in inputs}
    inputs = _sdk_fields(native_type.inputs, inputs) | names
    dashed = {
        name: {_dashed(key): value for key, value in inputs[name].items()}
        for name in native_type.dashed.intersection(inputs)
    }
    body = native_type.body({**inputs, **dashed})
    has_removals = False
    for owner, name in native_type.id_lists:
        ids, old = ((values.get(owner) or {}).get(name) for values in (inputs, before))
        removed = set(old or ()).difference(ids) if ids is not None else ()
        if removed:
            has_removals = True
            body[owner][name] |= dict.fromkeys(sorted(removed))
    # azure-native sends a null for an item that is removed from a set, which requires a PATCH.
    return "PATCH" if has_removals else "PUT", body


def outputs(native_type: NativeType, answer: Values) -> dict[str, Any]:
    """Returns the outputs: the part of ARM's response that the SDK has, on one level."""
    whole = native_type.flattened(answer)
    for name in native_type.dashed.intersection(whole):
        whole[name] = {_camel_case(key): value for key, value in whole[name].items()}
    own = {"id": answer["id"]} if "id" in answer else {}
    return _sdk_fields(native_type.outputs, whole) | own | {API_VERSION: native_type.api_version}


def preview(native_type: NativeType, inputs: Values, state: Values) -> dict[str, Any]:
    """Returns the outputs that a preview knows: little more than the inputs."""
    stable = {name: state[name] for name in _STABLE if name in state}
    return _expected(native_type.outputs, inputs) | stable


def imported(native_type: NativeType, resource_id: str, answer: Values) -> dict[str, Any]:
    """Returns the inputs of an imported resource: its names, and everything in ARM's response."""
    state = outputs(native_type, answer)
    # In the outputs, ARM's `type` hides the pool's `type` from `properties`.
    inside = (answer.get("properties") or {}).items()
    state |= {name: value for name, value in inside if name not in native_type.dashed}
    present = {
        name: value for name, value in projection(native_type, state).items() if name != "id"
    }
    filled: dict[str, Any] = _without_empty(present)
    return filled | native_type.names_in(resource_id)


def refreshed(
    native_type: NativeType, inputs: Values, old_state: Values, new_state: Values
) -> dict[str, Any]:
    """Returns the inputs, with everything that changed in Azure since the state was written."""
    # What other resources of the program have put into its lists is not the program's here.
    others = native_type.standalone.difference(inputs)
    old, new = (
        {
            name: value
            for name, value in projection(native_type, state).items()
            if name not in others
        }
        for state in (old_state, new_state)
    )
    return _members(inputs, old, new)


def projection(native_type: NativeType, state: Values) -> dict[str, Any]:
    """Returns a state's outputs in the form of inputs, without read-only properties."""
    fields = native_type.inputs.items()
    return _projected(
        {name: shape for name, shape in fields if name not in native_type.path_names}, state
    )


def _through(shape: Shape, value: Any, members: Callable[[Fields, Values], Any]) -> Any:
    """Returns a value with a function applied to the members of each object in it."""
    match shape:
        case ObjectOf(fields=fields) if isinstance(value, Mapping):
            return members(fields, value)
        case MapOf(member) if isinstance(value, Mapping):
            return {key: _through(member, inner, members) for key, inner in value.items()}
        case ListOf(item) if isinstance(value, list):
            return [_through(item, inner, members) for inner in value]
        case _:
            return value


def _sdk_fields(fields: Fields, values: Values) -> dict[str, Any]:
    return {
        name: _through(fields[name], value, _sdk_fields)
        for name, value in values.items()
        if name in fields and value is not None
    }


def _expected(fields: Fields, inputs: Values) -> dict[str, Any]:
    def expected(shape: Shape, value: Any) -> Any:
        # Azure's response to a list of ids has more than the ids.
        are_ids = isinstance(shape, MapOf) and isinstance(value, list)
        return UNKNOWN if value is None or are_ids else _through(shape, value, _expected)

    return {name: expected(shape, inputs.get(name)) for name, shape in fields.items()}


def _projected(fields: Fields, values: Values) -> dict[str, Any]:
    def projected(shape: Shape, value: Any) -> Any:
        # Ids: a list in the program, and objects in Azure's response.
        are_ids = isinstance(shape, ListOf) and isinstance(value, Mapping)
        return sorted(value) if are_ids else _through(shape, value, _projected)

    return {name: projected(fields[name], values[name]) for name in fields if name in values}


def _members(
    base: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns `base` with the changes from `old` to `new`."""
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
        # By position: a new item shifts the following ones.
        known = min(len(base), len(old))
        return [_value(*items) for items in zip(base, old, new, strict=False)] + new[known:]
    return new


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = {name: _without_empty(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in ({}, [], None)}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def _dashed(name: str) -> str:
    return _CAPITAL.sub(lambda match: f"-{match[0].lower()}", name)


def _camel_case(dashed: str) -> str:
    return _DASH.sub(lambda match: match[1].upper(), dashed)
