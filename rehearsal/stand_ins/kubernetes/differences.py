"""What changes of an object come to: those of its inputs, and those that others made to it.

Kubernetes writes some of what it is given in its own way; the same in other words is no change.
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
    name_of,
    namespace_of,
    says_yes,
    with_metadata,
)

# A change of these makes another object of any.
_IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace")

_SELECTOR = ("spec.selector",)
_BINDING = ("roleRef",)

# By the group and the kind, whatever the version.
_FIXED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        # Of a ConfigMap and a Secret, Kubernetes would change the content, and whoever reads it
        # would not notice.
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

# Names in whose reach values are quantities, as `1000m` for `1`.
_OF_QUANTITIES = frozenset({"capacity", "hard", "limits", "requests", "sizeLimit"})

# Lists that the server lengthens by itself, where nobody has changed anything.
_LENGTHENED = frozenset({"tolerations"})


def object_diff(old: Object, new: Object, *, ignored: Collection[str]) -> DiffResponse:
    """What the change from one set of inputs to another needs."""
    new = in_the_words_of(old, _with_namespace_of(old, new))
    # Without a word on the namespace, an object stays where it is.
    old = _with_namespace_of(new, old)
    found = diff(old, new, replaces=_fixed(new), ignored=ignored)
    found.delete_before_replace = bool(found.replaces) and _takes_the_same_name(old, new)
    return found


def _fixed(asked: Object) -> tuple[str, ...]:
    """The paths that cannot change."""
    group = str(asked.get("apiVersion", "")).rpartition("/")[0]
    return (*_IDENTITY, *_FIXED.get((group, str(asked.get("kind", ""))), ()))


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


def drifted(said: Any, live: Any, within: str = "") -> Any:
    """What is there of what was said, in the words it was said in where it means the same.

    What was left out is the server's affair.
    """
    if isinstance(said, Mapping) and isinstance(live, Mapping):
        return {
            key: drifted(value, live[key], _reach(within, key))
            for key, value in said.items()
            if key in live
        }
    if _are_named(said) and _are_named(live):
        there = {item["name"]: item for item in live}
        return [
            drifted(item, there[item["name"]], within) for item in said if item["name"] in there
        ]
    if isinstance(said, list) and isinstance(live, list):
        both = [drifted(a, b, within) for a, b in zip(said, live, strict=False)]
        return both if within in _LENGTHENED else both + live[len(said) :]
    return said if _is_same(said, live, within) else live


def secret_drifted(said: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a Secret, whose `stringData` becomes part of its `data`."""
    result: dict[str, Any] = drifted(said, live)
    texts = said.get("stringData")
    if isinstance(texts, Mapping):
        data = live.get("data") or {}
        result["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    return result


def in_the_words_of(old: Any, new: Any, within: str = "") -> Any:
    """The new inputs, in the words of the old ones where they mean the same."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {
            key: in_the_words_of(old[key], value, _reach(within, key)) if key in old else value
            for key, value in new.items()
        }
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [in_the_words_of(a, b, within) for a, b in zip(old, new, strict=True)]
    return old if _is_same(old, new, within) else new


def _reach(within: str, key: str) -> str:
    return within if within in _OF_QUANTITIES else key


def _is_same(one: Any, other: Any, within: str) -> bool:
    if type(one) is type(other) and one == other:
        return True
    if within not in _OF_QUANTITIES:
        return False
    quantity = _quantity(one)
    return quantity is not None and quantity == _quantity(other)


def _quantity(value: Any) -> tuple[Decimal, str] | None:
    """The amount, and the notation in which Kubernetes writes it: it keeps to the one it got."""
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
