"""Reduces clusters and pools to the properties of an API version."""

from typing import Any

from rehearsal.arm.aks import clusters, fields, types
from rehearsal.arm.compute.usages import POOL_TYPE

# By the `type` of a resource as in responses.
RESOURCES = {clusters.SHOWN_TYPE: "cluster", POOL_TYPE: "pool"}
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
        body = types.known_fields(TYPES[resource], body)
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
