"""Differences of objects: between old and new inputs, and between inputs and the live object.

Kubernetes rewrites some values, as `1` for `1000m`. Two ways to write one value are no difference.
"""

import base64
import binascii
from collections.abc import Collection, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from catalogue import quantities
from provider_kit.diff import diff
from rehearsal.stand_ins.kubernetes.objects import (
    AUTONAMED,
    Object,
    is_enabled,
    name_of,
    namespace_of,
    with_metadata,
)

# A change of these makes another object, whatever its kind.
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace")

_SELECTOR = ("spec.selector",)
_BINDING = ("roleRef",)

# By the group and the kind, whatever the version.
_FIXED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        # Kubernetes would change the content of these, but pods that use it would not notice.
        ("", "ConfigMap"): ("binaryData", "data"),
        ("", "Secret"): ("data", "stringData", "type"),
        ("", "Service"): ("spec.clusterIP",),
        ("apps", "DaemonSet"): _SELECTOR,
        ("apps", "Deployment"): _SELECTOR,
        ("batch", "Job"): (
            "spec.completions",
            "spec.parallelism",
            "spec.selector",
            "spec.template",
        ),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
        ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
    }
)

# Below these names, values are quantities.
_OF_QUANTITIES = frozenset({"capacity", "hard", "limits", "requests", "sizeLimit"})

# Lists to which the server adds by itself.
_LENGTHENED = frozenset({"tolerations"})


def object_diff(old: Object, new: Object, *, ignored: Collection[str]) -> DiffResponse:
    """Returns what changes between two sets of inputs, and whether that replaces the object."""
    new = aligned(old, _with_namespace_of(old, new))
    # Inputs without a namespace leave the object where it is.
    old = _with_namespace_of(new, old)
    found = diff(old, new, replaces=_fixed(new), ignored=ignored)
    found.delete_before_replace = bool(found.replaces) and _takes_the_same_name(old, new)
    return found


def _fixed(obj: Object) -> tuple[str, ...]:
    """Returns the paths that cannot change."""
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    return (*_IDENTITY, *_FIXED.get((group, str(obj.get("kind", ""))), ()))


def _with_namespace_of(other: Object, obj: Object) -> Object:
    namespace = namespace_of(other)
    if not namespace or not isinstance(obj.get("metadata"), dict):
        return obj
    if obj["metadata"].get("namespace"):
        return obj
    return with_metadata(obj, namespace=namespace)


def _takes_the_same_name(old: Object, new: Object) -> bool:
    """Whether the new object cannot be there while the old one is."""
    identity: tuple[Any, ...] = (name_of(new), namespace_of(new))
    return not is_enabled(new, AUTONAMED) and identity == (name_of(old), namespace_of(old))


def drifted(inputs: Any, live: Any, within: str = "") -> Any:
    """Returns the inputs with their live values, as the inputs write them where they are the same.

    What the inputs leave out is not compared: the server fills it in.
    """
    if isinstance(inputs, Mapping) and isinstance(live, Mapping):
        return {
            key: drifted(value, live[key], _scope(within, key))
            for key, value in inputs.items()
            if key in live
        }
    if _are_named(inputs) and _are_named(live):
        there = {item["name"]: item for item in live}
        return [
            drifted(item, there[item["name"]], within) for item in inputs if item["name"] in there
        ]
    if isinstance(inputs, list) and isinstance(live, list):
        both = [drifted(a, b, within) for a, b in zip(inputs, live, strict=False)]
        return both if within in _LENGTHENED else both + live[len(inputs) :]
    return inputs if _is_same(inputs, live, within) else live


def secret_drifted(inputs: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Does the same for a Secret, whose `stringData` the server moves to its `data`."""
    result: dict[str, Any] = drifted(inputs, live)
    texts = inputs.get("stringData")
    if isinstance(texts, Mapping):
        data = live.get("data") or {}
        result["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    return result


def aligned(old: Any, new: Any, within: str = "") -> Any:
    """Returns the new inputs, written as the old ones where their values are the same."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {
            key: aligned(old[key], value, _scope(within, key)) if key in old else value
            for key, value in new.items()
        }
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [aligned(a, b, within) for a, b in zip(old, new, strict=True)]
    return old if _is_same(old, new, within) else new


def _scope(within: str, key: str) -> str:
    return within if within in _OF_QUANTITIES else key


def _is_same(one: Any, other: Any, within: str) -> bool:
    if type(one) is type(other) and one == other:
        return True
    if within not in _OF_QUANTITIES:
        return False
    quantity = _quantity(one)
    return quantity is not None and quantity == _quantity(other)


def _quantity(value: Any) -> tuple[Decimal, str] | None:
    """Returns the amount and the notation, which Kubernetes keeps when it rewrites a quantity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = quantities.parse(str(value))
    except ValueError:
        return None
    is_small = found.notation == "binary" and abs(found.amount) < 1024
    return found.amount, "decimal" if is_small else found.notation


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode()
    except (binascii.Error, UnicodeDecodeError):
        return encoded


def _are_named(items: Any) -> bool:
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items
    )
