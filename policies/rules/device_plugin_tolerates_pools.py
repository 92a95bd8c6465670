"""The device plugin tolerates the taints of its GPU pools.

A device plugin whose selectors choose a pool, but which does not tolerate the pool's taints, leaves
the pool's GPUs unschedulable. The rule looks at DaemonSets, the chart `nvidia-device-plugin` and
the GPU Operator; one that can run there is enough. An operator whose device plugin is switched off
by the pool's labels (see `one-gpu-stack-owner`) does not count. Windows pools are left to
`gpu-pool-linux-only`.
"""

from collections.abc import Iterator

from aks_pools.gpus import are_nvidias, driver_by_aks
from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack, built_in
from policies.gpu_stack_rule import GpuStackRule
from policies.scheduling import untolerated
from policies.software import DRA, PLUGIN
from policies.stack_rule import StackPool
from policies.unknowns import Unknowns


@GpuStackRule(
    remedy="Add a toleration for each taint of the pools to the device plugin.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_tolerates_pools(stack: GpuStack, unknowns: Unknowns) -> Iterator[StackFinding]:
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
