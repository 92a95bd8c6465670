"""Kubernetes' objects as plain JSON: names, kinds and annotations.

Kinds and annotations that the stand-in does not know are refused here, by name.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from provider_kit.serving import ProviderError, type_token
from provider_kit.values import UNKNOWN

Object = dict[str, Any]

AUTONAMED = "pulumi.com/autonamed"
PATCH_FORCE = "pulumi.com/patchForce"
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"
_KNOWN = frozenset({AUTONAMED, PATCH_FORCE, SKIP_AWAIT, TIMEOUT_SECONDS})

_TYPE = re.compile(r"kubernetes:(?P<group>[^/:]+)/(?P<version>[^/:]+):(?P<kind>\w+)")

# Groups of the SDK, not of Kubernetes: the real plug-in renders what is in them.
_NOT_OF_KUBERNETES = ("helm.sh/", "kustomize/", "yaml/")
# The SDK's ending for resources that change a part of an object that others made.
_PATCH = "Patch"
# Groups and kinds that the original awaits or replaces in ways of their own.
_SPECIAL = frozenset(
    {("core", kind) for kind in ("PersistentVolumeClaim", "Pod", "ReplicationController")}
    | {("core", "ResourceQuota"), ("apps", "StatefulSet"), ("networking.k8s.io", "Ingress")}
    | {("storage.k8s.io", "StorageClass")}
)

# The SDK's names for Kubernetes' `x-kubernetes-...`: properties cannot have dashes.
_EXTENSIONS = {
    f"x_kubernetes_{name}": f"x-kubernetes-{name.replace('_', '-')}"
    for name in (
        "embedded_resource",
        "int_or_string",
        "list_map_keys",
        "list_type",
        "map_type",
        "preserve_unknown_fields",
        "validations",
    )
}
_PROPERTIES = {wire: name for name, wire in _EXTENSIONS.items()}


class TypeName(NamedTuple):
    """A kind, by the API version that it is in."""

    api_version: str
    kind: str


def refused(what: str) -> ProviderError:
    return ProviderError(
        f"The rehearsal's stand-in for kubernetes does not know {what}: docs/rehearsal.md lists "
        "what it covers."
    )


def typed(request_type: str, inputs: Object) -> TypeName:
    """Returns the kind of a resource, whose type comes with those of its parents."""
    token = type_token(request_type)
    match = _TYPE.fullmatch(token)
    if match is None:
        raise refused(f"the type {token}")
    group, version, kind = match.groups()
    found = TypeName(version if group == "core" else f"{group}/{version}", kind)
    is_patch = kind == f"{inputs.get('kind')}{_PATCH}"
    if is_patch or (group, kind) in _SPECIAL or found.api_version.startswith(_NOT_OF_KUBERNETES):
        raise refused(f"the type {token}")
    if kind == "Service" and (inputs.get("spec") or {}).get("type") == "LoadBalancer":
        raise refused("a Service of the type LoadBalancer")
    for name in metadata(inputs).get("annotations") or ():
        if name.startswith("pulumi.com/") and name not in _KNOWN:
            raise refused(f"the annotation {name}")
    return found


def metadata(obj: Object) -> Object:
    found = obj.get("metadata")
    return found if isinstance(found, dict) else {}


def name_of(obj: Object) -> str:
    found = metadata(obj).get("name")
    return found if isinstance(found, str) else ""


def namespace_of(obj: Object) -> str:
    found = metadata(obj).get("namespace")
    return found if isinstance(found, str) else ""


def annotation(obj: Object, name: str) -> str:
    annotations = metadata(obj).get("annotations")
    found = annotations.get(name) if isinstance(annotations, Mapping) else None
    return found if isinstance(found, str) else ""


def is_enabled(obj: Object, name: str) -> bool:
    return annotation(obj, name) == "true"


def object_id(live: Object) -> str:
    """Returns the id of a resource: `namespace/name`, or `name` if its kind has no namespaces."""
    return f"{namespace_of(live)}/{name_of(live)}".removeprefix("/")


def identified(resource_id: str, named: TypeName) -> Object:
    """Returns an object with what its id contains."""
    namespace, _, name = resource_id.rpartition("/")
    found = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": named.api_version, "kind": named.kind, "metadata": found}


def displayed(live: Object) -> str:
    """Returns the name for messages: without the namespace if that is the default one."""
    namespace = namespace_of(live)
    return name_of(live) if namespace in ("", "default") else f"{namespace}/{name_of(live)}"


def with_metadata(obj: Object, **members: Any) -> Object:
    return {**obj, "metadata": {**metadata(obj), **members}}


def named(obj: Object, old: Object, base: str, seed: bytes) -> Object:
    """Returns the object with a name: its own, the one generated before, or a new one."""
    if obj.get("metadata") is UNKNOWN or metadata(obj).get("name"):
        return obj
    if old and not is_enabled(old, AUTONAMED):
        return obj
    name = (
        name_of(old) or f"{base}-{hashlib.sha256(seed or secrets.token_bytes(8)).hexdigest()[:8]}"
    )
    annotations = {**(metadata(obj).get("annotations") or {}), AUTONAMED: "true"}
    return with_metadata(obj, name=name, annotations=annotations)


def wired(value: Any) -> Any:
    """Returns the SDK's properties under the API server's names."""
    return _renamed(value, _EXTENSIONS)


def unwired(value: Any) -> Any:
    """Returns the API server's fields under the SDK's names."""
    return _renamed(value, _PROPERTIES)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(member, names) for key, member in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return value
