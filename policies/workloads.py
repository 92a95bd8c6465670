"""Pods of the program that ask for GPUs and get none, and those that get some without asking."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aks_catalogue import gpu_isolation, quantities
from aks_catalogue.device_plugin import GPU, MIG_PREFIX, NO_STRATEGY, SHARED
from aks_catalogue.gpu_resources import GpuResource, gpu_resource
from aks_catalogue.images import AMD64_ALONE
from aks_catalogue.scheduling import Spec, Taint
from aks_catalogue.shapes import at, mapping, mappings
from aks_catalogue.sizes import architecture, cpu_sizes, find
from aks_pools.gpus import driver_by_aks, has_specialized_image
from aks_pools.pools import is_cluster
from policies.certainty import Certainty
from policies.gpu_stack import GpuStack, built_in
from policies.pods import kind_of, pods_of
from policies.provisioned import is_node_pool
from policies.reading import CannotReadError
from policies.scheduling import is_selected, tolerates, unmet, untolerated
from policies.software import PLUGIN, Software, shares
from policies.stack_rule import Member, Members, StackFindings, StackPool
from policies.unknowns import Unknowns

_MUTATING_POLICY = "MutatingAdmissionPolicy"
# Server-side apply patches, and workflows of Argo, whose pods get more from elsewhere.
_PARTIAL = re.compile(r"kubernetes:.*Patch|kubernetes:argoproj\.io/.*")
_KUEUE = "kueue.x-k8s.io/"
# With this label, the GPU Operator cuts the GPUs of a node.
_MIG_LABEL = "nvidia.com/mig.config"
_GIB = Decimal(2**30)


@dataclass(frozen=True)
class _Workload:
    """The pods of one resource."""

    member: Member
    pods: Spec

    @property
    def asks(self) -> Mapping[str, Decimal]:
        """What one pod asks for: init containers run one by one, before the others."""
        together = _sum(mappings(self.pods.get("containers")))
        alone = [_sum([one]) for one in mappings(self.pods.get("initContainers"))]
        names = {name for amounts in (together, *alone) for name in amounts}
        return {
            name: max(held.get(name, Decimal(0)) for held in (together, *alone)) for name in names
        }

    @property
    def images(self) -> set[str]:
        """The images that are known: that of a new registry is not, before the update."""
        images = set()
        for part in ("initContainers", "containers"):
            for one in mappings(self.pods.get(part)):
                with suppress(CannotReadError):
                    images.add(str(one.get("image")))
        return images

    @property
    def gpus(self) -> Mapping[str, int]:
        """The GPUs, shares and slices that one pod asks for."""
        return {
            name: int(count)
            for name, count in self.asks.items()
            if count and (name in (GPU, GPU + SHARED) or name.startswith(MIG_PREFIX))
        }


def _sum(containers: Any) -> dict[str, Decimal]:
    amounts: dict[str, Decimal] = {}
    for container in containers:
        resources = mapping(container.get("resources"))
        # A limit is a request too, where there is no request.
        asked = {**mapping(resources.get("limits")), **mapping(resources.get("requests"))}
        for name, text in asked.items():
            try:
                amount = quantities.parse(str(text)).amount
            except ValueError:
                continue
            amounts[name] = amounts.get(name, Decimal(0)) + amount
    return amounts


def _workloads(members: Members) -> Iterator[_Workload]:
    """Yields the pods whose specs can be read and are whole: of others, nothing is said."""
    for member in members:
        with suppress(CannotReadError):
            if not _PARTIAL.fullmatch(member.type):
                pods = list(pods_of(member.type, member.properties, Unknowns()))
                yield from (_Workload(member, spec) for spec in pods)


class _Stack:
    """The pools and the GPU software of a stack, and whether nodes can come from elsewhere."""

    def __init__(self, members: Members) -> None:
        unread = Unknowns()
        self.gpus = GpuStack(members, unread)
        self.pools = self.gpus.gpu_pools(unread)
        # Nodes without pools, and pools or software that cannot be read: then absence is no proof.
        with unread.deferred():
            self.has_more = any(map(_makes_nodes, members))
        self.has_more = unread.met or bool(self.gpus.unseen) or self.has_more

    def is_of_this_cluster(self, member: Member) -> bool:
        """Whether a resource is certainly on a cluster of this stack, which has all its pools."""
        return any(self._share(found, member) for found in self.gpus.pools if found.clusters())

    def pools_of(self, member: Member) -> list[StackPool]:
        return [found for found in self.pools if self._share(found, member)]

    def _share(self, found: StackPool, member: Member) -> bool:
        return self.gpus.clusters.have_both(found, member) is Certainty.CERTAIN

    def offer(self, found: StackPool) -> GpuResource | None:
        """What a node of a pool offers; None if its GPUs may be cut or shared."""
        sizes, pool, unread = found.pool.gpu_sizes(), found.pool, Unknowns()
        is_cut = pool.text("gpuInstanceProfile") or _MIG_LABEL in pool.part("nodeLabels")
        if len(sizes) != 1 or is_cut:
            return None
        plugins = [one for _, one in self.gpus.running(found, PLUGIN, unread)]
        is_unsure = unread.met or any(not one.is_certain or shares(one) for one in plugins)
        if is_unsure or not (plugins or built_in(found)):
            return None
        return gpu_resource(sizes[0], mig_profile=None, mig_strategy=NO_STRATEGY)


def _makes_nodes(member: Member) -> bool:
    """Whether it makes nodes of sizes that no pool has: Karpenter, AKS Automatic or KAITO."""
    properties = member.properties
    if is_cluster(member.type):
        modes = (at(properties, path) for path in ("nodeProvisioningProfile.mode", "sku.name"))
        is_automatic = any(str(mode).lower() in ("auto", "automatic") for mode in modes)
        return is_automatic or bool(at(properties, "aiToolchainOperatorProfile.enabled"))
    return is_node_pool(member.type, properties)


def unfitting(members: Members, unknowns: Unknowns) -> StackFindings:
    """Yields workloads that ask for GPUs and fit no pool of their cluster."""
    stack = _Stack(members)

    def judge(workload: _Workload) -> StackFindings:
        member = workload.member
        with suppress(CannotReadError):
            if not workload.gpus or _is_queued(member) or not stack.is_of_this_cluster(member):
                return
            found = [(list(_misfits(stack, it, workload)), it) for it in stack.pools_of(member)]
            if all(misfits for misfits, _ in found):
                asked = " and ".join(f"{n} {name}" for name, n in sorted(workload.gpus.items()))
                yield f"A pod asks for {asked}, and {_nearest(found)}", member.urn

    return iter(()) if stack.has_more else unknowns.each(_workloads(members), judge)


def _is_queued(member: Member) -> bool:
    """Whether Kueue gives the pods selectors and tolerations."""
    labels = mapping(at(member.properties, "metadata.labels"))
    return any(str(label).startswith(_KUEUE) for label in labels)


def _nearest(found: Sequence[tuple[list[str], StackPool]]) -> str:
    if not found:
        return (
            "this stack has no pool with NVIDIA GPUs for its cluster. Add one; or remove the "
            "request; or except it, if another stack has the pool."
        )
    misfits, pool = min(found, key=lambda pair: len(pair[0]))
    return f"fits no pool of its cluster. The nearest is {pool.member.name}: {'; '.join(misfits)}."


def _misfits(stack: _Stack, found: StackPool, workload: _Workload) -> Iterator[str]:
    """Yields why a pod does not run on a pool."""
    pool, pods = found.pool, workload.pods
    # An API server may let pods tolerate a taint with the name of what they ask for.
    for taint in untolerated(pool, pods):
        if Taint.parse(taint).key not in workload.gpus:
            yield f"the pod does not tolerate its taint {taint}"
    if not is_selected(pool, pods):
        yield f"its nodes do not have {' or '.join(unmet(pool, pods))}, which the pod selects"
    if not found.pool.runs_linux():
        yield "its nodes run Windows"
    yield from _cannot_execute(pool.sizes(), workload)
    if _stays_empty(found):
        yield "it has no nodes, and does not grow"
    offer = stack.offer(found)
    for name, count in sorted(workload.gpus.items()):
        if offer is None or offer.name is None or offer.per_node is None:
            continue
        if name != offer.name:
            yield f"its nodes offer {offer.name}, not {name}"
        elif count > offer.per_node:
            yield f"a node has {offer.per_node} {name}, and the pod asks for {count}"
    yield from _too_small(pool.gpu_sizes(), workload.asks)


def _cannot_execute(sizes: Sequence[str], workload: _Workload) -> Iterator[str]:
    if {*map(architecture, sizes)} != {"arm64"}:
        return
    for image in sorted(workload.images & AMD64_ALONE):
        yield f"its nodes have Arm CPUs, and the image {image} is for amd64 alone"


def _stays_empty(found: StackPool) -> bool:
    return all(machines.most == 0 for machines in found.pool.gpu_machines())


def _too_small(sizes: Sequence[str], asks: Mapping[str, Decimal]) -> Iterator[str]:
    known = [find(vm_size) or cpu_sizes().get(vm_size.lower()) for vm_size in sizes]
    if None in known:
        return
    cpu = max((size.vcpus for size in known if size), default=0)
    if (wanted := asks.get("cpu", Decimal(0))) > cpu:
        yield f"a node has {cpu} vCPUs, and the pod asks for {float(wanted):.4g}"
    memory = max((size.memory_gib or 0 for size in known if size), default=0)
    if memory and (wanted := asks.get("memory", Decimal(0)) / _GIB) > Decimal(memory):
        yield f"a node has {memory:g} GiB of memory, and the pod asks for {float(wanted):.4g} GiB"


def seeing_unasked(members: Members, unknowns: Unknowns) -> StackFindings:
    """Yields workloads whose containers have GPUs of a node without asking for them."""
    stack = _Stack(members)
    isolated = {member.provider_urn for member in members if _isolates(member)}

    def judge(workload: _Workload) -> StackFindings:
        member, pods = workload.member, workload.pods
        with suppress(CannotReadError):
            containers = [*mappings(pods.get("containers")), *mappings(pods.get("initContainers"))]
            seeing = [each.get("name") for each in containers if gpu_isolation.names_gpus(each)]
            is_apart = member.provider_urn in isolated or _is_agents(member, stack.gpus.software)
            if is_apart or not seeing:
                return
            pool = next((it for it in stack.pools_of(member) if _is_open(it, pods)), None)
            if pool:
                yield (
                    f"The container {seeing[0]} can run on the pool {pool.member.name}, and has "
                    "all GPUs there that its environment or its image names, past the scheduler "
                    "and whoever asked for them.",
                    member.urn,
                )

    return unknowns.each(_workloads(members), judge)


def _is_open(found: StackPool, pods: Spec) -> bool:
    """Whether pods can run on a pool, and its container runtime gives them what they name."""
    pool = found.pool
    can_run = min(is_selected(pool, pods), tolerates(pool, pods)) and not _stays_empty(found)
    is_known = pool.runs_linux() and not has_specialized_image(pool)
    return bool(can_run) and is_known and driver_by_aks(pool) is True


def _isolates(member: Member) -> bool:
    """Whether it is a policy that decides which GPUs pods see, or may be: it cannot be read."""
    if kind_of(member.type) != _MUTATING_POLICY:
        return False
    try:
        expressions = [
            str(at(mutation, f"{kind}.expression"))
            for mutation in mappings(at(member.properties, "spec.mutations"))
            for kind in ("jsonPatch", "applyConfiguration")
        ]
    except CannotReadError:
        return True
    return any(gpu_isolation.VARIABLE in text for text in expressions)


def _is_agents(member: Member, software: Sequence[Software]) -> bool:
    """Whether it needs all GPUs for its work: a device plugin, or what runs beside it."""
    namespace = at(member.properties, "metadata.namespace")
    return namespace in gpu_isolation.AGENTS or any(item.member is member for item in software)
