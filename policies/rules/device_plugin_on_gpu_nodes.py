"""The device plugin does not run on nodes of the stack without NVIDIA GPUs.

On a node without an NVIDIA GPU the device plugin exits, unless `FAIL_ON_INIT_ERROR` is `"false"` or
the plugin is of 2018; on Windows its image does not start. Its pods restart forever, and an update
that waits for them fails after ten minutes. A value that a shell sets, or that an init container
waits for, is not known: `device-plugin-bound-to-pools` reports it.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, with_certainty
from policies.plugin_places import failing
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns

_REMEDY = (
    "Bind the device plugin to the GPU pools by node affinity, for example to the pools' names; or "
    'set its FAIL_ON_INIT_ERROR to "false", so that it waits on other nodes.'
)


@StackRule(
    title="The device plugin runs on GPU nodes",
    description="No device plugin runs on a pool of the stack where it would fail.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy=_REMEDY,
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_on_gpu_nodes(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, failing(members, unknowns))


@StackRule(
    title="The device plugin is bound to GPU pools",
    description="Reports device plugins that can run on nodes without GPUs and would exit there: "
    "their selectors do not ask for GPUs, and the cluster has pools outside this stack or "
    "provisions nodes by itself.",
    remedy=_REMEDY,
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_bound_to_pools(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return with_certainty(Certainty.POSSIBLE, failing(members, unknowns))
