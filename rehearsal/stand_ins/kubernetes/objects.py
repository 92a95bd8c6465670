"""Kubernetes' objects as plain JSON: what they are, and what their annotations ask for.

What the stand-in does not know is refused here, by its name.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN

Object = dict[str, Any]

AUTONAMED = "pulumi.com/autonamed"
PATCH_FORCE = "pulumi.com/patchForce"
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"
_KNOWN = frozenset({AUTONAMED, PATCH_FORCE, SKIP_AWAIT, TIMEOUT_SECONDS})

_TYPE = re.compile(r"kubernetes:(?P<group>[^/:]+)/(?P<version>[^/:]+):(?P<kind>\w+)")

# Groups of the SDK that are none in Kubernetes: what is in them is worked out by the real plug-in.
_NOT_OF_KUBERNETES = ("helm.sh/", "kustomize/", "yaml/")
# How the SDK calls the resources that change a part of what others made.
_PATCH = "Patch"
# Kinds that the original waits for, or replaces, in ways of their own, by their groups.
_OWN_WAYS = frozenset(
    {("core", kind) for kind in ("PersistentVolumeClaim", "Pod", "ReplicationController")}
    | {("core", "ResourceQuota"), ("apps", "StatefulSet"), ("networking.k8s.io", "Ingress")}
    | {("storage.k8s.io", "StorageClass")}
)

# Properties cannot have dashes: how the SDK writes what Kubernetes calls `x-kubernetes-...`.
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
    """The kind of a resource; the SDK hands its type over with those of its parents."""
    token = request_type.rpartition("$")[2]
    match = _TYPE.fullmatch(token)
    if match is None:
        raise refused(f"the type {token}")
    group, version, kind = match.groups()
    found = TypeName(version if group == "core" else f"{group}/{version}", kind)
    is_patch = kind == f"{inputs.get('kind')}{_PATCH}"
    if is_patch or (group, kind) in _OWN_WAYS or found.api_version.startswith(_NOT_OF_KUBERNETES):
        raise refused(f"the type {token}")
    if kind == "Service" and (inputs.get("spec") or {}).get("type") == "LoadBalancer":
        raise refused("a Service of the type LoadBalancer")
    for name in metadata(inputs).get("annotations") or ():
        if name.startswith("pulumi.com/") and name not in _KNOWN:
            raise refused(f"the annotation {name}")
    return found


def metadata(asked: Object) -> Object:
    found = asked.get("metadata")
    return found if isinstance(found, dict) else {}


def name_of(asked: Object) -> str:
    found = metadata(asked).get("name")
    return found if isinstance(found, str) else ""


def namespace_of(asked: Object) -> str:
    found = metadata(asked).get("namespace")
    return found if isinstance(found, str) else ""


def annotation(asked: Object, name: str) -> str:
    annotations = metadata(asked).get("annotations")
    found = annotations.get(name) if isinstance(annotations, Mapping) else None
    return found if isinstance(found, str) else ""


def says_yes(asked: Object, name: str) -> bool:
    return annotation(asked, name) == "true"


def object_id(live: Object) -> str:
    """The id of a resource: `namespace/name`, or `name` where there are no namespaces."""
    return f"{namespace_of(live)}/{name_of(live)}".removeprefix("/")


def identified(resource_id: str, named: TypeName) -> Object:
    """As much of an object as its id tells."""
    namespace, _, name = resource_id.rpartition("/")
    found = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": named.api_version, "kind": named.kind, "metadata": found}


def displayed(live: Object) -> str:
    """How messages call an object: without the namespace where that is the usual one."""
    namespace = namespace_of(live)
    return name_of(live) if namespace in ("", "default") else f"{namespace}/{name_of(live)}"


def with_metadata(asked: Object, **members: Any) -> Object:
    return {**asked, "metadata": {**metadata(asked), **members}}


def named(asked: Object, old: Object, base: str, seed: bytes) -> Object:
    """The object with a name: its own, the one that was made up for it before, or a new one."""
    if asked.get("metadata") is UNKNOWN or metadata(asked).get("name"):
        return asked
    if old and not says_yes(old, AUTONAMED):
        return asked
    name = (
        name_of(old) or f"{base}-{hashlib.sha256(seed or secrets.token_bytes(8)).hexdigest()[:8]}"
    )
    annotations = {**(metadata(asked).get("annotations") or {}), AUTONAMED: "true"}
    return with_metadata(asked, name=name, annotations=annotations)


def without_nulls(value: Any) -> Any:
    """What says nothing is not said at all."""
    if isinstance(value, Mapping):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def wired(value: Any) -> Any:
    """Properties as the API server calls them."""
    return _renamed(value, _EXTENSIONS)


def unwired(value: Any) -> Any:
    """The API server's fields as the SDK calls them."""
    return _renamed(value, _PROPERTIES)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(member, names) for key, member in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return value
