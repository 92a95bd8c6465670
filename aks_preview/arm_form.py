"""Between the flat properties of our resources and ARM's nested ones."""

from collections.abc import Mapping
from typing import Any

from aks_preview.aks_type import HEADERS, UPDATABLE_HEADERS, AksType

# What Azure never sees as a property, nor gives back.
OF_NO_BODY = frozenset({HEADERS, UPDATABLE_HEADERS})
# ARM's own `type` takes the name in the outputs; azure-native calls the other one so.
_RENAMED = {"type": "typePropertiesType"}
_OF_NO_OUTPUT = frozenset({"properties", "systemData"})


def body(aks_type: AksType, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the PUT that makes a resource as the inputs say."""
    aside = OF_NO_BODY.union(aks_type.path_names)
    said = {name: value for name, value in inputs.items() if name not in aside}
    outside = {name: value for name, value in said.items() if name in aks_type.envelope}
    inside = {name: value for name, value in said.items() if name not in aks_type.envelope}
    if "identity" in outside:
        outside["identity"] = _identity_for_arm(outside["identity"])
    return outside | {"properties": inside}


def outputs(aks_type: AksType, answer: Mapping[str, Any], api_version: str) -> dict[str, Any]:
    """What a state has of ARM's answer, beside what only the inputs know."""
    inside = {_RENAMED.get(name, name): value for name, value in _properties(answer).items()}
    outside = {name: value for name, value in answer.items() if name not in _OF_NO_OUTPUT}
    if "identity" in outside:
        outside["identity"] = _identity_from_arm(outside["identity"])
    return {
        **inside,
        **outside,
        **aks_type.names_in(answer["id"]),
        "azureApiVersion": api_version,
    }


def inputs(aks_type: AksType, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs that would make a resource as a state has it."""
    said = {name: _RENAMED.get(name, name) for name in aks_type.inputs.fields}
    return {
        name: outputs[output]
        for name, output in said.items()
        if output in outputs and name not in OF_NO_BODY
    }


def unseen(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What Azure never gives back: only the inputs know it, and the state from then on.

    A state without it is that of an imported resource, of whose headers nobody knows.
    """
    return {HEADERS: {}} | {name: inputs[name] for name in OF_NO_BODY if name in inputs}


def _properties(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = answer.get("properties") or {}
    return properties


def _identity_for_arm(identity: Mapping[str, Any]) -> dict[str, Any]:
    if "userAssignedIdentities" not in identity:
        return dict(identity)
    ids = identity["userAssignedIdentities"]
    return {**identity, "userAssignedIdentities": {name: {} for name in ids}}


def _identity_from_arm(identity: Mapping[str, Any]) -> dict[str, Any]:
    if "userAssignedIdentities" not in identity:
        return dict(identity)
    return {**identity, "userAssignedIdentities": list(identity["userAssignedIdentities"])}
