"""The GPU pools of a preview before and after, and what happens to each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pulumi.automation.events import StepEventStateMetadata

from aks_catalogue.regions import plain
from aks_catalogue.sizes import find, is_gpu_size
from aks_pools.pools import Machines, Pool, pools_of
from aks_pools.values import UNKNOWN, listed
from aksgpu.review.model import LOSSES, LostPool, PoolChange, PoolState, Resource, Span
from aksgpu.review.preview_result import Step, inputs_of

NOT_KNOWN_YET = "a size not known yet"
# The inputs with an agent pool's name: as a resource, and inline in a cluster.
_NAMES = ("agentPoolName", "name")
# The inputs with inline pools: a list, and the classic provider's one.
_INLINE, _CLASSIC_INLINE = "agentPoolProfiles", "defaultNodePool"
_UNKNOWN_POOL: Mapping[str, Any] = {"vmSize": UNKNOWN}

# The names of the resource group and of the cluster, as Azure compares them.
Cluster = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class GpuPool:
    """A pool; for a pool with several VM sizes, its nodes of one size."""

    name: str
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


def cluster_of(inputs: Mapping[str, Any]) -> Cluster | None:
    """The cluster that the inputs of a cluster or of a pool name; None if it is not known."""
    names = [inputs.get("resourceGroupName"), inputs.get("resourceName") or inputs.get("name")]
    # The classic provider's pools have the id of their cluster.
    ids = str(inputs.get("kubernetesClusterId", "")).split("/")
    if len(ids) == 9:
        names = [ids[4], ids[8]]
    group, name = (plain(each) if isinstance(each, str) else "" for each in names)
    return (group, name) if group and name and UNKNOWN not in (group, name) else None


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
    known = dict(inputs)
    if _CLASSIC_INLINE in inputs and not isinstance(inputs[_CLASSIC_INLINE], Mapping):
        known[_CLASSIC_INLINE] = _UNKNOWN_POOL
    if _INLINE in inputs:
        known[_INLINE] = [
            pool if isinstance(pool, Mapping) else _UNKNOWN_POOL for pool in listed(inputs[_INLINE])
        ]
    return known


def _gpu_pool(resource: Resource, pool: Pool, machines: Machines) -> GpuPool:
    names = (pool.properties.get(key) for key in _NAMES)
    size = find(machines.vm_size)
    other_size = NOT_KNOWN_YET if machines.vm_size in ("", UNKNOWN) else machines.vm_size
    return GpuPool(
        name=next((str(name) for name in names if name and name != UNKNOWN), resource.name),
        resource=resource,
        vm_size=size.name if size else other_size,
        nodes=_nodes(machines),
        spot=pool.is_spot(),
        properties=pool.properties,
    )


def _nodes(machines: Machines) -> Span | None:
    try:
        least, most = machines.least, machines.most
    except ValueError:
        return None
    return None if least is None or most is None else Span(Fraction(least), Fraction(most))
