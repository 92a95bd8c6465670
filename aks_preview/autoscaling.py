"""Leaves the number of nodes to the autoscaler, where one is at work."""

from collections.abc import Mapping
from typing import Any


def is_autoscaled(pool: Any) -> bool:
    return isinstance(pool, Mapping) and pool.get("enableAutoScaling") is True


def is_scaled_by_aks(inputs: Mapping[str, Any]) -> bool:
    """Whether a pool, or one of those in a cluster, is autoscaled."""
    return any(map(is_autoscaled, (inputs, *(inputs.get("agentPoolProfiles") or ()))))


def with_counts(inputs: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, with the node counts that the autoscaler has chosen: a PUT must not undo it."""
    result = dict(inputs)
    if is_autoscaled(inputs) and "count" in actual:
        result["count"] = actual["count"]
    if "agentPoolProfiles" in inputs:
        there = {pool["name"]: pool for pool in actual.get("agentPoolProfiles") or ()}
        result["agentPoolProfiles"] = [
            with_counts(pool, there.get(pool["name"], {})) for pool in inputs["agentPoolProfiles"]
        ]
    return result
