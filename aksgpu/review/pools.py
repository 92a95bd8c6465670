"""The GPU pools of a preview: as they were, as they will be, and which of them go."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pulumi.automation.events import StepEventStateMetadata
from pulumi.runtime.rpc import UNKNOWN

from aksgpu.review.model import GpuCount, Resource, Span
from aksgpu.review.seen import Step
from catalogue.sizes import find, is_gpu_size
from policies.pools import Pool, pools_of

NOT_KNOWN_YET = "a size not known yet"
# The keys of an agent pool's name, as a resource of its own and inline in a cluster.
_NAMES = ("agentPoolName", "name")
_INLINE = "agentPoolProfiles"


@dataclass(frozen=True, kw_only=True)
class GpuPool:
    name: str
    resource: Resource
    vm_size: str
    # None: not known before the update.
    nodes: Span | None

    @property
    def gpus(self) -> Span | None:
        size = find(self.vm_size)
        if self.nodes == Span(Fraction(0), Fraction(0)):
            return self.nodes
        if size is None or size.gpus is None or self.nodes is None:
            return None
        return Span(self.nodes.least * size.gpus, self.nodes.most * size.gpus)


def gpu_pools(resource: Resource, state: StepEventStateMetadata | None) -> list[GpuPool]:
    """The GPU pools that a resource makes in one of its states."""
    if state is None:
        return []
    return [
        _gpu_pool(resource, pool.properties, machines)
        for pool in pools_of(state.type, _readable(state.inputs or {}))
        for machines in _machines(pool)
        if _may_have_gpus(machines.get("vmSize"))
    ]


def count_gpus(steps: Iterable[Step]) -> list[GpuCount]:
    """The GPUs of a stack by size, before and after."""
    before: dict[str, list[GpuPool]] = {}
    after: dict[str, list[GpuPool]] = {}
    for step in steps:
        for there, state in ((before, step.old), (after, step.new)):
            for pool in gpu_pools(step.resource, state):
                there.setdefault(pool.vm_size, []).append(pool)
    return [
        GpuCount(
            vm_size=size,
            nodes_before=_sum(pool.nodes for pool in before.get(size, ())),
            nodes_after=_sum(pool.nodes for pool in after.get(size, ())),
            gpus_before=_sum(pool.gpus for pool in before.get(size, ())),
            gpus_after=_sum(pool.gpus for pool in after.get(size, ())),
        )
        for size in sorted(before.keys() | after.keys())
    ]


def total(counts: Iterable[GpuCount]) -> tuple[Span | None, Span | None]:
    """All GPUs before and after."""
    known = list(counts)
    return _sum(count.gpus_before for count in known), _sum(count.gpus_after for count in known)


def nodes_in_words(nodes: Span | None) -> str:
    if nodes is None:
        return "a number of nodes not known yet"
    return f"{nodes} node{'' if nodes.most == 1 else 's'}"


def _readable(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Inputs in whose place of inline pools that are not known yet stand pools of no known size."""
    profiles = inputs.get(_INLINE)
    if profiles is None:
        return inputs
    there = profiles if isinstance(profiles, list) else [profiles]
    known = [profile if isinstance(profile, dict) else {"vmSize": UNKNOWN} for profile in there]
    return {**inputs, _INLINE: known}


def _machines(pool: Pool) -> Iterator[Mapping[str, Any]]:
    """The machines of a pool: all alike, or of several sizes, each with its own number."""
    if pool.properties.get("vmSize"):
        yield pool.properties
        return
    scale = pool.part("virtualMachinesProfile").get("scale") or {}
    autoscaled = [{**scale["autoscale"], "enableAutoScaling": True}] if "autoscale" in scale else []
    for one in [*(scale.get("manual") or ()), *autoscaled]:
        yield {"vmSize": next(iter(one.get("sizes") or ()), one.get("size")), **one}


def _gpu_pool(
    resource: Resource, properties: Mapping[str, Any], machines: Mapping[str, Any]
) -> GpuPool:
    name = next((said for key in _NAMES if _is_known(said := properties.get(key))), resource.name)
    said = machines.get("vmSize")
    size = find(str(said))
    return GpuPool(
        name=str(name),
        resource=resource,
        vm_size=size.name if size else str(said) if _is_known(said) else NOT_KNOWN_YET,
        nodes=_nodes(machines),
    )


def _nodes(machines: Mapping[str, Any]) -> Span | None:
    if machines.get("enableAutoScaling"):
        ends = (machines.get("minCount"), machines.get("maxCount"))
    else:
        # What AKS takes where nobody says how many.
        ends = (machines.get("count", 1),) * 2
    try:
        least, most = (Fraction(int(str(end).removesuffix(".0"))) for end in ends)
    except ValueError:
        return None
    return Span(least, most)


def _may_have_gpus(vm_size: Any) -> bool:
    return vm_size == UNKNOWN or (isinstance(vm_size, str) and is_gpu_size(vm_size))


def _is_known(value: Any) -> bool:
    return bool(value) and value != UNKNOWN


def _sum(spans: Iterable[Span | None]) -> Span | None:
    least, most = Fraction(0), Fraction(0)
    for span in spans:
        if span is None:
            return None
        least, most = least + span.least, most + span.most
    return Span(least, most)
