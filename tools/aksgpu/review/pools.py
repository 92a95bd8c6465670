"""The GPU pools of a preview before and after, and what happens to each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pulumi.automation.events import StepEventStateMetadata
from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue.sizes import find, is_gpu_size
from aks_pools.pools import Machines, Pool, pools_of
from aksgpu.review.model import (
    LOSSES,
    GpuCount,
    LostPool,
    PoolChange,
    PoolState,
    Resource,
    Span,
)
from aksgpu.review.preview_result import Step, inputs_of

NOT_KNOWN_YET = "a size not known yet"
# The inputs with an agent pool's name: as a resource, and inline in a cluster.
_NAMES = ("agentPoolName", "name")
_INLINE = "agentPoolProfiles"
_CLASSIC_INLINE = "defaultNodePool"
_SINGLE = "virtualMachinesProfile"
# A larger number of nodes is not plausible.
_MOST_NODES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class GpuPool:
    """A pool; for a pool with several VM sizes, its nodes of one size."""

    name: str
    # Its name in the pack's messages.
    label: str
    resource: Resource
    vm_size: str
    # None if not known before the update.
    nodes: Span | None
    spot: bool
    # By azure-native's names.
    properties: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def may_have_gpus(self) -> bool:
        return self.vm_size == NOT_KNOWN_YET or is_gpu_size(self.vm_size)

    @property
    def gpus(self) -> Span | None:
        size = find(self.vm_size)
        if self.nodes == Span(Fraction(0), Fraction(0)):
            return self.nodes
        if size is None or size.gpus is None or self.nodes is None:
            return None
        return Span(self.nodes.least * size.gpus, self.nodes.most * size.gpus)


def gpu_pools(resource: Resource, state: StepEventStateMetadata | None) -> list[GpuPool]:
    """The GPU pools of a resource in one of its states."""
    return [pool for pool in all_pools(resource, state) if pool.may_have_gpus]


def all_pools(resource: Resource, state: StepEventStateMetadata | None) -> list[GpuPool]:
    """All pools of a resource in one of its states, with and without GPUs."""
    return [] if state is None else pools_by_inputs(resource, state.type, inputs_of(state))


def pools_by_inputs(resource: Resource, kind: str, inputs: Mapping[str, Any]) -> list[GpuPool]:
    """All pools of a resource of this type, with and without GPUs."""
    return [
        _gpu_pool(resource, pool, machines)
        for pool in pools_of(kind, _readable(inputs))
        for machines in pool.machines()
    ]


def pool_changes(steps: Iterable[Step], lost: Iterable[LostPool]) -> list[PoolChange]:
    """The GPU pools before and after; `lost` names what happens to those that are lost."""
    fates = {(loss.resource, loss.pool): LOSSES[loss.kind][0] for loss in lost}
    changes = []
    for step in steps:
        before, after = (_by_name(gpu_pools(step.resource, each)) for each in (step.old, step.new))
        stays = step.old is not None and bool(step.old.retain_on_delete)
        for name in dict.fromkeys([*before, *after]):
            old, new = before.get(name, []), after.get(name, [])
            fate = fates.get((step.resource, name)) or _fate(old, new, stays=stays)
            changes.append(
                PoolChange(pool=name, resource=step.resource, becomes=fate, before=old, after=new)
            )
    # The engine's order is not stable.
    return sorted(changes, key=lambda change: (change.resource.name, change.pool))


def _by_name(pools: Iterable[GpuPool]) -> dict[str, list[PoolState]]:
    states: dict[str, list[PoolState]] = defaultdict(list)
    for pool in pools:
        states[pool.name].append(PoolState(pool.vm_size, pool.nodes, pool.gpus))
    return states


def _fate(before: Sequence[PoolState], after: Sequence[PoolState], *, stays: bool) -> str:
    if not before:
        return "created"
    if not after:
        return LOSSES["forget"][0] if stays else "gone"
    return "" if before == after else "changed"


def count_gpus(steps: Iterable[Step]) -> list[GpuCount]:
    """The GPUs of a stack by size, before and after."""
    before, after = defaultdict[str, list[GpuPool]](list), defaultdict[str, list[GpuPool]](list)
    for step in steps:
        for by_size, state in ((before, step.old), (after, step.new)):
            for pool in gpu_pools(step.resource, state):
                by_size[pool.vm_size].append(pool)
    return [
        GpuCount(
            vm_size=size,
            nodes_before=sum_of(pool.nodes for pool in before[size]),
            nodes_after=sum_of(pool.nodes for pool in after[size]),
            gpus_before=sum_of(pool.gpus for pool in before[size]),
            gpus_after=sum_of(pool.gpus for pool in after[size]),
        )
        for size in sorted({*before, *after})
    ]


def total(counts: Iterable[GpuCount]) -> tuple[Span | None, Span | None]:
    """All GPUs before and after."""
    rows = list(counts)
    return sum_of(row.gpus_before for row in rows), sum_of(row.gpus_after for row in rows)


def nodes_in_words(nodes: Span | None) -> str:
    if nodes is None:
        return "a number of nodes not known yet"
    return f"{nodes} node{'' if nodes.most == 1 else 's'}"


def gpus_in_words(gpus: Span | None) -> str:
    if gpus is None:
        return "a number of GPUs not known yet"
    return f"{gpus} GPU{'' if str(gpus) == '1' else 's'}"


def _readable(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The inputs with a pool of unknown size in place of each pool that is not known yet."""
    known = dict(_readable_pool(inputs))
    if (profiles := inputs.get(_INLINE)) is not None:
        listed = profiles if isinstance(profiles, list) else [profiles]
        known[_INLINE] = [_readable_pool(profile) for profile in listed]
    if _CLASSIC_INLINE in inputs:
        known[_CLASSIC_INLINE] = _readable_pool(inputs[_CLASSIC_INLINE])
    return known


def _readable_pool(profile: Any) -> Mapping[str, Any]:
    if not isinstance(profile, Mapping):
        return {"vmSize": UNKNOWN}
    if profile.get(_SINGLE) == UNKNOWN and not profile.get("vmSize"):
        return {**profile, "vmSize": UNKNOWN}
    return profile


def _gpu_pool(resource: Resource, pool: Pool, machines: Machines) -> GpuPool:
    properties = pool.properties
    names = (properties.get(key) for key in _NAMES)
    size = find(machines.vm_size)
    other_size = machines.vm_size if _is_known(machines.vm_size) else NOT_KNOWN_YET
    return GpuPool(
        name=str(next(filter(_is_known, names), resource.name)),
        label=pool.label,
        resource=resource,
        vm_size=size.name if size else other_size,
        nodes=_nodes(machines),
        spot=pool.is_spot(),
        properties=properties,
    )


def _nodes(machines: Machines) -> Span | None:
    try:
        least, most = machines.least, machines.most
    except (OverflowError, TypeError, ValueError):
        return None
    known = least is not None and most is not None and max(abs(least), abs(most)) < _MOST_NODES
    return Span(Fraction(least or 0), Fraction(most or 0)) if known else None


def _is_known(value: Any) -> bool:
    return bool(value) and value != UNKNOWN


def sum_of(spans: Iterable[Span | None]) -> Span | None:
    """The sum; None if one is not known."""
    least, most = Fraction(0), Fraction(0)
    for span in spans:
        if span is None:
            return None
        least, most = least + span.least, most + span.most
    return Span(least, most)
