"""A change of the device plugin's configuration file is seen to restart the plugin.

The rule finds what `device-plugin-config-restart` refuses, where something may restart the plugin
that is not known to: another annotation, container or variable, a command of the stack, or a name
with a number in it. It accepts every annotation with a checksum, a hash or a version, and those of
Reloader.
"""

from policies.certainty import Certainty, that_are
from policies.plugin_config import REMEDY, not_restarted
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin clearly restarts with its configuration",
    description="The pods of a device plugin clearly change with the ConfigMap that they read.",
    remedy=REMEDY,
    tags=("gpu", "aks", "device-plugin"),
)
def device_plugin_restart_unclear(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    return that_are(Certainty.POSSIBLE, not_restarted(members, unknowns))
