"""What in a stack brings drivers and device plugins to GPU nodes: DaemonSets and Helm charts."""

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
from catalogue.shapes import mapping
from policies.certainty import Certainty
from policies.pods import containers_of, kind_of, pods_of
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


def software_in(members: Iterable[Member], unknowns: Unknowns) -> list[Software]:
    """All that the stack has of it; an unknown value hides only that of which it is."""
    found = list(unknowns.each(members, _software))
    # A chart of the operator is told by the operator's resource in it, where that is known.
    exact = [one for one in found if one.member.type == _OPERATORS_SETTINGS]
    return [one for one in found if not (exact and kind_of(one.member.type) == "Chart")]


def _software(member: Member) -> Iterator[Software]:
    kind = kind_of(member.type)
    if kind == "DaemonSet":
        pods = pods_of(member.type, member.properties) or {}
        places = containers_of(pods)
        containers = (mapping(pods[where][index]) for where, index in places)
        if (container := next(filter(is_plugin, containers), None)) is not None:
            # What comes before it may wait for the driver, and never end without one.
            is_first = all(kind == "containers" for kind, _ in places)
            at_most = Certainty.CERTAIN if is_first else Certainty.POSSIBLE
            yield Software(
                label=f"the DaemonSet {member.name}",
                member=member,
                pods=pods,
                plugin=True,
                driver=False,
                fails_without_gpus=lambda: min(_fails(container), at_most),
                mig_strategy=lambda: setting(container, MIG_STRATEGY),
            )
    # A chart's DaemonSets are resources of the stack themselves; those of a release are not.
    elif kind == "Release" and _chart(member.properties) == _PLUGIN_CHART:
        yield _plugin_release(member, mapping(member.properties.get("values")))
    elif kind in ("Release", "Chart") and _chart(member.properties) == _OPERATOR_CHART:
        yield _operator(member, mapping(member.properties.get("values")))
    elif member.type == _OPERATORS_SETTINGS:
        yield _operator(member, mapping(member.properties.get("spec")))


def _chart(properties: Mapping[str, Any]) -> str:
    """A chart's name, whether it is said by name, by a path, or by an address."""
    name = str(properties.get("chart") or "").rstrip("/").rpartition("/")[2]
    archive = name.removesuffix(".tgz")
    return archive.rpartition("-")[0] if archive != name else name


def _fails(container: Mapping[str, Any]) -> Certainty:
    version, fails = version_of(str(container.get("image") or "")), setting(container, FAILS)
    if version < CAN_FAIL or (fails or "").lower() in ("false", "f", "0"):
        return Certainty.NO
    return Certainty.POSSIBLE if fails is None or version == NEWEST else Certainty.CERTAIN


def _certainty(member: Member) -> Certainty:
    """Files of values are not read."""
    has_files = member.properties.get("valueYamlFiles")
    return Certainty.POSSIBLE if has_files else Certainty.CERTAIN


def _plugin_release(member: Member, values: Mapping[str, Any]) -> Software:
    def fails() -> Certainty:
        # Both may stand in a configuration that the chart puts into a ConfigMap.
        return Certainty.NO if _is_off(values, "failOnInitError") else Certainty.POSSIBLE

    def mig_strategy() -> str | None:
        said = values.get("migStrategy")
        return None if values.get("config") and said is None else str(said or NO_STRATEGY)

    return Software(
        label=f"the Helm release {member.name}",
        member=member,
        pods={
            "nodeSelector": values.get("nodeSelector"),
            "affinity": _said(values, "affinity", _PLUGIN_AFFINITY),
            "tolerations": _said(values, "tolerations", [_CRITICAL_TOLERATION, _GPU_TOLERATION]),
        },
        # A release can be of the chart's other parts alone.
        plugin=_is_on(values, "devicePlugin"),
        driver=False,
        certainty=_certainty(member),
        fails_without_gpus=fails,
        mig_strategy=mig_strategy,
    )


def _operator(member: Member, values: Mapping[str, Any]) -> Software:
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
        certainty=_certainty(member),
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
