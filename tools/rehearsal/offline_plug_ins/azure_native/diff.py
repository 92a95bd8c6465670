"""azure-native's diff: which properties differ, and which of them replace the resource.

Every rule is the original's, including its faults, which docs/rehearsal.md lists.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse, PropertyDiff, PropertyDiffKind

from rehearsal.offline_plug_ins.azure_native.native_types import API_VERSION, NativeType

ADD, ADD_REPLACE = PropertyDiffKind.ADD, PropertyDiffKind.ADD_REPLACE
UPDATE, UPDATE_REPLACE = PropertyDiffKind.UPDATE, PropertyDiffKind.UPDATE_REPLACE
DELETE = PropertyDiffKind.DELETE

Kinds = dict[str, PropertyDiffKind]
_REPLACING = MappingProxyType({ADD: ADD_REPLACE, UPDATE: UPDATE_REPLACE})

# This part of an Azure id is compared without case.
_START_OF_ID = re.compile(
    r"/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.[^/]+/", re.IGNORECASE
)


def difference(
    native_type: NativeType,
    old: Mapping[str, Any],
    state: Mapping[str, Any],
    new: Mapping[str, Any],
) -> DiffResponse:
    """Compares old and new inputs; the state is used only for added properties."""
    comes_from_state = API_VERSION not in old and API_VERSION in state
    before = {**old, API_VERSION: state[API_VERSION]} if comes_from_state else old
    kinds = _Comparison(native_type).members(before, _in_old_words(before, new), "", "")
    kinds |= {
        path: ADD
        for path, kind in kinds.items()
        if kind is ADD_REPLACE and path in state and state[path] == new.get(path)
    }
    replaces = sorted(path for path, kind in kinds.items() if kind in _REPLACING.values())
    return DiffResponse(
        changes=bool(kinds),
        replaces=replaces,
        delete_before_replace=bool(replaces),
        diffs=sorted({path.split(".")[0] for path in kinds}),
        detailed_diff={
            path: PropertyDiff(kind, input_diff=not (comes_from_state and path == API_VERSION))
            for path, kind in kinds.items()
        },
    )


class _Comparison:
    """Compares values of one type. A `rule` is a path without list positions."""

    def __init__(self, native_type: NativeType) -> None:
        self._type = native_type

    def members(
        self, old: Mapping[str, Any], new: Mapping[str, Any], path: str, rule: str
    ) -> Kinds:
        kinds: Kinds = {}
        for name in sorted({*_present(old), *_present(new)}):
            inner, inner_rule = _below(path, name), f"{rule}.{name}" if rule else name
            if old.get(name) is None:
                kinds[inner] = self._kind(ADD, inner_rule)
            elif new.get(name) is None:
                # azure-native expects Azure to keep removed properties, forceNew or not.
                kinds[inner] = DELETE
            else:
                kinds |= self._values(old[name], new[name], inner, inner_rule)
        return kinds

    def _values(self, old: Any, new: Any, path: str, rule: str) -> Kinds:
        if isinstance(old, list) and isinstance(new, list):
            return self._items(old, new, path, rule)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self._objects(old, new, path, rule)
        return {} if self._is_same(old, new, rule) else {path: self._kind(UPDATE, rule)}

    def _items(self, old: list[Any], new: list[Any], path: str, rule: str) -> Kinds:
        """Compares lists by position: an item that moved is another one."""
        kinds: Kinds = {}
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            kinds |= self._values(before, after, f"{path}[{index}]", f"{rule}[]")
        kinds |= {f"{path}[{index}]": ADD for index in range(len(old), len(new))}
        kinds |= {f"{path}[{index}]": DELETE for index in range(len(new), len(old))}
        return kinds

    def _objects(
        self, old: Mapping[str, Any], new: Mapping[str, Any], path: str, rule: str
    ) -> Kinds:
        kinds = self.members(old, new, path, rule)
        if rule not in self._type.replacing:
            return kinds
        kinds = {inner: UPDATE_REPLACE if kind is UPDATE else kind for inner, kind in kinds.items()}
        if _present(old) != _present(new):
            kinds[path] = UPDATE_REPLACE
        return kinds

    def _kind(self, kind: PropertyDiffKind, rule: str) -> PropertyDiffKind:
        return _REPLACING[kind] if rule in self._type.replacing else kind

    def _is_same(self, old: Any, new: Any, rule: str) -> bool:
        if isinstance(old, str) and isinstance(new, str):
            if rule in self._type.any_case:
                return old.lower() == new.lower()
            return _plain_id(old) == _plain_id(new)
        # In Python, True equals 1.
        return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def _present(values: Mapping[str, Any]) -> set[str]:
    """Returns the names with a value; names with `__` are internal to azure-native."""
    return {
        name for name, value in values.items() if value is not None and not name.startswith("__")
    }


def _below(path: str, name: str) -> str:
    key = f'["{name}"]' if "." in name else name
    return f"{path}.{key}" if path else key


def _plain_id(text: str) -> str:
    start = _START_OF_ID.match(text)
    return start[0].lower() + text[start.end() :] if start else text


def _in_old_words(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the new inputs; values that mean the same as before keep their old spelling."""
    return {
        name: old[name]
        if name in old and name in _SAME_AT_THE_TOP and _SAME_AT_THE_TOP[name](old[name], value)
        else value
        for name, value in new.items()
    }


def _same_name(old: Any, new: Any) -> bool:
    return isinstance(old, str) and isinstance(new, str) and old.lower() == new.lower()


def _same_location(old: Any, new: Any) -> bool:
    texts = isinstance(old, str) and isinstance(new, str)
    return texts and _same_name(old.replace(" ", ""), new.replace(" ", ""))


def _same_sku(old: Any, new: Any) -> bool:
    """Whether two SKUs are the same; AKS renamed its tiers in 2023."""
    skus = isinstance(old, Mapping) and isinstance(new, Mapping)
    if not skus or not old.keys() == new.keys() == {"name", "tier"}:
        return False
    return (old["name"] == new["name"] or {old["name"], new["name"]} == {"Basic", "Base"}) and (
        old["tier"] == new["tier"] or {old["tier"], new["tier"]} == {"Paid", "Standard"}
    )


_SAME_AT_THE_TOP: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"location": _same_location, "resourceGroupName": _same_name, "sku": _same_sku}
)
