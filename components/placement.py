"""Where pods land: tolerations out of taints, and selectors out of pools."""

from collections.abc import Iterable
from typing import Any

from catalogue.nodes import POOL_LABEL, TAINT

Toleration = dict[str, Any]


def tolerations(taints: Iterable[str]) -> list[Toleration]:
    """What a pod has to tolerate to land on nodes with these taints, each said once."""
    wanted: list[Toleration] = []
    for taint in taints:
        toleration = _toleration(taint)
        if toleration not in wanted:
            wanted.append(toleration)
    return wanted


def node_selector(pool_name: str) -> dict[str, str]:
    """What selects the nodes of one pool."""
    return {POOL_LABEL: pool_name}


def _toleration(taint: str) -> Toleration:
    match = TAINT.fullmatch(taint)
    if match is None:
        raise ValueError(f"{taint!r} is no taint")
    if not match["value"]:
        return {"key": match["key"], "operator": "Exists", "effect": match["effect"]}
    return {
        "key": match["key"],
        "operator": "Equal",
        "value": match["value"],
        "effect": match["effect"],
    }
