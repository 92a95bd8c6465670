"""What the engine records of an object: its inputs, and its outputs with what we add to them."""

import secrets
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.property_value import PropertyValue

from provider_kit.values import property_map
from rehearsal.stand_ins.kubernetes.differences import drifted, secret_drifted
from rehearsal.stand_ins.kubernetes.objects import Object, metadata, unwired

_MANAGER = "__fieldManager"
_API_VERSION = "__initialApiVersion"

# What the server alone writes.
_OF_SERVER = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion"}
    | {"deletionGracePeriodSeconds", "selfLink", "uid"}
)
_ANNOTATIONS_OF_SERVER = frozenset(
    {
        "deprecated.daemonset.template.generation",
        "deployment.kubernetes.io/revision",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)

_SECRET = frozenset({"data", "stringData"})


def recorded(values: Object) -> dict[str, PropertyValue]:
    """The engine's form of inputs or outputs; what a Secret holds is a secret, whoever says it."""
    properties = property_map(unwired(values))
    if values.get("kind") != "Secret":
        return properties
    return {
        name: value.with_secret(name in _SECRET and value.value is not None)
        for name, value in properties.items()
    }


def outputs(live: Object, manager: str) -> Object:
    return {**live, _MANAGER: manager, _API_VERSION: live["apiVersion"]}


def manager_of(state: Mapping[str, Any]) -> str:
    """In whose name fields are set: the same for as long as the resource lives."""
    return str(state.get(_MANAGER) or f"pulumi-kubernetes-{secrets.token_hex(4)}")


def imported(live: Object) -> Object:
    """The inputs of an object that nobody has said anything about yet: all that could be said."""
    own = {key: value for key, value in metadata(live).items() if key not in _OF_SERVER}
    annotations = {
        key: value
        for key, value in (own.pop("annotations", None) or {}).items()
        if key not in _ANNOTATIONS_OF_SERVER
    }
    own |= {"annotations": annotations} if annotations else {}
    said = {
        key: value for key, value in live.items() if key not in ("status", _MANAGER, _API_VERSION)
    }
    return {**said, "metadata": own}


def refreshed(inputs: Object, live: Object) -> Object:
    """The inputs, with the values that the cluster has for them now."""
    if not inputs:
        return imported(live)
    live = unwired(live)
    by_kind = secret_drifted if live.get("kind") == "Secret" else drifted
    result: Object = by_kind(inputs, live)
    return result
