"""The device plugin tolerates the taints of its GPU pools.

A device plugin whose selectors choose a pool, but which does not tolerate the pool's taints, leaves
the pool's GPUs unschedulable. The rule looks at DaemonSets, the chart `nvidia-device-plugin` and
the GPU Operator; one that can run there is enough. An operator whose device plugin is switched off
by the pool's labels (see `one-gpu-stack-owner`) does not count. Windows pools are left to
`gpu-pool-linux-only`.
"""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from aks_pools.gpus import are_nvidias, driver_by_aks
from policies.certainty import Certainty, StackFinding, with_certainty
from policies.gpu_stack import GpuStack, built_in
from policies.rule import Settings
from policies.scheduling import untolerated
from policies.software import DRA, PLUGIN
from policies.stack_rule import Members, StackFindings, StackPool, StackRule
from policies.unknowns import Unknowns


@StackRule(
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Add a toleration for each taint of the pools to the device plugin.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_tolerates_pools(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, _repelled(members, unknowns))


@StackRule(
    title="The device plugin tolerates the taints of pools that it may be for",
    description="Reports what device-plugin-tolerates-pools refuses, where it is not certain that "
    "the plugin is for the pool, or is the only one. That includes pools without AKS's driver: "
    "whoever installs the driver may bring the plugin too.",
    remedy="Add a toleration for each taint of the pools to the device plugin, or bind it by node "
    "affinity to the names of its pools.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_toleration_unclear(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return with_certainty(Certainty.POSSIBLE, _repelled(members, unknowns))


def _repelled(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields pools whose taints keep away all device plugins that select them."""
    stack = GpuStack(members, unknowns)

    def judge(found: StackPool) -> Iterator[StackFinding]:
        pool = found.pool
        # What cannot be read may be a plugin that tolerates the taints.
        if built_in(found) or not stack.is_readable:
            return
        selecting = [
            (certainty, plugin, untolerated(pool, plugin.pods))
            for certainty, plugin in stack.selecting(found, PLUGIN)
        ]
        # One that tolerates the taints is enough; a DRA driver lets pods use the GPUs, too.
        if not all(taints for _, _, taints in selecting) or any(
            not untolerated(pool, driver.pods) for _, driver in stack.selecting(found, DRA)
        ):
            return
        if not selecting or not pool.runs_linux():
            return
        # What is not seen can bring one, and so can who installs the driver in place of AKS.
        is_sure = stack.is_whole and driver_by_aks(pool)
        most = min(Certainty.of(is_sure or None), Certainty.of(are_nvidias(pool)))
        for certainty, plugin, taints in selecting:
            yield (
                min(certainty, most),
                f"{pool.label} has the taints {', '.join(taints)}, which {plugin.label} does not "
                "tolerate, so Kubernetes cannot schedule its GPUs. Add tolerations for them to the "
                "device plugin.",
                found.member.urn,
            )

    return stack.each_pool(judge, unknowns)
