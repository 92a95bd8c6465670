"""Differences between old and new inputs, and between inputs and the live object.

Kubernetes rewrites some values, such as `1000m` to `1`. Two forms of one value are no difference.
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

# A change of these replaces an object of any kind.
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace")

_SELECTOR = ("spec.selector",)
_BINDING = ("roleRef",)

# By group and kind, for any version.
_FIXED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        # Kubernetes can change the content of these, but pods that use it would not notice.
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

# The values below these names are quantities.
_OF_QUANTITIES = frozenset({"capacity", "hard", "limits", "requests", "sizeLimit"})

# Lists to which the server adds items.
_LENGTHENED = frozenset({"tolerations"})


def object_diff(old: Object, new: Object, *, ignored: Collection[str]) -> DiffResponse:
    """Returns the changes between two sets of inputs, and whether they replace the object."""
    new = aligned(old, _with_namespace_of(old, new))
    # Without a namespace in the inputs the object stays in its namespace.
    old = _with_namespace_of(new, old)
    changes = diff(old, new, replaces=_fixed(new), ignored=ignored)
    changes.delete_before_replace = bool(changes.replaces) and _takes_the_same_name(old, new)
    return changes


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
    """Whether the old object has to be deleted first, because both have the same name."""
    identity: tuple[Any, ...] = (name_of(new), namespace_of(new))
    return not is_enabled(new, AUTONAMED) and identity == (name_of(old), namespace_of(old))


def drifted(inputs: Any, live: Any, within: str = "") -> Any:
    """Returns the inputs with the live values; values that are the same keep their form.

    Fields that the inputs leave out are not compared: the server fills them in.
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
    """Like `drifted` for a Secret, whose `stringData` the server moves to `data`."""
    result: dict[str, Any] = drifted(inputs, live)
    texts = inputs.get("stringData")
    if isinstance(texts, Mapping):
        data = live.get("data") or {}
        result["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    return result


def aligned(old: Any, new: Any, within: str = "") -> Any:
    """Returns the new inputs; values that are the same keep their old form."""
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


def _is_same(value: Any, other: Any, within: str) -> bool:
    if type(value) is type(other) and value == other:
        return True
    if within not in _OF_QUANTITIES:
        return False
    quantity = _quantity(value)
    return quantity is not None and quantity == _quantity(other)


def _quantity(value: Any) -> tuple[Decimal, str] | None:
    """Returns a quantity's amount and format; Kubernetes keeps the format when it rewrites one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        quantity = quantities.parse(str(value))
    except ValueError:
        return None
    is_small = quantity.notation == "binary" and abs(quantity.amount) < 1024
    return quantity.amount, "decimal" if is_small else quantity.notation


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode()
    except (binascii.Error, UnicodeDecodeError):
        return encoded


def _are_named(items: Any) -> bool:
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items
    )
