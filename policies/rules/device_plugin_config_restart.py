"""A change of the device plugin's configuration file restarts the plugin.

The device plugin reads its file only when it starts. If a ConfigMap of the stack keeps its name
when its file changes, the plugin's pods stay as they are, and nodes offer as many GPUs as before:
pods that need more replicas stay pending. The rule accepts every annotation with a checksum, a hash
or a version, and those of Reloader. It does not read Helm charts.
"""

import re

from catalogue.shapes import mapping, mappings
from policies.gpu_software import Software, software_in
from policies.pods import kind_of
from policies.rule import Settings
from policies.stack_rule import Member, Members, StackFindings, StackRule
from policies.unknowns import Unknowns

_RESTARTS = re.compile("checksum|hash|sha|version|revision|reload|restart", re.IGNORECASE)


@StackRule(
    title="The device plugin restarts with its configuration",
    description="The pods of a device plugin change with the ConfigMap that they read.",
    remedy="Put a checksum of the ConfigMap into an annotation of the DaemonSet's pod template, or "
    "leave out the ConfigMap's name, so that Pulumi gives each version a name of its own.",
    tags=("gpu", "aks", "device-plugin"),
)
def device_plugin_config_restart(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    names = {*unknowns.each(members, _name_of_config_map)}

    def judge(software: Software) -> StackFindings:
        member = software.member
        if kind_of(member.type) != "DaemonSet":
            return
        template = mapping(mapping(member.properties.get("spec")).get("template"))
        annotated = (mapping(each.get("metadata")) for each in (member.properties, template))
        keys = [key for each in annotated for key in mapping(each.get("annotations"))]
        if any(map(_RESTARTS.search, keys)):
            return
        for volume in mappings(software.pods.get("volumes")):
            name = mapping(volume.get("configMap")).get("name")
            if name in names:
                yield (
                    f"{software.label} reads the ConfigMap {name} only when its pods start, and no "
                    "annotation restarts them when it changes: nodes then go on offering the GPUs "
                    "as before.",
                    member.urn,
                )

    yield from unknowns.each(software_in(members, unknowns), judge)


def _name_of_config_map(member: Member) -> list[str]:
    if kind_of(member.type) != "ConfigMap":
        return []
    name = mapping(member.properties.get("metadata")).get("name")
    return [name] if name else []
