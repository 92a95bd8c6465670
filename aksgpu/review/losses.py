"""Which GPU pools a preview takes away: by themselves, or with the cluster they are in."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from aksgpu.review.model import CHANGE_WORDS, LostPool
from aksgpu.review.pools import GpuPool, gpu_pools, nodes_in_words
from aksgpu.review.seen import Step
from policies.pools import is_pool

Loss = Literal["replace", "delete"]
# What a pool is in, outermost first: the last part of the type, what it is in words, and the inputs
# that name it, which a pool has too.
_HOLDERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (":ResourceGroup", "resource group", ("resourceGroupName",)),
    (":ManagedCluster", "cluster", ("resourceGroupName", "resourceName")),
)


def lost_pools(steps: Collection[Step], allowed: Collection[str]) -> list[LostPool]:
    """The GPU pools that go; `allowed` has the names of those that may."""
    return [
        LostPool(
            kind=kind,
            pool=pool.name,
            resource=pool.resource,
            vm_size=f"{pool.vm_size}, {nodes_in_words(pool.nodes)}",
            why=why,
            allowed=pool.name in allowed or pool.resource.name in allowed,
        )
        for kind, pool, why in _losses(steps)
    ]


def _losses(steps: Collection[Step]) -> Iterator[tuple[Loss, GpuPool, str]]:
    holders = [step for step in steps if _goes(step)]
    for step in steps:
        # What is only forgotten, and what an earlier update has replaced, is not taken away now.
        if step.old is None or step.old.retain_on_delete or step.old.delete:
            continue
        pools = gpu_pools(step.resource, step.old)
        if kind := _goes(step):
            yield from ((kind, pool, _on_account_of(step)) for pool in pools)
        elif holder := _holder(step, holders):
            kind, why = holder
            yield from ((kind, pool, why) for pool in pools)
        elif step.kind == "update":
            yield from _inline_losses(step, pools)


def _goes(step: Step) -> Loss | None:
    return step.kind if step.kind in ("replace", "delete") else None


def _on_account_of(step: Step) -> str:
    what = "" if is_pool(step.resource.type) else f" with {step.resource.name}"
    if step.kind == "replace" and step.properties:
        return f"{what}, on account of {', '.join(step.properties)}"
    return what


def _holder(pool: Step, holders: Iterable[Step]) -> tuple[Loss, str] | None:
    """What becomes of a pool whose cluster or resource group goes."""
    inputs = _inputs(pool)
    for suffix, called, names in _HOLDERS:
        for holder in holders:
            kind, own = _goes(holder), _inputs(holder)
            same = all(name in own and own[name] == inputs.get(name) for name in names)
            if kind and same and holder.resource.type.endswith(suffix):
                return kind, f", since its {called} {holder.resource.name} is {CHANGE_WORDS[kind]}"
    return None


def _inline_losses(step: Step, pools: Iterable[GpuPool]) -> Iterator[tuple[Loss, GpuPool, str]]:
    """The pools that an update takes out of its cluster, or makes anew in another size."""
    after = {pool.name: pool for pool in gpu_pools(step.resource, step.new)}
    for pool in pools:
        if pool.name not in after:
            yield "delete", pool, f", since the cluster {step.resource.name} is without it"
        elif after[pool.name].vm_size != pool.vm_size:
            yield "replace", pool, ", on account of vmSize"


def _inputs(step: Step) -> Mapping[str, Any]:
    return (step.old and step.old.inputs) or {}
