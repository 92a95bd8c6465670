"""Which GPU pools a preview takes away: by themselves, or with the cluster they are in.

So do updates that give a pool's machines another size, or that no longer name an inline pool.
"""

from collections.abc import Collection, Iterable, Iterator

from aksgpu.allowances import Allowance
from aksgpu.review.model import LOSSES, LossKind, LostPool
from aksgpu.review.pools import NOT_KNOWN_YET, GpuPool, all_pools, gpu_pools, nodes_in_words
from aksgpu.review.seen import Step, inputs_of
from policies.pools import is_pool

# What a pool is in, outermost first: the last part of the type, what it is in words, and the inputs
# that name it, which a pool has too.
_HOLDERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (":ResourceGroup", "resource group", ("resourceGroupName",)),
    (":ManagedCluster", "cluster", ("resourceGroupName", "resourceName")),
)

# It has one inline pool, and cannot be without.
_CLASSIC_CLUSTER = ":KubernetesCluster"


def forgotten_pools(
    stack: str, steps: Collection[Step], allowed: Collection[Allowance]
) -> list[LostPool]:
    """The GPU pools of a stack whose file goes: nothing is done to them any more."""
    return [
        _lost("forget", pool, ", since its stack file goes", stack, allowed)
        for step in steps
        for pool in gpu_pools(step.resource, step.old)
    ]


def lost_pools(
    stack: str, steps: Collection[Step], allowed: Collection[Allowance]
) -> list[LostPool]:
    """The GPU pools that go from a stack; those that are allowed to, by either of their names."""
    return [_lost(kind, pool, why, stack, allowed) for kind, pool, why in _losses(steps)]


def _lost(
    kind: LossKind, pool: GpuPool, why: str, stack: str, allowed: Collection[Allowance]
) -> LostPool:
    ways = [Allowance(kind, stack, name) for name in (pool.name, pool.resource.name)]
    given = next((way for way in ways if way in allowed), None)
    return LostPool(
        kind=kind,
        pool=pool.name,
        resource=pool.resource,
        vm_size=f"{pool.vm_size}, {nodes_in_words(pool.nodes)}",
        why=why,
        allowance=given or ways[0],
        allowed=given is not None,
    )


def _losses(steps: Collection[Step]) -> Iterator[tuple[LossKind, GpuPool, str]]:
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
            yield from _losses_of_update(step, pools)


def _goes(step: Step) -> LossKind | None:
    return step.kind if step.kind in ("replace", "delete") else None


def _on_account_of(step: Step) -> str:
    what = "" if is_pool(step.resource.type) else f" with {step.resource.name}"
    if step.kind == "replace" and step.properties:
        return f"{what}, on account of {', '.join(step.properties)}"
    return what


def _holder(pool: Step, holders: Iterable[Step]) -> tuple[LossKind, str] | None:
    """What becomes of a pool whose cluster or resource group goes."""
    inputs = inputs_of(pool.old)
    for suffix, called, names in _HOLDERS:
        for holder in holders:
            kind, own = _goes(holder), inputs_of(holder.old)
            # Azure's names have no case.
            same = all(
                name in own and str(own[name]).lower() == str(inputs.get(name)).lower()
                for name in names
            )
            if kind and same and holder.resource.type.endswith(suffix):
                return kind, f", since its {called} {holder.resource.name} is {LOSSES[kind][0]}"
    return None


def _losses_of_update(
    step: Step, pools: Iterable[GpuPool]
) -> Iterator[tuple[LossKind, GpuPool, str]]:
    """The machines that an update takes out of their pool, and the pools out of their cluster."""
    # A pool of its own stays the same one, even while its name is not known.
    sole = is_pool(step.resource.type)
    sizes: dict[str, set[str]] = {}
    for pool in all_pools(step.resource, step.new):
        sizes.setdefault("" if sole else pool.name, set()).add(pool.vm_size)
    cluster = step.resource.name
    for pool in pools:
        left = sizes.get("" if sole else pool.name, set())
        if pool.vm_size in left:
            continue
        if not left and any(NOT_KNOWN_YET in there for there in sizes.values()):
            yield "forget", pool, f", unless the cluster {cluster} names it: that is not known yet"
        elif not left and step.resource.type.endswith(_CLASSIC_CLUSTER):
            yield "replace", pool, f", since the cluster {cluster} names another one in its place"
        elif not left and not sole:
            yield "forget", pool, f", since the cluster {cluster} no longer names it"
        elif NOT_KNOWN_YET in left:
            yield "resize", pool, ", unless it keeps machines of this size: that is not known yet"
        else:
            yield "resize", pool, ", since it is to have no machines of this size"
