"""The GPU pools of a stack, and what of its software lands on which of them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from policies.certainty import Certainty
from policies.gpu_software import Software
from policies.pools import Pool, inline_pool, is_cluster, nvidia_gpus, own_pool, pools_of
from policies.reading import CannotReadError
from policies.scheduling import is_selected, tolerates
from policies.stack_rule import Member
from policies.unknowns import Unknowns

# By these labels on its nodes the GPU Operator leaves a pool alone, or leaves out one of its parts.
_ALL_PARTS = "nvidia.com/gpu.deploy.operands"
_PLUGIN, _DRIVER = "nvidia.com/gpu.deploy.device-plugin", "nvidia.com/gpu.deploy.driver"


@dataclass(frozen=True)
class StackPool:
    """One agent pool of the stack."""

    member: Member
    pool: Pool

    def clusters(self) -> set[str]:
        """The cluster that it is in, as far as that is a resource of this stack."""
        if self.pool.inline:
            return {self.member.urn}
        return self.member.clusters("resourceName", "kubernetesClusterId")

    def runs_linux(self) -> bool:
        return (self.pool.get("osType") or "Linux").lower() == "linux"


def pools_in(members: Collection[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """All agent pools of a stack, each once."""
    own = {own_pool(member.type, member.properties) for member in members} - {None}

    def judge(member: Member) -> Iterator[StackPool]:
        for pool in pools_of(member.type, member.properties):
            if not (pool.inline and inline_pool(member.properties, pool.properties) in own):
                yield StackPool(member, pool)

    return unknowns.each(members, judge)


def nvidia_pools(members: Collection[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """Each pool that can have NVIDIA's GPUs: others have drivers and plugins of their own."""
    pools = pools_in(members, unknowns)
    return unknowns.each(pools, lambda found: [found] if nvidia_gpus(found.pool) else [])


def brings_plugin(found: StackPool, software: Software) -> bool:
    """Whether the software has the device plugin for the pool, if it lands there."""
    return software.plugin and not _is_switched_off(found, software, _PLUGIN)


def brings_driver(found: StackPool, software: Software) -> bool:
    """Whether the software has the driver for the pool, if it lands there."""
    return software.driver and not _is_switched_off(found, software, _DRIVER)


def _is_switched_off(found: StackPool, software: Software, part: str) -> bool:
    if not software.is_operator:
        return False
    labels = found.pool.part("nodeLabels")
    return any(str(labels.get(name)).lower() == "false" for name in (_ALL_PARTS, part))


_REFERENCE = "pulumi:pulumi:StackReference"


class Clusters:
    """The clusters of a stack, and which of them each pool and each plugin is in."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._by_urn = {member.urn: member for member in members}
        self._urns = {urn for urn, member in self._by_urn.items() if is_cluster(member.type)}
        self._of_providers: dict[str, _Reach] = {}

    def have_both(self, found: StackPool, software: Software) -> Certainty:
        """Whether the software's cluster is the pool's."""
        provider = software.member.resource.provider
        if provider is None or provider.urn not in self._by_urn:
            return Certainty.POSSIBLE
        if provider.urn not in self._of_providers:
            self._of_providers[provider.urn] = self._reach(self._by_urn[provider.urn])
        reach, own = self._of_providers[provider.urn], found.clusters()
        if not reach.clusters:
            return Certainty.NO if own and reach.of_another_stack else Certainty.POSSIBLE
        if not own:
            return _is_one_of(found, [self._by_urn[urn] for urn in reach.clusters])
        if not own & reach.clusters:
            return Certainty.NO
        if len(reach.clusters) > 1 and reach.guessed:
            names = ", ".join(sorted(self._by_urn[urn].name for urn in reach.clusters))
            raise CannotReadError(
                f"before the first update nobody knows which of the clusters {names} the provider "
                f"{self._by_urn[provider.urn].name} is for. Let its kubeconfig come of its "
                "cluster, as by Output.all(cluster.id, kubeconfig)",
                provider.urn,
            )
        return Certainty.CERTAIN if len(reach.clusters) == 1 else Certainty.POSSIBLE

    def _reach(self, connection: Member) -> "_Reach":
        if theirs := connection.clusters("kubeconfig", "context", "cluster"):
            return _Reach(theirs)
        # One that is made of something else is that of another cluster, or comes of it by detours.
        if others := connection.resource.property_dependencies.get("kubeconfig"):
            # Another stack knows nothing of a cluster that this one makes.
            return _Reach(
                set(), of_another_stack=all(one.resource_type == _REFERENCE for one in others)
            )
        # A kubeconfig that is still to come is that of a cluster that is: what comes of unknown
        # arguments tells no dependencies.
        ways = Unknowns()
        with ways.deferred():
            connection.properties.get("kubeconfig")
        return _Reach(self._urns if ways.met else set(), guessed=True)


@dataclass(frozen=True)
class _Reach:
    """The clusters that a provider can be for; none: it can be any, of whichever stack."""

    clusters: set[str]
    guessed: bool = False
    of_another_stack: bool = False


def _is_one_of(found: StackPool, clusters: Iterable[Member]) -> Certainty:
    """Whether a pool can be in one of these clusters, by its name alone."""
    cluster = found.pool.owner.get("resourceName") or found.pool.owner.get("kubernetesClusterId")
    names = {
        str(one.properties.get("resourceName") or one.properties.get("name") or "").lower()
        for one in clusters
    }
    named = str(cluster or "").rpartition("/")[2].lower()
    return Certainty.NO if named and "" not in names and named not in names else Certainty.POSSIBLE


def is_for(found: StackPool, software: Software, clusters: Clusters) -> Certainty:
    """Whether the software's cluster is the pool's, and its selectors choose the pool."""
    where = clusters.have_both(found, software)
    if not where:
        return where
    return min(where, software.certainty, is_selected(found.pool, software.pods))


def lands(found: StackPool, software: Software, clusters: Clusters) -> Certainty:
    """Whether the software is for the pool, and tolerates its taints."""
    meant = is_for(found, software, clusters)
    return min(meant, tolerates(found.pool, software.pods)) if meant else meant
