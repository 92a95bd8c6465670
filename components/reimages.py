"""Reports changes after which AKS reimages all nodes, also in previews."""

from collections.abc import Mapping
from typing import Any

import pulumi

from aks_catalogue.aks_properties import CLUSTER, POOL
from aks_catalogue.sizes import find


def warn_of_reimages(
    name: str, resource: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    """Warns if the change of a `cluster` or a `pool` reimages all its nodes."""
    if resource == "cluster":
        paths, what = CLUSTER.reimaging(old, new), "all pools of the cluster"
    elif _most(new) == 0:
        return
    else:
        paths, what = POOL.reimaging(old, new), f"the pool: {_nodes(new)}"
    if paths:
        pulumi.log.warn(
            f"{name}: the change of {', '.join(paths)} reimages all nodes of {what}. AKS drains "
            "each node first, and what is on its local disks is lost"
        )


def _nodes(pool: Mapping[str, Any]) -> str:
    """Returns the number of nodes and GPUs in words."""
    scaled, nodes = bool(pool.get("enableAutoScaling")), _most(pool)
    size = find(str(pool.get("vmSize")))
    gpus = (
        f", {nodes * size.gpus} GPU{'s' * (nodes * size.gpus != 1)}" if size and size.gpus else ""
    )
    return f"{'at most ' * scaled}{nodes} node{'s' * (nodes != 1)}{gpus}"


def _most(pool: Mapping[str, Any]) -> int:
    """Returns the largest number of nodes of a pool."""
    nodes = pool.get("maxCount" if pool.get("enableAutoScaling") else "count")
    return 1 if nodes is None else int(nodes)
