"""The device plugin of a MIG pool offers the partitions of its GPUs.

Without a strategy the device plugin offers whole GPUs, not partitions. A setting in a configuration
file is not seen.
"""

from policies.plugin_places import without_mig_strategy
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin offers MIG's partitions",
    description="The device plugin of a node pool with a MIG profile has a strategy for MIG.",
    remedy="Set the device plugin's MIG_STRATEGY to single or mixed, on the MIG pools.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_strategy(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return without_mig_strategy(members, unknowns)
