"""The device plugin stays off the stack's nodes that have no GPUs for it."""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, that_are
from policies.plugin_places import failing
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin runs on GPU nodes",
    description="No device plugin lands on a pool of the stack where it would fail.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Bind the device plugin to the GPU pools by node affinity, as to their names; or let it "
    'wait on other nodes, by its FAIL_ON_INIT_ERROR "false".',
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_on_gpu_nodes(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return that_are(Certainty.CERTAIN, failing(members, unknowns))
