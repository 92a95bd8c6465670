"""The pods that Kubernetes resources make, and their containers."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from catalogue.shapes import mapping, sequence

# Where the pods' specification stands in a resource, by the resource's kind.
_SPEC: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Pod": ("spec",),
        "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
        **dict.fromkeys(
            (
                "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController",
                "StatefulSet",
            ),
            ("spec", "template", "spec"),
        ),
    }
)  # fmt: skip
# kubernetes:apps/v1:DaemonSet, and kubernetes:apps/v1:DaemonSetPatch for a part of one.
_TYPE = re.compile(r"kubernetes:[\w.]+/\w+:(?P<kind>\w+?)(Patch)?")


def kind_of(resource_type: str) -> str:
    """A Kubernetes resource's kind, of whatever version; empty for other resources."""
    match = _TYPE.fullmatch(resource_type)
    return match["kind"] if match else ""


def pods_of(resource_type: str, properties: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The specification of the pods that a resource makes; None where it makes none."""
    path = _SPEC.get(kind_of(resource_type))
    if path is None:
        return None
    found = properties
    for step in path:
        found = mapping(found.get(step))
    return found


def containers_of(pods: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Where the containers are: in which list, and at which place of it. None is read yet."""
    return [
        (kind, index)
        for kind in ("initContainers", "containers")
        for index in range(len(sequence(pods.get(kind))))
    ]
