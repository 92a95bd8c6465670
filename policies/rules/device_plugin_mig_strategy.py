"""The device plugin of a MIG pool advertises the partitions of its GPUs.

Without a MIG strategy the device plugin advertises whole GPUs, not partitions. The rule does not
see settings in a configuration file.
"""

from policies.plugin_places import without_mig_strategy
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin advertises MIG partitions",
    description="The device plugin of a node pool with a MIG profile has a MIG strategy.",
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_strategy(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return without_mig_strategy(members, unknowns)
