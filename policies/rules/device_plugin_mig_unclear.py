"""The device plugin of a MIG pool clearly advertises the partitions of its GPUs.

The rule finds what `device-plugin-mig-strategy` refuses, where it is not certain that the plugin is
for the pool, or that it is the only one there.
"""

from policies.certainty import Certainty, that_are
from policies.plugin_places import without_mig_strategy
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin clearly advertises MIG partitions",
    description="A device plugin that may be for a pool with a MIG profile has a MIG strategy.",
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_unclear(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return that_are(Certainty.POSSIBLE, without_mig_strategy(members, unknowns))
