"""What in a stack brings drivers and device plugins to GPU nodes: DaemonSets and Helm charts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from catalogue.device_plugin import (
    CAN_FAIL,
    FAILS,
    GPU,
    MIG_STRATEGY,
    NEWEST,
    NO_STRATEGY,
    is_plugin,
    setting,
    version_of,
)
from catalogue.scheduling import Spec
from catalogue.shapes import mapping, mappings
from policies.certainty import Certainty
from policies.pods import containers_of, is_custom, kind_of, pods_of
from policies.reading import CannotReadError
from policies.stack_rule import Member
from policies.unknowns import Unknowns

_PLUGIN_CHART = "nvidia-device-plugin"
_OPERATOR_CHART = "gpu-operator"
# The operator's own resource; others have one of that name, too.
_OPERATORS_SETTINGS = "kubernetes:nvidia.com/v1:ClusterPolicy"

# What the charts have where their values say nothing.
_GPU_TOLERATION = MappingProxyType({"key": GPU, "operator": "Exists", "effect": "NoSchedule"})
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
    """Something that brings a driver, a device plugin, or both, where its pods land."""

    label: str
    member: Member
    # What its pods say of the nodes that they land on.
    pods: Spec
    plugin: bool
    driver: bool
    is_operator: bool = False
    # How sure it is that its pods are as they are described here.
    certainty: Certainty = Certainty.CERTAIN
    # Whether the plugin exits on a node without NVIDIA's GPUs, and its strategy for MIG, where that
    # is known. Each is read when it is asked for.
    fails_without_gpus: Callable[[], Certainty] = _never
    mig_strategy: Callable[[], str | None]


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A chart that something installs, with the values it is given as far as they are seen."""

    name: str
    values: Mapping[str, Any]
    certainty: Certainty


def software_in(members: Iterable[Member], unknowns: Unknowns) -> list[Software]:
    """All that the stack has of it; an unknown value hides only that of which it is."""
    rendered = {one.resource.parent.urn for one in members if one.resource.parent}
    found = list(unknowns.each(members, lambda one: _software(one, one.urn in rendered, unknowns)))
    # A chart of the operator is told by the operator's resource in it, where that is known.
    exact = [one for one in found if one.member.type == _OPERATORS_SETTINGS]
    return [one for one in found if not (exact and kind_of(one.member.type) == "Chart")]


def _software(member: Member, rendered: bool, unknowns: Unknowns) -> Iterator[Software]:
    kind = kind_of(member.type)
    if kind == "DaemonSet":
        for pods in pods_of(member.type, member.properties, unknowns):
            yield from _daemon_set(member, pods)
    elif member.type == _OPERATORS_SETTINGS:
        yield _operator(member, mapping(member.properties.get("spec")), Certainty.CERTAIN)
    elif kind in _INSTALLERS:
        charts = [*_INSTALLERS[kind](member.properties)]
        for one in charts:
            if one.name == _OPERATOR_CHART:
                yield _operator(member, one.values, one.certainty)
            # A chart's DaemonSets are resources of the stack themselves, once it is rendered.
            elif one.name == _PLUGIN_CHART and not (rendered and kind == "Chart"):
                yield _plugin_release(member, one.values, one.certainty)
    if _RENDERS.fullmatch(member.type) and not rendered:
        if kind == "Chart" and _chart(member.properties) in (_OPERATOR_CHART, _PLUGIN_CHART):
            return
        raise CannotReadError(
            f"{member.name} ({member.type}) has no resources yet: what it makes once its cluster "
            "is there is not judged",
            member.urn,
        )


def _daemon_set(member: Member, pods: Mapping[str, Any]) -> Iterator[Software]:
    places = containers_of(pods)
    containers = (mapping(pods[where][index]) for where, index in places)
    if (container := next(filter(is_plugin, containers), None)) is None:
        return
    # What comes before it may wait for the driver, and never end without one.
    is_first = all(kind == "containers" for kind, _ in places)
    at_most = Certainty.CERTAIN if is_first else Certainty.POSSIBLE
    yield Software(
        label=f"the DaemonSet {member.name}",
        member=member,
        pods=pods,
        plugin=True,
        driver=False,
        # What a custom resource of that name does nobody knows.
        certainty=Certainty.POSSIBLE if is_custom(member.type) else Certainty.CERTAIN,
        fails_without_gpus=lambda: min(_fails(container), at_most),
        mig_strategy=lambda: setting(container, MIG_STRATEGY),
    )


def _by_helm(properties: Mapping[str, Any]) -> Iterator[Installed]:
    # Files of values are not read.
    sure = Certainty.POSSIBLE if properties.get("valueYamlFiles") else Certainty.CERTAIN
    values = mapping(properties.get("values"))
    yield Installed(name=_chart(properties), values=values, certainty=sure)
    yield from _inside(values)


def _by_flux(properties: Mapping[str, Any]) -> Iterator[Installed]:
    spec = mapping(properties.get("spec"))
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    elsewhere = any(name in spec for name in ("valuesFrom", "kubeConfig", "suspend"))
    sure = Certainty.POSSIBLE if elsewhere else Certainty.CERTAIN
    values = mapping(spec.get("values"))
    yield Installed(name=_chart(chart), values=values, certainty=sure)
    yield from _inside(values)


def _by_argo(properties: Mapping[str, Any]) -> Iterator[Installed]:
    """To which cluster, and whether it is synchronised at all, others decide."""
    spec = mapping(properties.get("spec"))
    for source in [mapping(spec.get("source")), *mappings(spec.get("sources"))]:
        values = mapping(mapping(source.get("helm")).get("valuesObject"))
        yield Installed(name=_chart(source), values=values, certainty=Certainty.POSSIBLE)
        yield from _inside(values)


def _inside(values: Mapping[str, Any]) -> Iterator[Installed]:
    """The charts that a chart has others in it for: by their names it gives them values."""
    for name in (_OPERATOR_CHART, _PLUGIN_CHART):
        theirs = mapping(values.get(name))
        if name in values and not _is_off(theirs, "enabled"):
            yield Installed(name=name, values=theirs, certainty=Certainty.POSSIBLE)


_INSTALLERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Installed]]] = MappingProxyType(
    {"Release": _by_helm, "Chart": _by_helm, "HelmRelease": _by_flux, "Application": _by_argo}
)
# What the engine makes other resources of.
_RENDERS = re.compile(
    r"kubernetes:(helm\.sh/\w+:Chart|yaml(/\w+)?:Config(File|Group)|kustomize(/\w+)?:Directory)"
)
_CHART = "chart"
_LABELS = MappingProxyType({"Release": "Helm release", "Application": "application"})
_ARCHIVE = re.compile(r"(?P<name>.+?)-v?\d+\.\d+\.\d+.*\.tgz")


def _chart(properties: Mapping[str, Any]) -> str:
    """A chart's name, whether it is said by name, by a path, or by an address."""
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
        # Both may stand in a configuration that the chart puts into a ConfigMap.
        return Certainty.NO if _is_off(values, "failOnInitError") else Certainty.POSSIBLE

    def mig_strategy() -> str | None:
        said = values.get("migStrategy")
        return None if values.get("config") and said is None else str(said or NO_STRATEGY)

    return Software(
        label=f"the {_LABELS.get(kind_of(member.type), _CHART)} {member.name}",
        member=member,
        pods={
            "nodeSelector": values.get("nodeSelector"),
            "affinity": _said(values, "affinity", _PLUGIN_AFFINITY),
            "tolerations": _said(values, "tolerations", [_CRITICAL_TOLERATION, _GPU_TOLERATION]),
        },
        # A release can be of the chart's other parts alone.
        plugin=_is_on(values, "devicePlugin"),
        driver=False,
        certainty=certainty,
        fails_without_gpus=fails,
        mig_strategy=mig_strategy,
    )


def _operator(member: Member, values: Mapping[str, Any], certainty: Certainty) -> Software:
    """NVIDIA's GPU Operator; its custom resource has its settings by the chart's names."""
    return Software(
        label="the GPU Operator",
        member=member,
        pods={
            "tolerations": _said(
                mapping(values.get("daemonsets")), "tolerations", [_GPU_TOLERATION]
            )
        },
        plugin=_is_on(values, "devicePlugin"),
        driver=_is_on(values, "driver"),
        is_operator=True,
        certainty=certainty,
        mig_strategy=lambda: mapping(values.get("mig")).get("strategy"),
    )


def _is_on(values: Mapping[str, Any], part: str) -> bool:
    return not _is_off(mapping(values.get(part)), "enabled")


def _is_off(values: Mapping[str, Any], name: str) -> bool:
    """Whether a value is off; the configuration of a stack has texts, too."""
    return str(values.get(name)).lower() == "false"


def _said(values: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    said = values.get(name)
    return otherwise if said is None else said
