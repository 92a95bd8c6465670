"""What azure-native's state has of ARM's answers: all on one level, and what its SDK knows."""

import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi import _types as sdk_types

from provider_kit.values import UNKNOWN
from rehearsal.stand_ins.azure_native.types import ArmType

Hints = Mapping[str, Any]

# What no update changes, as far as a preview of azure-native goes.
_STABLE = ("location", "name")
_DASH = re.compile(r"-(\w)")


def outputs(arm_type: ArmType, answer: Mapping[str, Any]) -> dict[str, Any]:
    hints = _hints(arm_type)
    flat = dict(answer)
    if "properties" not in hints:
        flat = (flat.pop("properties", None) or {}) | flat
    for name in arm_type.dashed.intersection(flat):
        flat[name] = {_camel_case(key): value for key, value in flat[name].items()}
    own = {"id": answer["id"]} if "id" in answer else {}
    return _known_members(hints, flat) | own | {"azureApiVersion": arm_type.api_version}


def preview(
    arm_type: ArmType, inputs: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    """What is known of the outputs before Azure has answered: little beside the inputs."""
    stable = {name: state[name] for name in _STABLE if name in state}
    return _expected_members(_hints(arm_type), inputs) | stable


def _hints(arm_type: ArmType) -> Hints:
    hints: Hints = sdk_types.resource_types(arm_type.resource)
    return hints


def _known_members(hints: Hints, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _known(hints[name], value)
        for name, value in values.items()
        if name in hints and value is not None
    }


def _known(hint: Any, value: Any) -> Any:
    kind, inner = _container(hint)
    if sdk_types.is_output_type(hint) and isinstance(value, Mapping):
        return _known_members(sdk_types.output_type_types(hint), value)
    if kind is Sequence and isinstance(value, list):
        return [_known(inner, item) for item in value]
    if kind is Mapping and isinstance(value, Mapping):
        return {key: _known(inner, member) for key, member in value.items()}
    return value


def _expected_members(hints: Hints, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: UNKNOWN if inputs.get(name) is None else _expected(hint, inputs[name])
        for name, hint in hints.items()
    }


def _expected(hint: Any, value: Any) -> Any:
    kind, inner = _container(hint)
    if sdk_types.is_output_type(hint) and isinstance(value, Mapping):
        return _expected_members(sdk_types.output_type_types(hint), value)
    if kind is Sequence and isinstance(value, list):
        return [_expected(inner, item) for item in value]
    if kind is Mapping and isinstance(value, Mapping):
        return {key: _expected(inner, member) for key, member in value.items()}
    if kind is Mapping and isinstance(value, list):
        # Ids that Azure will give more than their names.
        return UNKNOWN
    return value


def _container(hint: Any) -> tuple[Any, Any]:
    """A list or a map, and what it holds."""
    arguments = typing.get_args(hint)
    return typing.get_origin(hint), arguments[-1] if arguments else None


def _camel_case(dashed: str) -> str:
    return _DASH.sub(lambda match: match[1].upper(), dashed)
