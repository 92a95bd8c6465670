"""The pods that Kubernetes resources create, and their containers."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from aks_catalogue.shapes import mapping, sequence
from policies.unknowns import Unknowns

_TEMPLATE = ("spec", "template", "spec")
# The path of the pod spec, by the resource's kind.
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
# API groups of Kubernetes itself, and the group of Pulumi's Helm resources.
_NOT_CUSTOM = (".k8s.io", "helm.sh")
# Such as kubernetes:apps/v1:DaemonSet, kubernetes:apps/v1:DaemonSetPatch for a server-side apply
# patch, and kubernetes:apps/v1:DaemonSetList for a list.
_TYPE = re.compile(r"kubernetes:(?P<group>[\w.-]+)/\w+:(?P<kind>\w+?)(Patch|(?P<list>List))?")


def kind_of(resource_type: str) -> str:
    """Returns a Kubernetes resource's kind, without its version; empty for other resources."""
    match = _TYPE.fullmatch(resource_type)
    return match["kind"] if match else ""


def is_custom(resource_type: str) -> bool:
    """Whether a Kubernetes resource is a custom resource."""
    match = _TYPE.fullmatch(resource_type)
    return bool(match and "." in match["group"] and not match["group"].endswith(_NOT_CUSTOM))


def pods_of(
    resource_type: str, properties: Mapping[str, Any], unknowns: Unknowns
) -> Iterator[Mapping[str, Any]]:
    """Yields the specs of the pods that a resource creates."""
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
    """Returns the place of each container: its list, and its index. Reads no container."""
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
    """Yields every object with containers: a custom resource can have pod templates anywhere."""
    if isinstance(whole, Mapping):
        if sequence(whole.get("containers")):
            yield whole
            return
        places: Any = whole
    else:
        places = range(len(sequence(whole)))
    for place in places:
        part = None
        # An unknown property of a custom resource is ignored, unless it usually contains pods.
        with Unknowns().deferred(again=place in ("containers", "spec", "template")):
            part = whole[place]
        yield from _templates(part)
