"""The GPU pools of a stack, and what of its software lands on which of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.gpu_software import Software
from policies.pools import Pool, has_nvidia_gpus, is_cluster, pools_of
from policies.scheduling import is_selected, untolerated
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
        return {self.member.urn} if self.pool.inline else self.member.clusters()

    def runs_linux(self) -> bool:
        return (self.pool.get("osType") or "Linux").lower() == "linux"


def pools_in(members: Iterable[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """All agent pools of a stack."""
    return unknowns.each(
        members,
        lambda member: (
            StackPool(member, pool) for pool in pools_of(member.type, member.properties)
        ),
    )


def nvidia_pools(members: Iterable[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """Each pool with NVIDIA's GPUs: others have drivers and plugins of their own."""
    pools = pools_in(members, unknowns)
    return unknowns.each(pools, lambda found: [found] if has_nvidia_gpus(found.pool) else [])


def brings_plugin(found: StackPool, software: Software) -> bool:
    """Whether the software has the device plugin for the pool, if it lands there."""
    return software.plugin and not _is_switched_off(found, software, _PLUGIN)


def brings_driver(found: StackPool, software: Software) -> bool:
    """Whether the software has the driver for the pool, if it lands there."""
    return software.driver and not _is_switched_off(found, software, _DRIVER)


def can_be_for(found: StackPool, software: Software, members: Iterable[Member]) -> bool:
    """Whether the software's cluster can be the pool's, and its selectors choose the pool."""
    return _is_in_cluster(found, software, members) and is_selected(found.pool, software.pods)


def can_land(found: StackPool, software: Software, members: Iterable[Member]) -> bool:
    """Whether the software is for the pool, and tolerates its taints."""
    return can_be_for(found, software, members) and not untolerated(found.pool, software.pods)


def _is_switched_off(found: StackPool, software: Software, part: str) -> bool:
    if not software.is_operator:
        return False
    labels = found.pool.part("nodeLabels")
    return any(str(labels.get(name)).lower() == "false" for name in (_ALL_PARTS, part))


def _is_in_cluster(found: StackPool, software: Software, members: Iterable[Member]) -> bool:
    clusters = {member.urn for member in members if is_cluster(member.type)}
    if len(clusters) < 2 or not (own := found.clusters()):
        return True
    provider = software.member.resource.provider
    by_urn = {member.urn: member for member in members}
    if provider is None or provider.urn not in by_urn:
        return True
    connection = by_urn[provider.urn]
    if theirs := connection.clusters():
        return bool(own & theirs)
    # Of which cluster a kubeconfig is that is still to come, nobody knows: this raises then.
    connection.properties.get("kubeconfig")
    return True
