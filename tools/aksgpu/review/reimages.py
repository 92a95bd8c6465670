"""Which pools keep their place, but have all nodes reimaged by a change."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue.aks_properties import CLUSTER, POOL, Properties
from aks_catalogue.shapes import at
from aks_pools.pools import is_cluster
from aksgpu.review.model import sum_of
from aksgpu.review.pools import GpuPool, all_pools, cluster_of, gpus_in_words
from aksgpu.review.preview_result import Step, inputs_of


def reimages(steps: Collection[Step]) -> list[str]:
    """A sentence about all pools whose nodes AKS reimages; none if there are no such pools."""
    # By what it belongs to and name, since a pool can have several sizes.
    pools: dict[tuple[str, str], list[GpuPool]] = {}
    reasons = set()
    for step in steps:
        for reason, reimaged in _of_update(step, steps) if step.kind == "update" else ():
            reasons.add(reason)
            for pool in reimaged:
                parts = pools.setdefault((pool.resource.urn, pool.name), [])
                parts += [] if pool in parts else [pool]
    if not pools:
        return []
    gpus = sum_of(pool.gpus for parts in pools.values() for pool in parts if pool.may_have_gpus)
    names = ", ".join(sorted(name for _, name in pools))
    return [
        f"This change reimages all nodes of {len(pools)} pool{'s' * (len(pools) != 1)}, "
        f"{gpus_in_words(gpus)}: {names}, because of {'; '.join(sorted(reasons))}. "
        "AKS drains each node first, and what is on its local disks is lost."
    ]


def _of_update(step: Step, steps: Collection[Step]) -> Iterator[tuple[str, list[GpuPool]]]:
    """The changes that reimage nodes, each with its pools."""
    if is_cluster(step.resource.type):
        paths = _certain(CLUSTER, inputs_of(step.old), inputs_of(step.new))
        if paths:
            reason = f"{', '.join(paths)} of the cluster {step.resource.name}"
            yield reason, [pool for each in steps for pool in _pools_in(step, each)]
    before = {pool.name: pool for pool in all_pools(step.resource, step.old)}
    for pool in all_pools(step.resource, step.new):
        old = before.get(pool.name)
        if old and (paths := _certain(POOL, old.properties, pool.properties)):
            yield f"{', '.join(paths)} of {pool.name}", [pool]


def _pools_in(cluster: Step, step: Step) -> list[GpuPool]:
    """The pools of a step that are in a cluster, and stay there."""
    theirs, own = (cluster_of(inputs_of(each.new)) for each in (step, cluster))
    is_in = step is cluster or (own is not None and own == theirs)
    if step.kind not in (None, "update") or not is_in:
        return []
    before = {pool.name for pool in all_pools(step.resource, step.old)}
    return [pool for pool in all_pools(step.resource, step.new) if pool.name in before]


def _certain(rows: Properties, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The paths whose change reimages nodes. A value that is not known yet may be the same."""
    paths = rows.reimaging(old, new)
    return [path for path in paths if UNKNOWN not in json.dumps([at(old, path), at(new, path)])]
