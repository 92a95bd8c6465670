"""A change of the device plugin's configuration file restarts the plugin.

The device plugin reads its file only when it starts. If a ConfigMap of the stack keeps its name
when its file changes, the plugin's pods stay as they are, and nodes offer as many GPUs as before:
pods that need more replicas stay pending. The rule refuses a DaemonSet of the plugin alone whose
file has `sharing` or `migStrategy`, and in which nothing can change together with the file: no
annotation, no variable or label of its own, no command or probe, no number in names, arguments and
paths, and no output of the ConfigMap, which would replace the DaemonSet with it. What only may go
on as before, `device-plugin-restart-unclear` reports. A controller that restarts pods without an
annotation on them is unknown to the rule, and so are Pulumi's options that replace one resource
with another. It does not read Helm charts.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, that_are
from policies.plugin_config import REMEDY, not_restarted
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin restarts with its configuration",
    description="The pods of a device plugin change with the ConfigMap that they read.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy=REMEDY,
    tags=("gpu", "aks", "device-plugin"),
)
def device_plugin_config_restart(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return that_are(Certainty.CERTAIN, not_restarted(members, unknowns))
