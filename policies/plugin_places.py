"""Pools on which device plugins should run and do not, and on which they run and fail."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from policies.certainty import Certainty, Weighed
from policies.gpu_nodes import (
    Clusters,
    StackPool,
    brings_plugin,
    is_for,
    lands,
    nvidia_pools,
    pools_in,
)
from policies.gpu_requests import driver_by_aks, has_managed_gpus, has_specialized_image
from policies.gpu_software import Software, software_in
from policies.pools import nvidia_gpus
from policies.scheduling import chosen, untolerated
from policies.stack_rule import Members
from policies.unknowns import Unknowns

# A node without GPUs, of a pool outside of the stack with a name that no pod selects.
_PLAIN_NODE: Mapping[str, str] = MappingProxyType(
    {
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.azure.com/agentpool": "",
        "agentpool": "",
        "kubernetes.azure.com/mode": "system",
        "kubernetes.azure.com/role": "agent",
    }
)


def repelled(members: Members, unknowns: Unknowns) -> Iterator[Weighed]:
    """Yields pools whose taints keep away all device plugins that select them."""
    software, clusters = software_in(members, unknowns), Clusters(members)
    some_are_unknown = unknowns.met

    def judge(found: StackPool) -> Iterator[Weighed]:
        # These pools have a device plugin.
        if has_specialized_image(found.pool) or has_managed_gpus(found.pool):
            return
        plugins = [one for one in software if brings_plugin(found, one)]
        sure = [(is_for(found, one, clusters), one) for one in plugins]
        meant = [(how, one, untolerated(found.pool, one.pods)) for how, one in sure if how]
        # One that tolerates the taints is enough, and unknown values may contain one.
        if some_are_unknown or not all(taints for _, _, taints in meant):
            return
        # gpu-pool-linux-only reports pools with Windows.
        if not found.runs_linux():
            return
        # What installs the driver may also install the plugin: an operator of another stack.
        most = max(Certainty.POSSIBLE, driver_by_aks(found.pool))
        for how, one, taints in meant:
            yield (
                min(how, nvidia_gpus(found.pool), most),
                f"{found.pool.label} has the taints {', '.join(taints)}, which {one.label} does "
                "not tolerate, so Kubernetes cannot schedule its GPUs. Add tolerations for them to "
                "the device plugin.",
                found.member.urn,
            )

    return unknowns.each(nvidia_pools(members, unknowns), judge)


def failing(members: Members, unknowns: Unknowns) -> Iterator[Weighed]:
    """Yields device plugins on nodes without NVIDIA GPUs, where they crash repeatedly."""
    pools, clusters = [*pools_in(members, unknowns)], Clusters(members)

    def judge(software: Software) -> Iterator[Weighed]:
        if not software.plugin or software.is_operator:
            return
        worst = Certainty.NO
        for found in pools:
            with unknowns.deferred():
                if nvidia_gpus(found.pool) or not (how := lands(found, software, clusters)):
                    continue
                linux = found.runs_linux()
                if linux:
                    how = min(how, software.fails_without_gpus())
                worst = max(worst, how)
                reason = "has no NVIDIA GPUs" if linux else "runs Windows"
                yield how, _message(how, f"{_name(found)}, which {reason}"), software.member.urn
        # Other nodes of the cluster are unknown; those of the stack are reported above.
        if not worst and software.fails_without_gpus() and chosen(_PLAIN_NODE.get, software.pods):
            where = "nodes without GPUs, because nothing binds it to GPU pools"
            yield Certainty.POSSIBLE, _message(Certainty.POSSIBLE, where), software.member.urn

    return unknowns.each(software_in(members, unknowns), judge)


def _name(found: StackPool) -> str:
    return f"the pool {found.member.name}" if not found.pool.inline else found.pool.label


def _message(how: Certainty, where: str) -> str:
    runs_on = "runs on" if how is Certainty.CERTAIN else "can run on"
    return (
        f"This device plugin {runs_on} {where}: it crashes there repeatedly, and an update that "
        "waits for it fails. Bind it to the GPU pools by node affinity."
    )


def without_mig_strategy(members: Members, unknowns: Unknowns) -> Iterator[tuple[str, str]]:
    """Yields pools with a MIG profile whose device plugin advertises whole GPUs."""
    software, clusters = software_in(members, unknowns), Clusters(members)

    def judge(found: StackPool) -> Iterator[tuple[str, str]]:
        profile = found.pool.get("gpuInstanceProfile")
        if not profile or profile.lower() == "none":
            return
        plugins = [
            one for one in software if brings_plugin(found, one) and lands(found, one, clusters)
        ]
        if plugins and all(one.mig_strategy() == "none" for one in plugins):
            name, labels = found.pool.name_of("gpuInstanceProfile"), [one.label for one in plugins]
            yield (
                f"{found.pool.label} has {name} {profile}, but {' and '.join(labels)} has no MIG "
                "strategy, and so advertises whole GPUs. Set MIG_STRATEGY of the plugin to single "
                "or mixed, or remove the profile.",
                found.member.urn,
            )

    return unknowns.each(nvidia_pools(members, unknowns), judge)
