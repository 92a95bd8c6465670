"""The pools of a stack with NVIDIA GPUs, and which software of the stack runs on each."""

from collections.abc import Callable, Iterator

from aks_catalogue.gpu_operator import DEPLOY_LABEL, DRIVER_PART, WITHOUT_OPERANDS
from aks_pools.gpus import are_nvidias, has_managed_gpus, has_specialized_image
from aks_pools.pools import is_cluster
from policies.certainty import Certainty, StackFinding
from policies.reading import CannotReadError
from policies.scheduling import is_selected, tolerates
from policies.software import DRIVER, PLUGIN, Software, software_in, unseen_in
from policies.stack_rule import Member, Members, StackPool, judge_pools, pools_in
from policies.unknowns import Unknowns

# With these labels of a pool, the GPU Operator leaves out its nodes, or one of its parts there.
_ALL_PARTS, _OFF = WITHOUT_OPERANDS
_PARTS = {PLUGIN: f"{DEPLOY_LABEL}device-plugin", DRIVER: f"{DEPLOY_LABEL}{DRIVER_PART}"}
_REFERENCE = "pulumi:pulumi:StackReference"


class GpuStack:
    """The GPU pools and the GPU software of a stack. What cannot be read is noted."""

    def __init__(self, members: Members, unknowns: Unknowns) -> None:
        self.members, unread = members, Unknowns()
        self.software = software_in(members, unread)
        self.unseen = unseen_in(members, unread)
        self.is_readable = not unread.met
        # Whether the stack can have no more software: only then does absence prove anything.
        self.is_whole = self.is_readable and not self.unseen
        unknowns.take(unread)
        self.pools = list(pools_in(members, unknowns))
        self.clusters = _Clusters(members)

    def each_pool(
        self, judge: Callable[[StackPool], Iterator[StackFinding]], unknowns: Unknowns
    ) -> Iterator[StackFinding]:
        """Yields the findings on the pools that can have NVIDIA GPUs."""
        return judge_pools(self.gpu_pools(unknowns), unknowns, judge, Certainty.CERTAIN)

    def gpu_pools(self, unknowns: Unknowns) -> list[StackPool]:
        """Returns those that can have NVIDIA GPUs; other GPUs have other drivers and plugins."""
        each = unknowns.each(self.pools, lambda one: [(one, are_nvidias(one.pool))])
        return [found for found, may_be in each if may_be is not False]

    def selecting(self, found: StackPool, part: str) -> Iterator[tuple[Certainty, Software]]:
        """Yields the software that is for the pool, and would bring it this part."""
        for software in self.software:
            if brings(software, part, found) and (certainty := self.is_for(software, found)):
                yield certainty, software

    def running(
        self, found: StackPool, part: str, unknowns: Unknowns
    ) -> list[tuple[Certainty, Software]]:
        """Returns the software that brings the pool this part."""
        running = []
        for software in self.software:
            try:
                if brings(software, part, found) and (certainty := self.lands(software, found)):
                    running.append((certainty, software))
            except CannotReadError as error:
                unknowns.note(error)
        return running

    def lands(self, software: Software, found: StackPool) -> Certainty:
        """Whether the software is for the pool, and tolerates its taints."""
        is_meant = self.is_for(software, found)
        return min(is_meant, tolerates(found.pool, software.pods)) if is_meant else is_meant

    def is_for(self, software: Software, found: StackPool) -> Certainty:
        """Whether the software is in the pool's cluster, and selects the pool."""
        in_cluster = self.clusters.have_both(found, software.member)
        if not in_cluster:
            return in_cluster
        is_known = Certainty.of(software.is_certain or None)
        return min(in_cluster, is_known, is_selected(found.pool, software.pods))


def brings(software: Software, part: str, found: StackPool) -> bool:
    """Whether the software brings the pool this part, if it runs there."""
    if part not in software.brings:
        return False
    labels = found.pool.part("nodeLabels") if software.is_operator else {}
    switches = (_ALL_PARTS, _PARTS.get(part, _ALL_PARTS))
    return not any(str(labels.get(switch)).lower() == _OFF for switch in switches)


def built_in(found: StackPool) -> list[str]:
    """Returns the owner of driver and device plugin that the pool has without the cluster's."""
    if has_specialized_image(found.pool):
        return ["the specialized image"]
    return ["AKS, which manages its GPUs"] if has_managed_gpus(found.pool) else []


class _Clusters:
    """The clusters of a stack, and what is in each."""

    def __init__(self, members: Members) -> None:
        self._by_urn = {member.urn: member for member in members}
        self._own = {member.urn for member in members if is_cluster(member.type)}
        # The clusters of a Kubernetes provider, by its URN.
        self._of: dict[str, set[str]] = {}

    def have_both(self, found: StackPool, member: Member) -> Certainty:
        """Whether the pool and a resource of Kubernetes are in the same cluster."""
        provider = self._by_urn.get(member.provider_urn)
        if provider is None:
            return Certainty.POSSIBLE
        if provider.urn not in self._of:
            self._of[provider.urn] = self._clusters_of(provider)
        theirs, ours = self._of[provider.urn], found.clusters()
        if theirs and ours:
            return Certainty.of(theirs == ours or (None if theirs & ours else False))
        if theirs:
            return self._by_name(found, theirs)
        # Another stack does not have the kubeconfig of a cluster that this stack creates.
        sources = provider.resource.property_dependencies.get("kubeconfig", ())
        is_anothers = sources and all(one.resource_type == _REFERENCE for one in sources)
        return Certainty.NO if ours and is_anothers else Certainty.POSSIBLE

    def _clusters_of(self, provider: Member) -> set[str]:
        """The clusters of this stack of which the provider has the kubeconfig, as far as known."""
        if clusters := provider.clusters("kubeconfig", "context", "cluster"):
            return clusters
        if provider.resource.property_dependencies.get("kubeconfig") or len(self._own) != 1:
            return set()
        # Of a function's result the engine knows no dependencies before the first update.
        unknowns = Unknowns()
        with unknowns.deferred():
            provider.properties.get("kubeconfig")
        return self._own if unknowns.met else set()

    def _by_name(self, found: StackPool, clusters: set[str]) -> Certainty:
        """Whether a pool of which the stack does not say the cluster can be in one of these."""
        owner = found.pool.owner
        cluster = str(owner.get("resourceName") or owner.get("kubernetesClusterId") or "")
        inputs = [self._by_urn[urn].properties for urn in clusters]
        names = {str(one.get("resourceName") or one.get("name") or "").lower() for one in inputs}
        name = cluster.rpartition("/")[2].lower()
        return Certainty.of(False if name and "" not in names and name not in names else None)
