"""The device plugin tolerates the taints of pools that it may be for.

The rule finds what `device-plugin-tolerates-pools` refuses, where it is not certain that the plugin
is for the pool. That includes pools without AKS's driver: whoever installs the driver may bring the
plugin too.
"""

from policies.certainty import Certainty, that_are
from policies.plugin_places import repelled
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin tolerates the taints of pools that it may be for",
    description="The device plugin tolerates the taints of the GPU node pools that it may select.",
    remedy="Add a toleration for each taint of the pools to the device plugin, or bind it by node "
    "affinity to the names of its pools.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_toleration_unclear(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return that_are(Certainty.POSSIBLE, repelled(members, unknowns))
