"""The GPU pools of a stack, and which software of the stack runs on each."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from aks_catalogue.gpu_operator import DEPLOY_LABEL, DRIVER_PART, WITHOUT_OPERANDS
from aks_pools.pools import (
    Pool,
    inline_pool_names,
    is_cluster,
    nvidia_gpus,
    pools_of,
    standalone_pool_names,
)
from policies.certainty import Certainty
from policies.gpu_software import Software
from policies.reading import CannotReadError
from policies.scheduling import is_selected, tolerates
from policies.stack_rule import Member
from policies.unknowns import Unknowns

# With these labels set to this value, the GPU Operator skips a node, or one of its parts there.
_ALL_PARTS, _OFF = WITHOUT_OPERANDS
_PLUGIN, _DRIVER = (f"{DEPLOY_LABEL}{part}" for part in ("device-plugin", DRIVER_PART))


@dataclass(frozen=True)
class StackPool:
    """One agent pool of the stack."""

    member: Member
    pool: Pool

    def clusters(self) -> set[str]:
        """The URNs of the pool's cluster; empty if the cluster is not a resource of this stack."""
        if self.pool.inline:
            return {self.member.urn}
        return self.member.clusters("resourceName", "kubernetesClusterId")

    def runs_linux(self) -> bool:
        return (self.pool.get("osType") or "Linux").lower() == "linux"


def pools_in(members: Collection[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """Yields all agent pools of a stack, each once."""
    names = (standalone_pool_names(member.type, member.properties) for member in members)
    standalone = {*names} - {None}

    def pools(member: Member) -> Iterator[StackPool]:
        inputs = member.properties
        for pool in pools_of(member.type, inputs):
            if not (pool.inline and inline_pool_names(inputs, pool.properties) in standalone):
                yield StackPool(member, pool)

    return unknowns.each(members, pools)


def nvidia_pools(members: Collection[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """Yields the pools that can have NVIDIA GPUs; other GPUs have other drivers and plugins."""
    pools = pools_in(members, unknowns)
    return unknowns.each(pools, lambda item: [item] if nvidia_gpus(item.pool) else [])


def brings_plugin(stack_pool: StackPool, software: Software) -> bool:
    """Whether the software brings the device plugin to the pool, if it runs there."""
    return software.plugin and not _is_switched_off(stack_pool, software, _PLUGIN)


def brings_driver(stack_pool: StackPool, software: Software) -> bool:
    """Whether the software brings the driver to the pool, if it runs there."""
    return software.driver and not _is_switched_off(stack_pool, software, _DRIVER)


def brings_dra(stack_pool: StackPool, software: Software) -> bool:
    """Whether the software brings a DRA driver to the pool, if it runs there."""
    return software.dra and not _is_switched_off(stack_pool, software, _ALL_PARTS)


def _is_switched_off(stack_pool: StackPool, software: Software, part: str) -> bool:
    if not software.is_operator:
        return False
    labels = stack_pool.pool.part("nodeLabels")
    return any(str(labels.get(name)).lower() == _OFF for name in (_ALL_PARTS, part))


_REFERENCE = "pulumi:pulumi:StackReference"


class Clusters:
    """The clusters of a stack, with the pools and the software of each."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._by_urn = {member.urn: member for member in members}
        self._urns = {urn for urn, member in self._by_urn.items() if is_cluster(member.type)}
        # By the URN of the Kubernetes provider.
        self._reaches: dict[str, _Reach] = {}

    def have_both(self, stack_pool: StackPool, member: Member) -> Certainty:
        """Whether the pool and a resource of Kubernetes are in the same cluster."""
        provider = member.provider_urn
        if provider not in self._by_urn:
            return Certainty.POSSIBLE
        if provider not in self._reaches:
            self._reaches[provider] = self._reach(self._by_urn[provider])
        reach, clusters = self._reaches[provider], stack_pool.clusters()
        if not reach.clusters:
            return Certainty.NO if clusters and reach.of_another_stack else Certainty.POSSIBLE
        if not clusters:
            return _is_one_of(stack_pool, [self._by_urn[urn] for urn in reach.clusters])
        if not clusters & reach.clusters:
            return Certainty.NO
        if len(reach.clusters) > 1 and reach.guessed:
            names = ", ".join(sorted(self._by_urn[urn].name for urn in reach.clusters))
            raise CannotReadError(
                f"before the first update, the cluster of the provider "
                f"{self._by_urn[provider].name} is unknown: it can be any of {names}. Make its "
                "kubeconfig depend on its cluster, for example with "
                "Output.all(cluster.id, kubeconfig)",
                provider,
            )
        return Certainty.CERTAIN if len(reach.clusters) == 1 else Certainty.POSSIBLE

    def _reach(self, provider: Member) -> "_Reach":
        if clusters := provider.clusters("kubeconfig", "context", "cluster"):
            return _Reach(clusters)
        # The kubeconfig of another cluster, or one that depends on its cluster indirectly.
        if dependencies := provider.resource.property_dependencies.get("kubeconfig"):
            # Another stack does not have the kubeconfig of a cluster that this stack creates.
            references = all(resource.resource_type == _REFERENCE for resource in dependencies)
            return _Reach(set(), of_another_stack=references)
        # An unknown kubeconfig without dependencies: the engine reports none for the result of an
        # invoke with unknown arguments.
        unknowns = Unknowns()
        with unknowns.deferred():
            provider.properties.get("kubeconfig")
        return _Reach(self._urns if unknowns.met else set(), guessed=True)


@dataclass(frozen=True)
class _Reach:
    """The clusters that a provider can connect to; empty: any cluster, of any stack."""

    clusters: set[str]
    guessed: bool = False
    of_another_stack: bool = False


def _is_one_of(stack_pool: StackPool, clusters: Iterable[Member]) -> Certainty:
    """Whether a pool can be in one of these clusters, by the name of its cluster only."""
    owner = stack_pool.pool.owner
    cluster = owner.get("resourceName") or owner.get("kubernetesClusterId")
    names = {
        str(member.properties.get("resourceName") or member.properties.get("name") or "").lower()
        for member in clusters
    }
    name = str(cluster or "").rpartition("/")[2].lower()
    return Certainty.NO if name and "" not in names and name not in names else Certainty.POSSIBLE


def is_for(stack_pool: StackPool, software: Software, clusters: Clusters) -> Certainty:
    """Whether the software is in the pool's cluster, and selects the pool."""
    in_cluster = clusters.have_both(stack_pool, software.member)
    if not in_cluster:
        return in_cluster
    return min(in_cluster, software.certainty, is_selected(stack_pool.pool, software.pods))


def lands(stack_pool: StackPool, software: Software, clusters: Clusters) -> Certainty:
    """Whether the software is for the pool, and tolerates its taints."""
    is_meant = is_for(stack_pool, software, clusters)
    return min(is_meant, tolerates(stack_pool.pool, software.pods)) if is_meant else is_meant
