"""What cannot be changed in an object that exists, and so what a change of inputs comes to."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from provider_kit.diff import diff
from rehearsal.stand_ins.kubernetes.objects import (
    AUTONAMED,
    Object,
    name_of,
    namespace_of,
    says_yes,
    with_metadata,
)
from rehearsal.stand_ins.kubernetes.sameness import in_the_words_of
from rehearsal.stand_ins.kubernetes.settings import Settings

# A change of these makes another object of any.
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace")

_SELECTOR = ("spec.selector",)
_BINDING = ("roleRef",)

# By the group and the kind, whatever the version.
_FIXED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("", "PersistentVolumeClaim"): (
            "spec.accessModes",
            "spec.selector",
            "spec.storageClassName",
            "spec.volumeName",
        ),
        ("", "Pod"): ("spec",),
        ("", "ResourceQuota"): ("spec.scopes",),
        ("", "Secret"): ("type",),
        ("", "Service"): ("spec.clusterIP",),
        ("apps", "DaemonSet"): _SELECTOR,
        ("apps", "Deployment"): _SELECTOR,
        ("apps", "StatefulSet"): (
            "spec.podManagementPolicy",
            "spec.revisionHistoryLimit",
            "spec.selector",
            "spec.serviceName",
            "spec.volumeClaimTemplates",
        ),
        ("batch", "Job"): (
            "spec.completions",
            "spec.parallelism",
            "spec.selector",
            "spec.template",
        ),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
        ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
        ("storage.k8s.io", "StorageClass"): ("parameters", "provisioner"),
    }
)

# Content that Kubernetes would change, and whose readers would not notice.
_CONTENT: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("", "ConfigMap"): ("binaryData", "data"),
        ("", "Secret"): ("data", "stringData"),
    }
)


def object_diff(
    old: Object, new: Object, *, settings: Settings, ignored: Collection[str]
) -> DiffResponse:
    """What the change from one set of inputs to another needs."""
    new = in_the_words_of(old, _with_namespace_of(old, new))
    # Without a word on the namespace, an object stays where it is.
    old = _with_namespace_of(new, old)
    found = diff(old, new, replaces=fixed(new, settings), ignored=ignored)
    found.delete_before_replace = bool(found.replaces) and _takes_the_same_name(old, new)
    return found


def fixed(asked: Object, settings: Settings) -> tuple[str, ...]:
    """The paths that cannot change."""
    group = str(asked.get("apiVersion", "")).rpartition("/")[0]
    key = (group, str(asked.get("kind", "")))
    mutable = {"ConfigMap": settings.config_map_mutable, "Secret": settings.secret_mutable}
    content = () if mutable.get(key[1]) and not asked.get("immutable") else _CONTENT.get(key, ())
    return (*_IDENTITY, *_FIXED.get(key, ()), *content)


def _with_namespace_of(other: Object, asked: Object) -> Object:
    namespace = namespace_of(other)
    if not namespace or not isinstance(asked.get("metadata"), dict):
        return asked
    if asked["metadata"].get("namespace"):
        return asked
    return with_metadata(asked, namespace=namespace)


def _takes_the_same_name(old: Object, new: Object) -> bool:
    """Whether the new object cannot be there while the old one is."""
    identity: tuple[Any, ...] = (name_of(new), namespace_of(new))
    return not says_yes(new, AUTONAMED) and identity == (name_of(old), namespace_of(old))
