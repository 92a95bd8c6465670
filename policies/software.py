"""What of a stack brings GPU drivers, device plugins and DRA drivers to nodes.

That are DaemonSets of NVIDIA's device plugin, and three charts: its plugin, its operator and its
DRA driver. What they leave out of their values is the charts' default.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aks_catalogue import gpu_operator
from aks_catalogue.device_plugin import (
    CAN_FAIL,
    FAILS,
    GPU_TOLERATION,
    MIG_STRATEGY,
    NEWEST,
    NO_STRATEGY,
    is_plugin,
    setting,
    version_of,
)
from aks_catalogue.scheduling import Spec
from aks_catalogue.shapes import at, mapping
from policies.certainty import Certainty
from policies.pods import containers_of, kind_of, pods_of
from policies.stack_rule import Member
from policies.unknowns import Unknowns

PLUGIN, DRIVER, DRA = "device plugin", "driver", "DRA driver"

# What the charts' pods select by default: labels that software discovers on nodes.
_DISCOVERED = (
    ("feature.node.kubernetes.io/pci-10de.present", "true"),
    ("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
    ("nvidia.com/gpu.present", "true"),
)
_TERMS = [
    {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    for key, value in _DISCOVERED
]
_REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": _TERMS}}
_AFFINITY = {"nodeAffinity": _REQUIRED}
_CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}


@dataclass(frozen=True, kw_only=True)
class _Chart:
    """A chart of NVIDIA's; places in its values are dotted paths."""

    label: str
    # The values for its pods, and what they are by default.
    pods: str = ""
    tolerations: tuple[Mapping[str, str], ...] = ()
    affinity: Mapping[str, Any] = field(default_factory=dict)
    # What it brings unless one of these values is false; and what it brings if one is true.
    brings: Mapping[str, tuple[str, ...]]
    brings_if: Mapping[str, str] = field(default_factory=dict)
    # Without this value, it is not certain what the chart brings.
    sure_with: str = ""


_DRA_CHART = _Chart(
    label="the DRA driver {name}",
    pods="kubeletPlugin",
    affinity=_AFFINITY,
    brings={DRA: ("resources.gpus.enabled",)},
    # Current versions of the chart allocate no GPUs without it.
    sure_with="gpuResourcesEnabledOverride",
)
_CHARTS: Mapping[str, _Chart] = {
    "nvidia-device-plugin": _Chart(
        label="the {kind} {name}",
        tolerations=(_CRITICAL, GPU_TOLERATION),
        affinity=_AFFINITY,
        brings={PLUGIN: ("devicePlugin.enabled",)},
    ),
    gpu_operator.CHART: _Chart(
        label="the GPU Operator",
        pods="daemonsets",
        tolerations=(GPU_TOLERATION,),
        brings={
            PLUGIN: ("devicePlugin.enabled", "clusterPolicy.deployCR"),
            DRIVER: ("driver.enabled", "clusterPolicy.deployCR"),
        },
        brings_if={DRA: "gpuCluster.deployCR"},
    ),
    # Its first name, and its name as a project of Kubernetes.
    "nvidia-dra-driver-gpu": _DRA_CHART,
    "dra-driver-nvidia-gpu": _DRA_CHART,
}


@dataclass(frozen=True, kw_only=True)
class Software:
    """Software that brings a driver, a device plugin or a DRA driver to the nodes of its pods."""

    # Its name in messages.
    label: str
    member: Member
    # The pod spec, or its part that the values of a chart have.
    pods: Spec
    brings: frozenset[str]
    # Whether all of this is in the program, and not in files.
    is_certain: bool
    is_operator: bool = False
    # The plugin's container, of a DaemonSet; the values, of a chart.
    container: Mapping[str, Any] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


def software_in(members: Iterable[Member], unknowns: Unknowns) -> list[Software]:
    """Returns the software of the stack. An unknown value hides only the software that has it."""
    parents = {member.resource.parent.urn for member in members if member.resource.parent}

    def of_member(member: Member) -> Iterator[Software]:
        kind = kind_of(member.type)
        if kind == "DaemonSet":
            yield from _daemon_sets(member, unknowns)
        elif kind in ("Release", "Chart"):
            name = chart_of(member.properties)
            # A rendered chart's DaemonSets are resources of the stack; the operator makes its own.
            is_rendered = kind == "Chart" and member.urn in parents
            if name in _CHARTS and (name == gpu_operator.CHART or not is_rendered):
                yield _of_chart(member, name, mapping(member.properties.get("values")))

    return list(unknowns.each(members, of_member))


def unseen_in(members: Iterable[Member], unknowns: Unknowns) -> list[Member]:
    """Returns resources that can install more than can be seen, such as files of manifests."""
    parents = {member.resource.parent.urn for member in members if member.resource.parent}

    def unseen(member: Member) -> Iterator[Member]:
        renders = _RENDERS.fullmatch(member.type) and member.urn not in parents
        if _CLUSTER_POLICY.fullmatch(member.type) or (
            renders and chart_of(member.properties) not in _CHARTS
        ):
            yield member

    return list(unknowns.each(members, unseen))


# Resources that create others from a chart or from manifests, once their cluster exists; and the
# settings of an operator that somebody else installs.
_RENDERS = re.compile(
    r"kubernetes:(helm\.sh/\w+:Chart|yaml(/\w+)?:Config(File|Group)|kustomize(/\w+)?:Directory)"
)
_CLUSTER_POLICY = re.compile(r"kubernetes:nvidia\.com/v1:ClusterPolicy")


def _daemon_sets(member: Member, unknowns: Unknowns) -> Iterator[Software]:
    for pods in pods_of(member.type, member.properties, unknowns):
        if (container := next(filter(is_plugin, containers_of(pods)), None)) is not None:
            yield Software(
                label=f"the DaemonSet {member.name}",
                member=member,
                pods=pods,
                brings=frozenset({PLUGIN}),
                is_certain=True,
                container=container,
            )


_ARCHIVE = re.compile(r"(?P<name>.+?)-v?\d+\.\d+\.\d+.*\.tgz")


def chart_of(properties: Mapping[str, Any]) -> str:
    """Returns a chart's name. `chart` can be a name, a path, or a URL."""
    name = str(properties.get("chart") or "").partition("?")[0].rstrip("/").rpartition("/")[2]
    archive = _ARCHIVE.fullmatch(name)
    return archive["name"] if archive else name.removesuffix(".tgz").partition(":")[0]


def _of_chart(member: Member, name: str, values: Mapping[str, Any]) -> Software:
    chart = _CHARTS[name]
    pods = mapping(at(values, chart.pods)) if chart.pods else values
    brings = {
        part
        for part, paths in chart.brings.items()
        if not any(_is(values, path, "false") for path in paths)
    }
    brings |= {part for part, path in chart.brings_if.items() if _is(values, path, "true")}
    has_files = bool(member.properties.get("valueYamlFiles"))
    kind = "Helm release" if kind_of(member.type) == "Release" else "chart"
    return Software(
        label=chart.label.format(kind=kind, name=member.name),
        member=member,
        pods={
            "nodeSelector": pods.get("nodeSelector"),
            "affinity": pods.get("affinity", chart.affinity),
            "tolerations": pods.get("tolerations", chart.tolerations),
        },
        brings=frozenset(brings),
        is_certain=not has_files and (not chart.sure_with or _is(values, chart.sure_with, "true")),
        is_operator=name == gpu_operator.CHART,
        values=values,
    )


def _is(values: Mapping[str, Any], path: str, written: str) -> bool:
    """Whether a value is true or false, as a boolean or as a text."""
    return str(at(values, path)).lower() == written


def fails_without_gpus(software: Software) -> Certainty:
    """Whether its plugin exits on a node without NVIDIA GPUs."""
    container = software.container
    if software.is_operator or PLUGIN not in software.brings:
        return Certainty.NO
    if container is None:
        # The chart's `config` can set this, too.
        off = _is(software.values, "failOnInitError", "false")
        return Certainty.NO if off else Certainty.POSSIBLE
    version, fails = version_of(str(container.get("image") or "")), setting(container, FAILS)
    if version < CAN_FAIL or (fails or "").lower() in ("false", "f", "0"):
        return Certainty.NO
    # An init container may wait for the driver, and so never let the plugin start without one.
    waits = bool(software.pods.get("initContainers"))
    return Certainty.of(None if fails is None or version == NEWEST or waits else True)


def mig_strategy(software: Software) -> str | None:
    """Returns the MIG strategy of its plugin; None if it is not in the program."""
    if software.container is not None:
        return setting(software.container, MIG_STRATEGY)
    if software.is_operator:
        strategy = at(software.values, "mig.strategy")
        return None if strategy is None else str(strategy)
    # A file that the chart's `config` names can have one, too.
    default = None if software.values.get("config") else NO_STRATEGY
    return str(software.values.get("migStrategy") or default or "") or None
