"""The device plugin of a MIG pool advertises the partitions of its GPUs.

Without a MIG strategy the device plugin advertises whole GPUs, not partitions: pods get one GPU
where they could have seven. That is so for a DaemonSet, for the charts of NVIDIA, and for AKS's own
plugin on a pool whose GPUs it manages, whose `migStrategy` is `None` by default. The rule does not
see settings in a configuration file.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, with_certainty
from policies.plugin_places import without_mig_strategy
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin advertises MIG partitions",
    description="The device plugin of a node pool with a MIG profile has a MIG strategy.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools; where AKS "
    "manages the GPUs, set gpuProfile.nvidia.migStrategy; or remove the profile.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_strategy(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, without_mig_strategy(members, unknowns))


@StackRule(
    title="The device plugin clearly advertises MIG partitions",
    description="Reports what device-plugin-mig-strategy refuses, where it is not certain that the "
    "plugin is for the pool, or that it is the only one there.",
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_unclear(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.POSSIBLE, without_mig_strategy(members, unknowns))
