"""The pods that Kubernetes resources create, and their containers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_catalogue.shapes import at, mapping, mappings, sequence
from policies.unknowns import Unknowns

# The path of the pod spec, by the resource's kind.
_SPEC: Mapping[str, str] = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
    **dict.fromkeys(
        (
            "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController",
            "StatefulSet",
        ),
        "spec.template.spec",
    ),
}  # fmt: skip
# API groups of Kubernetes itself, and the group of Pulumi's Helm resources.
_NOT_CUSTOM = (".k8s.io", "helm.sh")
# Such as kubernetes:apps/v1:DaemonSet, kubernetes:apps/v1:DaemonSetPatch for a server-side apply
# patch, and kubernetes:apps/v1:DaemonSetList for a list.
_TYPE = re.compile(r"kubernetes:(?P<group>[\w.-]+)/\w+:(?P<kind>\w+?)(Patch|(?P<list>List))?")


def kind_of(resource_type: str) -> str:
    """Returns a Kubernetes resource's kind, without its version; empty for other resources."""
    match = _TYPE.fullmatch(resource_type)
    return match["kind"] if match else ""


def pods_of(
    resource_type: str, properties: Mapping[str, Any], unknowns: Unknowns
) -> Iterator[Mapping[str, Any]]:
    """Yields the specs of the pods that a resource creates."""
    match = _TYPE.fullmatch(resource_type)
    if match is None:
        return
    if "." in match["group"] and not match["group"].endswith(_NOT_CUSTOM):
        yield from _templates(properties)
    elif path := _SPEC.get(match["kind"]):
        wholes = sequence(properties.get("items")) if match["list"] else [properties]
        places = range(len(wholes))
        yield from unknowns.each(places, lambda place: [mapping(at(wholes[place], path))])


def containers_of(pods: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for kind in ("initContainers", "containers"):
        yield from mappings(pods.get(kind))


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
        # What is not known yet in a custom resource is ignored.
        with Unknowns().deferred():
            part = whole[place]
        yield from _templates(part)
