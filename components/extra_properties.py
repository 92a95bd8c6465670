"""Properties that no argument has: which of them can be sent, and how they come into requests."""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pulumi

# The SDK has no public way to the properties of an argument's class.
from pulumi import _types as sdk
from pulumi_azure_native import containerservice as aks

from aks_catalogue.aks_versions import AZURE_NATIVE
from aks_catalogue.mistakes import KeyMistake, Mistake, is_within, property_path, shown
from components.declared import camel_case, declared, is_known, made, owned

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
# The property with dashes in the names of its fields, which azure-native writes without.
_DASHED = "autoScalerProfile"


def extra_mistakes(arguments: Any, given: Any, *, by_aks_preview: bool, path: str) -> list[Mistake]:
    """Returns what is wrong with the argument `extra` of a class of arguments.

    The names are those of azure-native's SDK. What aks-preview sends, of a newer version of the
    API, AKS judges.
    """
    if not isinstance(given, Mapping):
        return [Mistake(path, f"must be a map of properties, not {shown(given)}")]
    kind = None if by_aks_preview else _kind(arguments.resource)
    newer = f"use the names of Azure's API{_newer_names(arguments)}"
    return [*_mistakes(kind, given, sent_by(arguments), newer, "", path)]


def _newer_names(arguments: Any) -> str:
    """Says how to send properties of a newer version, where aks-preview can manage the resource."""
    key = "systemPool.customHeaders" if arguments.resource == "cluster" else "customHeaders"
    can_move = arguments.resource == "cluster" or "custom_headers" in declared(arguments)
    return f"; for newer ones, set {key}: {{}} of a new resource" if can_move else ""


def _kind(resource: str) -> Any:
    # The SDK loads a class where it is first used.
    return aks.ManagedClusterArgs if resource == "cluster" else aks.AgentPoolArgs


def _mistakes(
    kind: Any, given: Mapping[str, Any], sent: Mapping[str, str], newer: str, outer: str, path: str
) -> Iterator[Mistake]:
    """Yields what is wrong in a map: `outer` is its place in requests, `path` that in messages.

    `newer` is the hint for a name that nothing is near to.
    """
    known = _fields(kind, outer)
    for name, value in given.items():
        place, where = f"{outer}.{name}".lstrip("."), property_path(path, str(name))
        inside = [each for each in sent if is_within(each, place)]
        if place in sent:
            argument = sent[place]
            instead = f"is the argument {argument}: set that, and" if argument else "is fixed:"
            yield KeyMistake(where, f"{instead} remove it here")
        elif known is not None and name not in known:
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.8)
            hint = f"write {near[0]}" if near else newer
            yield KeyMistake(where, f"is not a property of Azure's API {AZURE_NATIVE}: {hint}")
        elif value is None:
            yield Mistake(where, "has no value: write one, or remove it")
        elif inside and not isinstance(value, Mapping):
            inner = f"arguments send {', '.join(inside)}"
            yield Mistake(
                where,
                f"must be a map: {inner}"
                if is_known(value)
                else f"is an output, and {inner}: write a map, whose values can be outputs",
            )
        elif isinstance(value, Mapping):
            yield from _mistakes((known or {}).get(name), value, sent, newer, place, where)


def _fields(kind: Any, place: str) -> Mapping[str, Any] | None:
    """Returns the class of each property of a class; None of anything else, such as a map."""
    if kind is None or not sdk.is_input_type(kind):
        return None
    fields: Mapping[str, Any] = sdk.input_type_types(kind)
    if place != _DASHED:
        return fields
    return {
        re.sub("[A-Z]", lambda big: f"-{big[0].lower()}", name): fields[name] for name in fields
    }


@cache
def settable(resource: str) -> frozenset[str]:
    """Returns the names of the properties that azure-native can send."""
    return frozenset(sdk.input_type_py_to_pulumi_names(_kind(resource)).values())


def leaves(values: Any, path: str = "") -> Iterator[str]:
    """Yields the paths of all values that are no maps."""
    if not isinstance(values, Mapping):
        yield path
        return
    for name, value in values.items():
        yield from leaves(value, f"{path}.{name}".lstrip("."))


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
