"""The engine's record of an object: its inputs, and its outputs with two additional fields."""

import secrets
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.property_value import PropertyValue

from provider_kit.values import property_map, with_secrets
from rehearsal.offline_plug_ins.kubernetes.differences import drifted, secret_drifted
from rehearsal.offline_plug_ins.kubernetes.objects import Object, metadata, unwired

_MANAGER = "__fieldManager"
_API_VERSION = "__initialApiVersion"

# Fields that only the server writes.
_OF_SERVER = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion"}
    | {"deletionGracePeriodSeconds", "selfLink", "uid"}
)
_SECRET = frozenset({"data", "stringData"})


def recorded(values: Object) -> dict[str, PropertyValue]:
    """Returns inputs or outputs in the engine's form; a Secret's content becomes secret."""
    properties = property_map(unwired(values))
    return with_secrets(properties, _SECRET) if values.get("kind") == "Secret" else properties


def outputs(live: Object, manager: str) -> Object:
    return {**live, _MANAGER: manager, _API_VERSION: live["apiVersion"]}


def manager_of(state: Mapping[str, Any]) -> str:
    """Returns the resource's field manager, which never changes."""
    return str(state.get(_MANAGER) or f"pulumi-kubernetes-{secrets.token_hex(4)}")


def imported(live: Object) -> Object:
    """Returns the inputs of an imported object: every field that inputs can have."""
    own = {key: value for key, value in metadata(live).items() if key not in _OF_SERVER}
    ours = ("status", _MANAGER, _API_VERSION)
    return {key: value for key, value in live.items() if key not in ours} | {"metadata": own}


def refreshed(inputs: Object, live: Object) -> Object:
    """Returns the inputs with the cluster's present values."""
    if not inputs:
        return imported(live)
    is_secret = live.get("kind") == "Secret"
    result: Object = (secret_drifted if is_secret else drifted)(inputs, unwired(live))
    return result
