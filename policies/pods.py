"""The pods that Kubernetes resources make, and their containers."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from catalogue.shapes import mapping, sequence
from policies.unknowns import Unknowns

_TEMPLATE = ("spec", "template", "spec")
# Where the pods' specification stands in a resource, by the resource's kind.
_SPEC: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Pod": ("spec",),
        "PodTemplate": ("template", "spec"),
        "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
        **dict.fromkeys(
            (
                "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController",
                "StatefulSet",
            ),
            _TEMPLATE,
        ),
    }
)  # fmt: skip
# Groups of Kubernetes' own, and Pulumi's for Helm, whose values mean what the chart makes of them.
_NOT_CUSTOM = (".k8s.io", "helm.sh")
# kubernetes:apps/v1:DaemonSet, kubernetes:apps/v1:DaemonSetPatch for a part of one, and
# kubernetes:apps/v1:DaemonSetList for several.
_TYPE = re.compile(r"kubernetes:(?P<group>[\w.-]+)/\w+:(?P<kind>\w+?)(Patch|(?P<list>List))?")


def kind_of(resource_type: str) -> str:
    """A Kubernetes resource's kind, of whatever version; empty for other resources."""
    match = _TYPE.fullmatch(resource_type)
    return match["kind"] if match else ""


def is_custom(resource_type: str) -> bool:
    """Whether a Kubernetes resource is of a kind that somebody has added to the cluster."""
    match = _TYPE.fullmatch(resource_type)
    return bool(match and "." in match["group"] and not match["group"].endswith(_NOT_CUSTOM))


def pods_of(
    resource_type: str, properties: Mapping[str, Any], unknowns: Unknowns
) -> Iterator[Mapping[str, Any]]:
    """The specifications of the pods that a resource makes."""
    match = _TYPE.fullmatch(resource_type)
    if match is None:
        return
    if is_custom(resource_type):
        yield from _templates(properties)
        return
    path = _SPEC.get(match["kind"])
    if path is not None and match["list"]:
        items = sequence(properties.get("items"))
        yield from unknowns.each(range(len(items)), lambda index: [_at(items[index], path)])
    elif path is not None:
        yield _at(properties, path)


def containers_of(pods: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Where the containers are: in which list, and at which place of it. None is read yet."""
    return [
        (kind, index)
        for kind in ("initContainers", "containers")
        for index in range(len(sequence(pods.get(kind))))
    ]


def _at(whole: Any, path: tuple[str, ...]) -> Mapping[str, Any]:
    for step in path:
        whole = mapping(whole).get(step)
    return mapping(whole)


def _templates(whole: Any) -> Iterator[Mapping[str, Any]]:
    """What has containers, at whatever place: custom workloads have templates of pods in them."""
    if isinstance(whole, Mapping):
        if sequence(whole.get("containers")):
            yield whole
            return
        places: Any = whole
    else:
        places = range(len(sequence(whole)))
    for place in places:
        inside = None
        # Of a custom resource, what is not known yet is seldom its pods.
        with Unknowns().deferred(again=place in ("containers", "spec", "template")):
            inside = whole[place]
        yield from _templates(inside)
