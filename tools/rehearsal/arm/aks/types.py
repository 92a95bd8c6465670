"""Reads request bodies by the types of AKS's API, and reduces answers to an API version."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aks_catalogue.aks_types import aks_types
from rehearsal.arm import bodies, errors
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.places import SHOWN_CLUSTER_TYPE
from rehearsal.arm.bodies import Misfit
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.request import Json

# The names that Go, in which AKS is written, has for the types of the API and of JSON values.
_KINDS = {"string": "string", "boolean": "bool", "integer": "int32", "number": "float32"}
_CONTAINERS = {"list": "[]", "map": "map[string]"}
_VALUES = {str: "string", bool: "bool", list: "array", dict: "object"}


# Properties in AKS's responses that its API types lack: clients send them back.
_IN_ANSWERS = {"ManagedClusterAADProfile": {"adminUsers": "list of string"}}
# Lists for which preview versions accept a single item.
_ONE_OF = {"list of AutoScaleProfile": "AutoScaleProfile"}


def read(kind: str, body: Json, api_version: str) -> Json:
    """Returns a body read by its type, without nulls; refuses a body that does not match it."""

    def unknown(name: str) -> bool:
        if fields.is_strict(api_version):
            raise errors.ArmError(errors.UNKNOWN_FIELD, field=name)
        return True

    def misfit(misfit: Misfit) -> Any:
        item_kind = _ONE_OF.get(misfit.kind)
        if item_kind and isinstance(misfit.value, dict) and api_version.endswith("-preview"):
            return reader.read(item_kind, misfit.value, misfit.path, misfit.owner)
        return _refuse(misfit)

    reader = bodies.Reader(_types(), misfit, unknown)
    read: Json = reader.read(kind, body)
    return read


def known_fields(kind: str, body: Json) -> Json:
    """Returns the part of a body that the type has, without fields of newer previews."""
    reader = bodies.Reader(_types(), lambda misfit: misfit.value, lambda _: False)
    known: Json = reader.read(kind, body)
    return known


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    return {name: {**members, **_IN_ANSWERS.get(name, {})} for name, members in aks_types().items()}


def _refuse(misfit: Misfit) -> str:
    # AKS reads `properties`; Resource Manager reads the rest.
    if misfit.path[0] != "properties":
        return bodies.of_resource_manager(misfit)
    path = ".".join(name for name in misfit.path if isinstance(name, str))
    value = _VALUES.get(type(misfit.value), "number")
    if value == "number" and misfit.kind in ("integer", "number"):
        value = f"number {misfit.value}"
    raise errors.ArmError(
        errors.WRONG_KIND, value=value, field=f"{misfit.owner}.{path}", kind=_in_go(misfit.kind)
    )


def _in_go(kind: str) -> str:
    container, _, inner = kind.partition(" of ")
    return _CONTAINERS[container] + _in_go(inner) if inner else _KINDS.get(kind, kind)


# By the `type` of a resource as in responses.
RESOURCES = {SHOWN_CLUSTER_TYPE: "cluster", POOL_TYPE: "pool"}
TYPES = {"cluster": "ManagedCluster", "pool": "AgentPool"}
POOLS = "agentPoolProfiles"


def in_version(body: Any, api_version: str) -> Any:
    """Returns a body, or a list of bodies, without the properties that an API version lacks."""
    if not isinstance(body, dict):
        return body
    if isinstance(body.get("value"), list):
        return body | {"value": [in_version(item, api_version) for item in body["value"]]}
    resource = RESOURCES.get(body.get("type", ""))
    if resource is None:
        return body
    if fields.is_strict(api_version):
        body = known_fields(TYPES[resource], body)
    hidden = fields.hidden(resource, api_version)
    shown = _without(body, "", hidden)
    if inline := shown["properties"].get(POOLS):
        hidden = fields.hidden("pool", api_version)
        shown["properties"][POOLS] = [_without(pool, "properties.", hidden) for pool in inline]
    return shown


def _without(value: Any, path: str, hidden: frozenset[str]) -> Any:
    match value:
        case dict():
            return {
                name: _without(member, f"{path}{name}.", hidden)
                for name, member in value.items()
                if f"{path}{name}" not in hidden
            }
        case list():
            return [_without(item, path, hidden) for item in value]
    return value
