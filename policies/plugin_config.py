"""Device plugins that go on with an old configuration after their ConfigMap has changed."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from catalogue.device_plugin import configuration_file, is_plugin
from catalogue.shapes import at, mapping, mappings, sequence
from policies.certainty import Certainty, Weighed
from policies.gpu_software import Software, software_in, some_change_others
from policies.pods import kind_of
from policies.stack_rule import Member, Members
from policies.unknowns import Unknowns

# Of the rules on what is found here.
REMEDY = (
    "Put a checksum of the ConfigMap into an annotation of the DaemonSet's pod template, or leave "
    "out the ConfigMap's name, so that Pulumi gives each version a name of its own."
)
_RESTARTS = re.compile("checksum|hash|sha|version|revision|reload|restart", re.IGNORECASE)
# Annotations that are for Pulumi alone, and the one of a name that Pulumi has made.
_OF_PULUMI, _AUTONAMED = "pulumi.com/", "pulumi.com/autonamed"
# The plugin's own variables; any other one could be there to restart it.
_OF_PLUGIN = re.compile(
    "CONFIG_FILE|MIG_STRATEGY|FAIL_ON_INIT_ERROR|PASS_DEVICE_SPECS|DEVICE_(LIST|ID)_STRATEGY|"
    "NVIDIA_(VISIBLE_DEVICES|DRIVER_CAPABILITIES|DRIVER_ROOT|DEV_ROOT|MIG_MONITOR_DEVICES)"
)
# What a container, and its volumes, have that can neither watch a file nor end the container.
_PLAIN_CONTAINER = {
    "name", "image", "imagePullPolicy", "args", "env", "resources", "securityContext",
    "volumeMounts",
}  # fmt: skip
_PLAIN_VOLUME = {"name", "configMap", "hostPath", "emptyDir"}
# What in the file decides how many GPUs a node offers, and under which names.
_COUNTS = re.compile(r"^\s*(sharing|migStrategy)\s*:", re.MULTILINE)
_DIGIT = re.compile(r"\d")


def not_restarted(members: Members, unknowns: Unknowns) -> Iterator[Weighed]:
    """Yields device plugins that a change of their ConfigMap does not restart."""
    most = Certainty.of(not some_change_others(members)) or Certainty.POSSIBLE

    def names(member: Member) -> list[tuple[Member, Mapping[str, Any]]]:
        metadata = mapping(member.properties.get("metadata"))
        is_fixed = metadata.get("name") and _AUTONAMED not in mapping(metadata.get("annotations"))
        return [(member, metadata)] if kind_of(member.type) == "ConfigMap" and is_fixed else []

    config_maps = [*unknowns.each(members, names)]

    def judge(software: Software) -> Iterator[Weighed]:
        plugin = software.member
        if not software.plugin or kind_of(plugin.type) != "DaemonSet":
            return
        # The DaemonSets of a list have metadata of their own.
        if "items" in plugin.properties:
            return
        metadata = mapping(plugin.properties.get("metadata"))
        if any(map(_RESTARTS.search, (*_annotations(metadata), *_annotations(_template(plugin))))):
            return
        for volume in mappings(software.pods.get("volumes")):
            name = at(volume, "configMap.name")
            for config_map, its in config_maps:
                if its["name"] == name and its.get("namespace") == metadata.get("namespace"):
                    certainty = min(
                        most,
                        software.certainty,
                        _is_stuck(software),
                        _is_apart(plugin, config_map),
                        _decides(software, volume, config_map),
                    )
                    yield (
                        certainty,
                        f"{software.label} reads the ConfigMap {name} only when its pods start, "
                        "and no annotation restarts them when it changes: nodes then go on "
                        "offering the GPUs as before. Put a checksum of the ConfigMap into an "
                        "annotation of the pod template.",
                        plugin.urn,
                    )

    yield from unknowns.each(software_in(members, unknowns), judge)


def _annotations(metadata: Mapping[str, Any]) -> list[str]:
    return [*mapping(metadata.get("annotations"))]


def _template(plugin: Member) -> Mapping[str, Any]:
    """Returns the metadata of the plugin's pods."""
    return mapping(at(plugin.properties, "spec.template.metadata"))


def _is_apart(plugin: Member, config_map: Member) -> Certainty:
    """Whether the DaemonSet has no output of the ConfigMap: replaced, that would replace it too."""
    dependencies = plugin.resource.property_dependencies.values()
    urns = {resource.urn for resources in dependencies for resource in resources}
    return Certainty.of(config_map.urn not in urns) or Certainty.POSSIBLE


def _is_stuck(software: Software) -> Certainty:
    """Whether nothing in the plugin's DaemonSet can differ between two contents of the file."""
    plugin = software.member
    metadata, template = mapping(plugin.properties.get("metadata")), _template(plugin)
    selected = mapping(at(plugin.properties, "spec.selector.matchLabels"))
    containers = [*mappings(software.pods.get("containers"))]
    volumes = [*mappings(software.pods.get("volumes"))]
    variables = [one for each in containers for one in mappings(each.get("env"))]
    texts = [
        metadata.get("name"),
        *mapping(template.get("labels")).values(),
        *(volume.get("name") for volume in volumes),
        *(at(volume, "configMap.name") for volume in volumes),
        *(one.get("value") for one in variables),
        *(each.get("name") for each in containers),
        *(argument for each in containers for argument in sequence(each.get("args"))),
        *(
            mount.get("mountPath")
            for each in containers
            for mount in mappings(each.get("volumeMounts"))
        ),
    ]
    return (
        Certainty.of(
            # A controller can know what to restart by any annotation.
            all(name.startswith(_OF_PULUMI) for name in _annotations(metadata))
            and not _annotations(template)
            and mapping(template.get("labels")).keys() <= selected.keys()
            # A second container can watch the file.
            and len(containers) == 1
            and not software.pods.get("initContainers")
            and all(each.keys() <= _PLAIN_CONTAINER for each in containers)
            and all(volume.keys() <= _PLAIN_VOLUME for volume in volumes)
            and all(_OF_PLUGIN.fullmatch(str(one.get("name"))) for one in variables)
            # A text with a number can be another one for each content.
            and not any(_DIGIT.search(str(text)) for text in texts)
        )
        or Certainty.POSSIBLE
    )


def _decides(software: Software, volume: Mapping[str, Any], config_map: Member) -> Certainty:
    """Whether the plugin's GPUs depend on a file of this ConfigMap."""
    container = next(filter(is_plugin, mappings(software.pods.get("containers"))), {})
    folder, _, file = (configuration_file(container) or "").rpartition("/")
    text = mapping(config_map.properties.get("data")).get(file)
    return (
        Certainty.of(
            software.member.provider_urn == config_map.provider_urn
            and any(
                mount.get("name") == volume.get("name") and str(mount.get("mountPath")) == folder
                for mount in mappings(container.get("volumeMounts"))
            )
            and bool(_COUNTS.search(str(text or "")))
        )
        or Certainty.POSSIBLE
    )
