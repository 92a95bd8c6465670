"""Properties that no argument has: which of them can be sent, and how they come into requests."""

from collections.abc import Mapping
from typing import Any

import pulumi

from aks_catalogue import aks_types, aks_versions, extra
from aks_catalogue.mistakes import Mistake
from components.declared import camel_case, is_known, made, owned

# What components send whatever their arguments are, with the argument that decides it.
_ALWAYS: Mapping[str, Mapping[str, str]] = {
    "cluster": {"aadProfile.managed": "entra", "enableRBAC": "", "sku.name": ""},
    "pool": {
        "enableAutoScaling": "maxCount",
        "mode": "",
        "osType": "",
        "type": "",
        "vnetSubnetID": "network.subnetId",
    },
}
# The property with dashes in the names of its fields.
_DASHED = "autoScalerProfile"


def extra_mistakes(arguments: Any, given: Any, *, by_aks_preview: bool, path: str) -> list[Mistake]:
    """Returns what is wrong with the argument `extra` of a class of arguments."""
    version = aks_types.API_VERSION if by_aks_preview else aks_versions.AZURE_NATIVE
    own = sent_by(arguments)
    return extra.mistakes(arguments.resource, _plain(given), own, version, path)


def sent_by(arguments: Any) -> Mapping[str, str]:
    """Returns the paths that a component sends, each with its argument, if it has one."""
    return {**_ALWAYS[arguments.resource], **owned(arguments)}


def with_extra(body: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request with more properties; each of both can be an output, at any depth."""
    merged: dict[str, Any] = _merged(body, given)
    return merged


def for_azure_native(cluster: dict[str, Any]) -> dict[str, Any]:
    """Returns a cluster by azure-native's names: those of the API, but for names with dashes."""
    if _DASHED not in cluster:
        return cluster
    return cluster | {_DASHED: made(_camel_case, cluster[_DASHED])}


def _camel_case(profile: Mapping[str, Any]) -> dict[str, Any]:
    return {camel_case(name.replace("-", "_")): value for name, value in profile.items()}


def _merged(value: Any, more: Any) -> Any:
    if isinstance(value, pulumi.Output):
        return pulumi.Output.all(value, more).apply(lambda both: _merged(*both))
    if not isinstance(value, Mapping) or not isinstance(more, Mapping):
        return more
    return {**value, **{name: _merged(value.get(name), given) for name, given in more.items()}}


def _plain(values: Any) -> Any:
    """Returns values with a mark in place of outputs, which are not known yet."""
    match values:
        case Mapping():
            return {name: _plain(value) for name, value in values.items()}
        case list() | tuple():
            return [_plain(value) for value in values]
    return values if is_known(values) else extra.UNKNOWN
