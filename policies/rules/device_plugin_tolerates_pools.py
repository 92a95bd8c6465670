"""The device plugin tolerates the taints of its GPU pools.

A device plugin whose selectors choose a pool, but which does not tolerate the pool's taints, leaves
the pool's GPUs unschedulable. The rule looks at DaemonSets, the chart `nvidia-device-plugin` and
the GPU Operator; one that can run there is enough. An operator whose device plugin is switched off
by the pool's labels (see `one-gpu-stack-owner`) does not count. Windows pools are left to
`gpu-pool-linux-only`.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, with_certainty
from policies.plugin_places import repelled
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin tolerates the pools' taints",
    description="The device plugin tolerates the taints of the GPU node pools that it selects.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Add a toleration for each taint of the pools to the device plugin.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_tolerates_pools(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, repelled(members, unknowns))


@StackRule(
    title="The device plugin tolerates the taints of pools that it may be for",
    description="Reports what device-plugin-tolerates-pools refuses, where it is not certain that "
    "the plugin is for the pool. That includes pools without AKS's driver: whoever installs the "
    "driver may bring the plugin too.",
    remedy="Add a toleration for each taint of the pools to the device plugin, or bind it by node "
    "affinity to the names of its pools.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_toleration_unclear(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return with_certainty(Certainty.POSSIBLE, repelled(members, unknowns))
