"""Which GPU pools are lost: deleted or replaced, alone or with their cluster.

An update also loses a pool if it changes the VM size, or no longer names an inline pool.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from aks_catalogue import rotation
from aks_catalogue.regions import plain
from aks_pools.pools import is_cluster, is_pool
from aksgpu.allowances import Allowance
from aksgpu.review.model import LOSSES, LossKind, LostPool
from aksgpu.review.pools import (
    NOT_KNOWN_YET,
    GpuPool,
    all_pools,
    cluster_of,
    gpu_pools,
    gpus_in_words,
    nodes_in_words,
)
from aksgpu.review.preview_result import Step, inputs_of

_GROUP = ":ResourceGroup"
_POOL_NAME = "agentPoolName"
# It always has exactly one inline pool.
_CLASSIC_CLUSTER = ":KubernetesCluster"


def lost_pools(
    stack: str, steps: Collection[Step], allowed: Collection[Allowance]
) -> list[LostPool]:
    """The GPU pools that a stack loses. An allowance can use the pool's or the resource's name."""
    return [_lost(kind, pool, why, stack, allowed) for kind, pool, why in _losses(steps)]


def other_losses(steps: Iterable[Step]) -> list[str]:
    """A sentence for each pool without GPUs that is deleted or replaced: it fails no review."""
    return sorted(
        f"The node pool {pool.name} ({pool.vm_size}, {nodes_in_words(pool.nodes)}) is "
        f"{LOSSES[kind][0]}{_reason(step)}: Azure deletes its nodes with everything that runs on "
        "them. It has no GPUs, so it needs no --allow."
        for step in steps
        if is_pool(step.resource.type) and (kind := _removal(step))
        for pool in all_pools(step.resource, step.old)
        if not pool.may_have_gpus
    )


def _lost(
    kind: LossKind, pool: GpuPool, why: str, stack: str, allowed: Collection[Allowance]
) -> LostPool:
    needed = "replace" if kind == "rotate" else kind
    allowances = [Allowance(needed, stack, name) for name in (pool.name, pool.resource.name)]
    given = next((each for each in allowances if each in allowed), None)
    return LostPool(
        kind=kind,
        pool=pool.name,
        resource=pool.resource,
        vm_size=f"{pool.vm_size}, {nodes_in_words(pool.nodes)}",
        why=why,
        allowance=str(given or allowances[0]),
        allowed=given is not None or kind == "rotate",
    )


def _losses(steps: Collection[Step]) -> Iterator[tuple[LossKind, GpuPool, str]]:
    parents = [step for step in steps if _removal(step) and step.old]
    for step in steps:
        # Not deleted now: retained resources, and those that an earlier update already replaced.
        if step.old is None or step.old.retain_on_delete:
            continue
        if step.old.delete and step.kind != "replace":
            continue
        pools = gpu_pools(step.resource, step.old)
        if rotates(step) and not _loss_with_parent(step, parents):
            yield from (("rotate", pool, f"{_reason(step)}{_extra_nodes(step)}") for pool in pools)
        elif kind := _removal(step):
            yield from ((kind, pool, _reason(step)) for pool in pools)
        elif loss := _loss_with_parent(step, parents):
            kind, why = loss
            yield from ((kind, pool, why) for pool in pools)
        elif step.kind == "update":
            yield from _losses_of_update(step, pools)


def _removal(step: Step) -> LossKind | None:
    return step.kind if step.kind in ("replace", "delete") else None


def rotates(step: Step) -> bool:
    """Whether a pool is created under another name before this one is deleted."""
    old, new = inputs_of(step.old), inputs_of(step.new)
    labels = new.get("nodeLabels")
    return (
        step.kind == "replace"
        and isinstance(labels, Mapping)
        and rotation.LABEL in labels
        and old.get(_POOL_NAME) != new.get(_POOL_NAME)
    )


def _extra_nodes(step: Step) -> str:
    """What the new pool takes beside the old one."""
    return "".join(
        f"; meanwhile the stack has {pool.vm_size}, {nodes_in_words(pool.nodes)}"
        f"{f' with {gpus_in_words(pool.gpus)}' if pool.gpus else ''}, more"
        for pool in gpu_pools(step.resource, step.new)
    )


def _reason(step: Step) -> str:
    what = "" if is_pool(step.resource.type) else f" with {step.resource.name}"
    if step.kind == "replace" and step.properties:
        return f"{what}, because of {', '.join(step.properties)}"
    return what


def _loss_with_parent(pool: Step, parents: Iterable[Step]) -> tuple[LossKind, str] | None:
    """What happens to a pool whose cluster or resource group is deleted or replaced."""
    for parent in parents:
        kind, noun = _removal(parent), ""
        if is_cluster(parent.resource.type):
            cluster = cluster_of(inputs_of(parent.old))
            noun = "cluster" if cluster and cluster == cluster_of(inputs_of(pool.old)) else ""
        elif parent.resource.type.endswith(_GROUP) and _group(parent) == _group(pool):
            noun = "resource group"
        if kind and noun:
            return kind, f", since its {noun} {parent.resource.name} is {LOSSES[kind][0]}"
    return None


def _group(step: Step) -> str:
    """The resource group that is meant; Azure ignores the case of names."""
    return plain(str(inputs_of(step.old).get("resourceGroupName", step.resource.urn)))


def _losses_of_update(
    step: Step, pools: Iterable[GpuPool]
) -> Iterator[tuple[LossKind, GpuPool, str]]:
    """The pools whose nodes of a size, or whose entry in the cluster, an update removes."""
    # A pool that is a resource stays the same, even if its name is not known.
    is_resource = is_pool(step.resource.type)
    sizes: dict[str, set[str]] = {}
    for pool in all_pools(step.resource, step.new):
        sizes.setdefault("" if is_resource else pool.name, set()).add(pool.vm_size)
    cluster = step.resource.name
    for pool in pools:
        remaining = sizes.get("" if is_resource else pool.name, set())
        if pool.vm_size in remaining:
            continue
        known = remaining or {size for each in sizes.values() for size in each}
        limit = ", as far as is known before the update" if NOT_KNOWN_YET in known else ""
        if remaining or is_resource:
            yield "resize", pool, f", since it has no nodes of this size any more{limit}"
        elif step.resource.type.endswith(_CLASSIC_CLUSTER):
            yield "replace", pool, f", since the cluster {cluster} names another pool instead"
        else:
            yield "forget", pool, f", since the cluster {cluster} no longer names it{limit}"
