"""Pools on which device plugins should run and do not, and on which they run and fail."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from aks_catalogue.device_plugin import NO_STRATEGY
from aks_catalogue.shapes import mapping
from aks_pools.gpu_requests import (
    driver_by_aks,
    has_managed_gpus,
    has_management_mode,
    has_specialized_image,
)
from aks_pools.pools import nvidia_gpus
from policies.certainty import Certainty, StackFinding
from policies.gpu_nodes import (
    Clusters,
    StackPool,
    brings_dra,
    brings_plugin,
    is_for,
    lands,
    nvidia_pools,
    pools_in,
)
from policies.gpu_software import Software, software_in, some_change_others
from policies.scheduling import chosen, untolerated
from policies.stack_rule import Members
from policies.unknowns import Unknowns

# The labels of a node without GPUs, in a pool outside the stack that no pod selects by name.
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


def repelled(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields pools whose taints keep away all device plugins that select them."""
    software, clusters = software_in(members, unknowns), Clusters(members)
    some_are_unknown = unknowns.met

    def judge(stack_pool: StackPool) -> Iterator[StackFinding]:
        pool = stack_pool.pool
        # These pools have a device plugin.
        if has_specialized_image(pool) or has_managed_gpus(pool):
            return
        plugins = [item for item in software if brings_plugin(stack_pool, item)]
        weighed = [(is_for(stack_pool, plugin, clusters), plugin) for plugin in plugins]
        selecting = [
            (certainty, plugin, untolerated(pool, plugin.pods))
            for certainty, plugin in weighed
            if certainty
        ]
        # One that tolerates the taints is enough, and unknown values may contain one.
        if some_are_unknown or not all(taints for _, _, taints in selecting):
            return
        # A DRA driver also lets pods use the GPUs.
        if any(
            brings_dra(stack_pool, item) and not untolerated(pool, item.pods) for item in software
        ):
            return
        # gpu-pool-linux-only reports pools with Windows.
        if not stack_pool.runs_linux():
            return
        # If AKS may not install the driver, an operator of another stack may bring the plugin, too.
        most = max(Certainty.POSSIBLE, driver_by_aks(pool))
        for certainty, plugin, taints in selecting:
            yield (
                min(certainty, nvidia_gpus(pool), most),
                f"{pool.label} has the taints {', '.join(taints)}, which {plugin.label} does not "
                "tolerate, so Kubernetes cannot schedule its GPUs. Add tolerations for them to the "
                "device plugin.",
                stack_pool.member.urn,
            )

    return unknowns.each(nvidia_pools(members, unknowns), judge)


def failing(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields device plugins on nodes without NVIDIA GPUs, where they crash repeatedly."""
    pools, clusters = [*pools_in(members, unknowns)], Clusters(members)

    def judge(software: Software) -> Iterator[StackFinding]:
        if not software.plugin or software.is_operator:
            return
        worst = Certainty.NO
        for stack_pool in pools:
            with unknowns.deferred():
                if nvidia_gpus(stack_pool.pool):
                    continue
                if not (certainty := lands(stack_pool, software, clusters)):
                    continue
                linux = stack_pool.runs_linux()
                if linux:
                    certainty = min(certainty, software.fails_without_gpus())
                worst = max(worst, certainty)
                reason = "has no NVIDIA GPUs" if linux else "runs Windows"
                message = _message(certainty, f"{_name(stack_pool)}, which {reason}")
                yield certainty, message, software.member.urn
        # Other nodes of the cluster are unknown; those of the stack are reported above.
        if not worst and software.fails_without_gpus() and chosen(_PLAIN_NODE.get, software.pods):
            where = "nodes without GPUs, because nothing binds it to GPU pools"
            yield Certainty.POSSIBLE, _message(Certainty.POSSIBLE, where), software.member.urn

    return unknowns.each(software_in(members, unknowns), judge)


def _name(stack_pool: StackPool) -> str:
    pool = stack_pool.pool
    return f"t{pool.label[1:]}" if pool.inline else f"the pool {stack_pool.member.name}"


def _message(certainty: Certainty, where: str) -> str:
    runs_on = "runs on" if certainty is Certainty.CERTAIN else "can run on"
    return (
        f"This device plugin {runs_on} {where}: it crashes there repeatedly, and an update that "
        "waits for it fails. Bind it to the GPU pools by node affinity."
    )


def without_mig_strategy(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields pools with a MIG profile whose device plugin advertises whole GPUs."""
    software, clusters = software_in(members, unknowns), Clusters(members)
    # Unknown values may contain a plugin that has a strategy, and a patch may give it one.
    may_have_one = unknowns.met or some_change_others(members)
    most = Certainty.POSSIBLE if may_have_one else Certainty.CERTAIN

    def judge(stack_pool: StackPool) -> Iterator[StackFinding]:
        pool = stack_pool.pool
        profile = pool.get("gpuInstanceProfile")
        if not profile or profile.lower() == "none":
            return
        has = f"{pool.label} has {pool.name_of('gpuInstanceProfile')} {profile}, but"
        if has_management_mode(pool):
            settings = mapping(pool.part("gpuProfile").get("nvidia"))
            if str(settings.get("migStrategy") or NO_STRATEGY).lower() == NO_STRATEGY:
                yield (
                    nvidia_gpus(pool),
                    f"{has} AKS manages its GPUs without a MIG strategy, and so advertises whole "
                    "GPUs. Set gpuProfile.nvidia.migStrategy to Single or Mixed, or remove the "
                    "profile.",
                    stack_pool.member.urn,
                )
            return
        weighed = [
            (certainty, item)
            for item in software
            if brings_plugin(stack_pool, item) and (certainty := lands(stack_pool, item, clusters))
        ]
        if weighed and all(plugin.mig_strategy() == NO_STRATEGY for _, plugin in weighed):
            labels = " and ".join(plugin.label for _, plugin in weighed)
            yield (
                min(most, nvidia_gpus(pool), max(certainty for certainty, _ in weighed)),
                f"{has} {labels} has no MIG strategy, and so advertises whole GPUs. Set "
                "MIG_STRATEGY of the plugin to single or mixed, or remove the profile.",
                stack_pool.member.urn,
            )

    return unknowns.each(nvidia_pools(members, unknowns), judge)
