"""The device plugin cannot run on nodes without GPUs, whatever else is in the cluster.

The rule finds device plugins that can run on nodes without GPUs and would exit there: their
selectors do not ask for GPUs, and the cluster has pools outside this stack or provisions nodes by
itself.
"""

from policies.certainty import Certainty, that_are
from policies.plugin_places import failing
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin is bound to GPU pools",
    description="No device plugin can run on nodes without GPUs, where it would fail.",
    remedy="Bind the device plugin to the GPU pools by node affinity, for example to the pools' "
    'names; or set its FAIL_ON_INIT_ERROR to "false", so that it waits on other nodes.',
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_bound_to_pools(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return that_are(Certainty.POSSIBLE, failing(members, unknowns))
