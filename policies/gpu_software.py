"""The software of a stack that brings GPU drivers, device plugins and DRA drivers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
    reads_file,
    setting,
    version_of,
)
from aks_catalogue.scheduling import Spec
from aks_catalogue.shapes import mapping
from policies.certainty import Certainty
from policies.pods import containers_of, is_custom, kind_of, pods_of
from policies.reading import NOT_RENDERED, CannotReadError
from policies.stack_rule import Member
from policies.unknowns import Unknowns

# What can change pods without a change of their resource in the program.
_CHANGES_OTHERS = re.compile(r"command:.*|pulumi-\w+:dynamic.*|kubernetes:.*:DaemonSetPatch")
_PLUGIN_CHART = "nvidia-device-plugin"
# NVIDIA's DRA driver: its first name, and its name as a project of Kubernetes.
_DRA_CHARTS = ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu")
_CHARTS = (gpu_operator.CHART, _PLUGIN_CHART, *_DRA_CHARTS)
# The GPU Operator's custom resource; other operators have a ClusterPolicy, too.
_CLUSTER_POLICY = "kubernetes:nvidia.com/v1:ClusterPolicy"

# The defaults of the charts.
_CRITICAL_TOLERATION = MappingProxyType({"key": "CriticalAddonsOnly", "operator": "Exists"})
_DISCOVERED = (
    ("feature.node.kubernetes.io/pci-10de.present", "true"),
    ("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
    ("nvidia.com/gpu.present", "true"),
)
_PLUGIN_AFFINITY: Mapping[str, Any] = MappingProxyType(
    {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
                    for key, value in _DISCOVERED
                ]
            }
        }
    }
)


def _never() -> Certainty:
    return Certainty.NO


@dataclass(frozen=True, kw_only=True)
class Software:
    """Software that brings a driver, a device plugin or a DRA driver to the nodes of its pods."""

    # Its name in messages.
    label: str
    member: Member
    # The pod spec: its selectors, affinity and tolerations.
    pods: Spec
    plugin: bool
    driver: bool
    # Whether it gives GPUs to pods by Dynamic Resource Allocation.
    dra: bool = False
    is_operator: bool = False
    # How certain `pods`, `plugin` and `driver` are.
    certainty: Certainty = Certainty.CERTAIN
    # Whether the plugin exits on a node without NVIDIA GPUs, and its MIG strategy, if it is known.
    # Functions, so that an unknown value is read only when a rule uses it.
    fails_without_gpus: Callable[[], Certainty] = _never
    mig_strategy: Callable[[], str | None]
    # Whether the plugin has settings in a file, with which it can share GPUs.
    reads_settings: Callable[[], bool]


def some_change_others(members: Iterable[Member]) -> bool:
    """Whether the stack runs commands, or patches DaemonSets: they can differ from the program."""
    return any(_CHANGES_OTHERS.fullmatch(member.type) for member in members)


def software_in(members: Iterable[Member], unknowns: Unknowns) -> list[Software]:
    """Returns the software of the stack. An unknown value hides only the software that has it."""
    parents = {member.resource.parent.urn for member in members if member.resource.parent}

    def of_member(member: Member) -> Iterator[Software]:
        return _software(member, member.urn in parents, unknowns)

    software = list(unknowns.each(members, of_member))
    # A rendered chart of the GPU Operator contains its ClusterPolicy, which is more exact.
    exact = [item for item in software if item.member.type == _CLUSTER_POLICY]
    return [item for item in software if not (exact and kind_of(item.member.type) == "Chart")]


def _software(member: Member, rendered: bool, unknowns: Unknowns) -> Iterator[Software]:
    kind = kind_of(member.type)
    if kind == "DaemonSet":
        for pods in pods_of(member.type, member.properties, unknowns):
            yield from _daemon_set(member, pods)
    elif member.type == _CLUSTER_POLICY:
        yield _operator(member, mapping(member.properties.get("spec")), Certainty.CERTAIN)
    elif kind in ("Release", "Chart"):
        chart, values = _chart(member.properties), mapping(member.properties.get("values"))
        # The pack does not read value files.
        has_files = bool(member.properties.get("valueYamlFiles"))
        certainty = Certainty.POSSIBLE if has_files else Certainty.CERTAIN
        if chart == gpu_operator.CHART:
            yield _operator(member, values, certainty)
        # The DaemonSets of a rendered chart are resources of the stack themselves.
        elif chart in _CHARTS and not (rendered and kind == "Chart"):
            release = _plugin_release if chart == _PLUGIN_CHART else _dra_release
            yield release(member, values, certainty)
    if _RENDERS.fullmatch(member.type) and not rendered:
        if kind == "Chart" and _chart(member.properties) in _CHARTS:
            return
        raise CannotReadError(
            f"{member.name} ({member.type}) {NOT_RENDERED}, so no rule on the stack judges them",
            member.urn,
        )


def _daemon_set(member: Member, pods: Mapping[str, Any]) -> Iterator[Software]:
    places = containers_of(pods)
    containers = [mapping(pods[kind][index]) for kind, index in places]
    # The behavior of a custom resource is unknown.
    certainty = Certainty.POSSIBLE if is_custom(member.type) else Certainty.CERTAIN
    label = f"the DaemonSet {member.name}"
    if (container := next(filter(is_plugin, containers), None)) is None:
        return
    # An init container may wait for the driver, and so never let the plugin start without one.
    is_first = all(kind == "containers" for kind, _ in places)
    at_most = Certainty.CERTAIN if is_first else Certainty.POSSIBLE
    yield Software(
        label=label,
        member=member,
        pods=pods,
        plugin=True,
        driver=False,
        certainty=certainty,
        fails_without_gpus=lambda: min(_fails(container), at_most),
        mig_strategy=lambda: setting(container, MIG_STRATEGY),
        reads_settings=lambda: reads_file(container),
    )


# Resources that create others from a chart or from manifests.
_RENDERS = re.compile(
    r"kubernetes:(helm\.sh/\w+:Chart|yaml(/\w+)?:Config(File|Group)|kustomize(/\w+)?:Directory)"
)
_ARCHIVE = re.compile(r"(?P<name>.+?)-v?\d+\.\d+\.\d+.*\.tgz")


def _chart(properties: Mapping[str, Any]) -> str:
    """Returns a chart's name. `chart` can be a name, a path, or a URL."""
    name = str(properties.get("chart") or "").partition("?")[0].rstrip("/").rpartition("/")[2]
    archive = _ARCHIVE.fullmatch(name)
    return archive["name"] if archive else name.removesuffix(".tgz").partition(":")[0]


def _fails(container: Mapping[str, Any]) -> Certainty:
    version, fails = version_of(str(container.get("image") or "")), setting(container, FAILS)
    if version < CAN_FAIL or (fails or "").lower() in ("false", "f", "0"):
        return Certainty.NO
    return Certainty.POSSIBLE if fails is None or version == NEWEST else Certainty.CERTAIN


def _plugin_release(member: Member, values: Mapping[str, Any], certainty: Certainty) -> Software:
    def fails() -> Certainty:
        # The chart's `config` can set this, too, and the MIG strategy.
        return Certainty.NO if _is_off(values, "failOnInitError") else Certainty.POSSIBLE

    def mig_strategy() -> str | None:
        strategy = values.get("migStrategy")
        return None if values.get("config") and strategy is None else str(strategy or NO_STRATEGY)

    kind = "Helm release" if kind_of(member.type) == "Release" else "chart"
    return Software(
        label=f"the {kind} {member.name}",
        member=member,
        pods={
            "nodeSelector": values.get("nodeSelector"),
            "affinity": _value(values, "affinity", _PLUGIN_AFFINITY),
            "tolerations": _value(values, "tolerations", [_CRITICAL_TOLERATION, GPU_TOLERATION]),
        },
        # A release can install only other parts of the chart.
        plugin=_is_on(values, "devicePlugin"),
        driver=False,
        certainty=certainty,
        fails_without_gpus=fails,
        mig_strategy=mig_strategy,
        reads_settings=lambda: bool(values.get("config")),
    )


def _dra_release(member: Member, values: Mapping[str, Any], certainty: Certainty) -> Software:
    pods = mapping(values.get("kubeletPlugin"))
    # Without this setting, current versions of the chart do not allocate GPUs.
    is_sure = str(values.get("gpuResourcesEnabledOverride")).lower() == "true"
    return Software(
        label=f"the DRA driver {member.name}",
        member=member,
        pods={
            "nodeSelector": pods.get("nodeSelector"),
            "affinity": _value(pods, "affinity", _PLUGIN_AFFINITY),
            "tolerations": pods.get("tolerations"),
        },
        plugin=False,
        driver=False,
        dra=_is_on(mapping(values.get("resources")), "gpus"),
        certainty=certainty if is_sure else Certainty.POSSIBLE,
        mig_strategy=lambda: None,
        reads_settings=lambda: False,
    )


def _operands(settings: Mapping[str, Any]) -> Spec:
    tolerations = _value(mapping(settings.get("daemonsets")), "tolerations", [GPU_TOLERATION])
    return {"tolerations": tolerations}


def _operator(member: Member, values: Mapping[str, Any], certainty: Certainty) -> Software:
    """NVIDIA's GPU Operator. Its ClusterPolicy has the settings under the chart's names."""

    has_policy = not _is_off(mapping(values.get("clusterPolicy")), "deployCR")
    return Software(
        label="the GPU Operator",
        member=member,
        pods=_operands(values),
        plugin=has_policy and _is_on(values, "devicePlugin"),
        driver=has_policy and _is_on(values, "driver"),
        dra=str(mapping(values.get("gpuCluster")).get("deployCR")).lower() == "true",
        is_operator=True,
        certainty=certainty,
        mig_strategy=lambda: mapping(values.get("mig")).get("strategy"),
        reads_settings=lambda: bool(mapping(values.get("devicePlugin")).get("config")),
    )


def _is_on(values: Mapping[str, Any], part: str) -> bool:
    return not _is_off(mapping(values.get(part)), "enabled")


def _is_off(values: Mapping[str, Any], name: str) -> bool:
    """Whether a value is false, as a boolean or as a string."""
    return str(values.get(name)).lower() == "false"


def _value(values: Mapping[str, Any], name: str, default: Any) -> Any:
    value = values.get(name)
    return default if value is None else value
