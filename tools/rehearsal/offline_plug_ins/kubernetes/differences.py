"""Differences between old and new inputs, and between inputs and the live object.

Kubernetes rewrites some values, such as `1000m` to `1`. Two forms of one value are no difference.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse, PropertyDiff, PropertyDiffKind

from aks_catalogue import quantities
from aks_catalogue.mistakes import is_within
from provider_kit.values import UNKNOWN
from rehearsal.offline_plug_ins.kubernetes.objects import (
    AUTONAMED,
    Object,
    is_enabled,
    name_of,
    namespace_of,
    with_metadata,
)

ADD, DELETE, UPDATE = PropertyDiffKind.ADD, PropertyDiffKind.DELETE, PropertyDiffKind.UPDATE
_REPLACING: Mapping[PropertyDiffKind, PropertyDiffKind] = MappingProxyType(
    {
        ADD: PropertyDiffKind.ADD_REPLACE,
        DELETE: PropertyDiffKind.DELETE_REPLACE,
        UPDATE: PropertyDiffKind.UPDATE_REPLACE,
    }
)

# A change of these replaces an object of any kind.
_IDENTITY = ("metadata.name", "metadata.namespace")

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

# Kubernetes' own types have no such field while it is empty.
_NOTHING_IF_EMPTY = frozenset(
    {"annotations", "args", "command", "env", "envFrom", "hostIPC", "hostNetwork", "hostPID"}
    | {"imagePullSecrets", "initContainers", "labels", "limits", "matchLabels", "minReadySeconds"}
    | {"nodeSelector", "ports", "requests", "tolerations", "volumeMounts", "volumes"}
)
_EMPTY: tuple[Any, ...] = ({}, [], 0, False)
_OF_KUBERNETES = ("", "apps", "batch")

# In a path, a name with one of these is in brackets.
_SPECIAL = re.compile(r'[."\[\]]')


def object_diff(
    old: Object, new: Object, *, ignored: Collection[str], has_mutable_config_maps: bool
) -> DiffResponse:
    """Returns the changes between two sets of inputs, and whether they replace the object.

    pulumi-kubernetes names them in the detailed diff alone.
    """
    # Without a namespace in the inputs the object stays in its namespace.
    old, new = _with_namespace_of(new, old), _with_namespace_of(old, new)
    if _group(new) in _OF_KUBERNETES:
        old, new = _filled(old), _filled(new)
    is_mutable = has_mutable_config_maps and new.get("kind") == "ConfigMap"
    fixed = _IDENTITY if is_mutable else _fixed(new)
    detail: dict[str, PropertyDiff] = {}
    for path, kind, value in _differences(old, new):
        if any(is_within(path, part) for part in ignored):
            continue
        # What is in a value that is gone or unknown may be another.
        is_whole = value in (None, UNKNOWN)
        is_fixed = any(
            is_within(path, part) or (is_whole and is_within(part, path)) for part in fixed
        )
        detail[path] = PropertyDiff(_REPLACING[kind] if is_fixed else kind, kind is DELETE)
    replaces = [path for path, change in detail.items() if change.kind in _REPLACING.values()]
    return DiffResponse(
        changes=bool(detail),
        replaces=replaces,
        delete_before_replace=bool(replaces) and _takes_the_same_name(old, new),
        detailed_diff=detail,
    )


def _differences(
    old: Any, new: Any, path: str = "", within: str = ""
) -> Iterator[tuple[str, PropertyDiffKind, Any]]:
    """Yields the paths that differ, with the kind of the difference and the new value.

    Items of lists are compared by position.
    """
    before, after = _members(old), _members(new)
    if new == UNKNOWN and isinstance(old, Mapping):
        # As pulumi-kubernetes has it: nothing is left of it.
        after = {}
    if before is None or after is None:
        if not _is_same(old, new, within):
            yield path, UPDATE, new
        return
    for key in {**before, **after}:
        inner = _below(path, key)
        if key not in after:
            yield inner, DELETE, None
        elif key not in before:
            yield inner, ADD, after[key]
        else:
            scope = _scope(within, key) if isinstance(key, str) else within
            yield from _differences(before[key], after[key], inner, scope)


def _members(value: Any) -> dict[int | str, Any] | None:
    """Returns the members of an object or a list; None for any other value."""
    if isinstance(value, Mapping):
        return dict(value)
    return dict(enumerate(value)) if isinstance(value, list) else None


def _below(path: str, key: int | str) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _SPECIAL.search(key):
        quoted = key.replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{key}" if path else key


def _filled(value: Any) -> Any:
    """Returns a value without the fields that are nothing to Kubernetes while they are empty."""
    if isinstance(value, Mapping):
        return {
            key: _filled(member)
            for key, member in value.items()
            if key not in _NOTHING_IF_EMPTY or member not in _EMPTY
        }
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _fixed(obj: Object) -> tuple[str, ...]:
    """Returns the paths that cannot change."""
    return (*_IDENTITY, *_FIXED.get((_group(obj), str(obj.get("kind", ""))), ()))


def _group(obj: Object) -> str:
    return str(obj.get("apiVersion", "")).rpartition("/")[0]


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

    Fields that the inputs leave out are not compared: the server fills them in. Nor are further
    items of a list, which are compared by position.
    """
    if isinstance(inputs, Mapping) and isinstance(live, Mapping):
        return {
            key: drifted(value, live[key], _scope(within, key))
            for key, value in inputs.items()
            if key in live
        }
    if isinstance(inputs, list) and isinstance(live, list):
        return [drifted(a, b, within) for a, b in zip(inputs, live, strict=False)]
    return inputs if _is_same(inputs, live, within) else live


def secret_drifted(inputs: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Like `drifted` for a Secret, whose `stringData` the server moves to `data`."""
    result: dict[str, Any] = drifted(inputs, live)
    texts = inputs.get("stringData")
    if isinstance(texts, Mapping):
        data = live.get("data") or {}
        result["stringData"] = {key: _text(data[key]) for key in texts if key in data}
    return result


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
