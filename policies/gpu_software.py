"""What in a stack brings drivers and device plugins to GPU nodes: DaemonSets and Helm charts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from catalogue.device_plugin import GPU, is_plugin
from catalogue.scheduling import Spec
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
        if any(is_plugin(pods[where][index]) for where, index in containers_of(pods)):
            yield Software(
                label=f"the DaemonSet {member.name}",
                member=member,
                pods=pods,
                plugin=True,
                driver=False,
            )
    # A chart's DaemonSets are resources of the stack themselves; those of a release are not.
    elif kind == "Release" and _chart(member.properties) == _PLUGIN_CHART:
        yield _plugin_release(member, member.properties.get("values") or {})
    elif kind in ("Release", "Chart") and _chart(member.properties) == _OPERATOR_CHART:
        yield _operator(member, member.properties.get("values") or {})
    elif member.type == _OPERATORS_SETTINGS:
        yield _operator(member, member.properties.get("spec") or {})


def _chart(properties: Mapping[str, Any]) -> str:
    """A chart's name, whether it is said by name, by a path, or by an address."""
    name = str(properties.get("chart") or "").rstrip("/").rpartition("/")[2]
    archive = name.removesuffix(".tgz")
    return archive.rpartition("-")[0] if archive != name else name


def _plugin_release(member: Member, values: Mapping[str, Any]) -> Software:
    # The chart's own affinity asks for labels that are discovered on the nodes: they can be there.
    return Software(
        label=f"the Helm release {member.name}",
        member=member,
        pods={
            "nodeSelector": values.get("nodeSelector"),
            "affinity": values.get("affinity"),
            "tolerations": _said(values, "tolerations", [_CRITICAL_TOLERATION, _GPU_TOLERATION]),
        },
        plugin=True,
        driver=False,
    )


def _operator(member: Member, values: Mapping[str, Any]) -> Software:
    """NVIDIA's GPU Operator; its custom resource has its settings by the chart's names."""
    return Software(
        label="the GPU Operator",
        member=member,
        pods={
            "tolerations": _said(values.get("daemonsets") or {}, "tolerations", [_GPU_TOLERATION])
        },
        plugin=_is_on(values, "devicePlugin"),
        driver=_is_on(values, "driver"),
        is_operator=True,
    )


def _is_on(values: Mapping[str, Any], part: str) -> bool:
    said = (values.get(part) or {}).get("enabled")
    return said is None or bool(said)


def _said(values: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    said = values.get(name)
    return otherwise if said is None else said
