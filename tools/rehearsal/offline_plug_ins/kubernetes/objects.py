"""Kubernetes objects as plain JSON: names, kinds and annotations.

Kinds and annotations that the offline plug-in does not support are refused here by name.
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

# Groups of the SDK, not of Kubernetes: the real plug-in renders their resources.
_NOT_OF_KUBERNETES = ("helm.sh/", "kustomize/", "yaml/")
# The SDK's suffix for resources that patch an existing object.
_PATCH = "Patch"
# Groups and kinds that the original awaits or replaces in a special way.
_SPECIAL = frozenset(
    {("core", kind) for kind in ("PersistentVolumeClaim", "Pod", "ReplicationController")}
    | {("core", "ResourceQuota"), ("apps", "StatefulSet"), ("networking.k8s.io", "Ingress")}
    | {("storage.k8s.io", "StorageClass")}
)

# The SDK's names for `x-kubernetes-...` fields, since properties cannot have dashes.
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
    """A kind and its API version."""

    api_version: str
    kind: str


def refused(what: str) -> ProviderError:
    return ProviderError(
        f"The rehearsal's offline kubernetes does not support {what}: docs/rehearsal.md "
        "lists what it covers."
    )


def typed(request_type: str, inputs: Object) -> TypeName:
    """Returns the kind in a resource's URN, whose type includes the parents' types."""
    token = type_token(request_type)
    match = _TYPE.fullmatch(token)
    if match is None:
        raise refused(f"the type {token}")
    group, version, kind = match.groups()
    type_name = TypeName(version if group == "core" else f"{group}/{version}", kind)
    is_patch = kind == f"{inputs.get('kind')}{_PATCH}"
    if (
        is_patch
        or (group, kind) in _SPECIAL
        or type_name.api_version.startswith(_NOT_OF_KUBERNETES)
    ):
        raise refused(f"the type {token}")
    if kind == "Service" and (inputs.get("spec") or {}).get("type") == "LoadBalancer":
        raise refused("a Service of the type LoadBalancer")
    for name in annotations(inputs):
        if name.startswith("pulumi.com/") and name not in _KNOWN:
            raise refused(f"the annotation {name}")
    return type_name


def holds_unknown(value: Any) -> bool:
    """Whether a plain value is unknown, or contains an unknown value."""
    match value:
        case Mapping():
            return any(holds_unknown(member) for member in value.values())
        case list() | tuple():
            return any(holds_unknown(item) for item in value)
        case _:
            return value is UNKNOWN


def metadata(obj: Object) -> Object:
    content = obj.get("metadata")
    return content if isinstance(content, dict) else {}


def name_of(obj: Object) -> str:
    name = metadata(obj).get("name")
    return name if isinstance(name, str) else ""


def namespace_of(obj: Object) -> str:
    namespace = metadata(obj).get("namespace")
    return namespace if isinstance(namespace, str) else ""


def annotations(obj: Object) -> Mapping[str, Any]:
    """Returns the annotations as far as they are known."""
    found = metadata(obj).get("annotations")
    return found if isinstance(found, Mapping) else {}


def annotation(obj: Object, name: str) -> str:
    value = annotations(obj).get(name)
    return value if isinstance(value, str) else ""


def is_enabled(obj: Object, name: str) -> bool:
    return annotation(obj, name) == "true"


def object_id(live: Object) -> str:
    """Returns the id of a resource: `namespace/name`, or `name` if its kind has no namespaces."""
    return f"{namespace_of(live)}/{name_of(live)}".removeprefix("/")


def identified(resource_id: str, named: TypeName) -> Object:
    """Returns an object with the name and namespace from its id."""
    namespace, _, name = resource_id.rpartition("/")
    content = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": named.api_version, "kind": named.kind, "metadata": content}


def displayed(live: Object) -> str:
    """Returns the name for messages, without the default namespace."""
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
    name = name_of(old) or generated_name(base, seed)
    if metadata(obj).get("annotations") is UNKNOWN:
        return with_metadata(obj, name=name)
    return with_metadata(obj, name=name, annotations={**annotations(obj), AUTONAMED: "true"})


def generated_name(base: str, seed: bytes) -> str:
    return f"{base}-{hashlib.sha256(seed or secrets.token_bytes(8)).hexdigest()[:8]}"


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
