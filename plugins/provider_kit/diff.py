"""Compares two sets of inputs, property by property."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse, PropertyDiff, PropertyDiffKind

from aks_catalogue.mistakes import is_within, property_path

_REPLACING = {
    PropertyDiffKind.ADD: PropertyDiffKind.ADD_REPLACE,
    PropertyDiffKind.DELETE: PropertyDiffKind.DELETE_REPLACE,
    PropertyDiffKind.UPDATE: PropertyDiffKind.UPDATE_REPLACE,
}


def diff(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    replaces: Collection[str],
    ignored: Collection[str] = (),
) -> DiffResponse:
    """Compares two sets of plain inputs.

    A change of a property path in `replaces`, or inside it, replaces the resource.
    """
    detail: dict[str, PropertyDiff] = {}
    changed: list[str] = []
    replacing: list[str] = []
    for name in sorted({*old, *new} - {*ignored}):
        kinds = dict(_differences(name, old, new, name))
        if kinds:
            changed.append(name)
        for path, kind in kinds.items():
            is_replacing = any(is_within(path, part) for part in replaces)
            final = _REPLACING[kind] if is_replacing else kind
            detail[path] = PropertyDiff(final, input_diff=True)
        if any(detail[path].kind in _REPLACING.values() for path in kinds):
            replacing.append(name)
    return DiffResponse(
        changes=bool(changed),
        replaces=replacing,
        # The user sets the name in Azure, so the old resource must be deleted first. An option of
        # the resource can replace it without a path in `replaces`.
        delete_before_replace=True,
        diffs=changed,
        detailed_diff=detail,
    )


def _differences(
    key: str, old: Mapping[str, Any], new: Mapping[str, Any], path: str
) -> Iterator[tuple[str, PropertyDiffKind]]:
    # An object that is not there is an empty one.
    before, after = old.get(key, {}), new.get(key, {})
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for member in sorted({*before, *after}):
            yield from _differences(member, before, after, property_path(path, member))
    elif key not in new:
        yield path, PropertyDiffKind.DELETE
    elif key not in old:
        yield path, PropertyDiffKind.ADD
    elif before != after:
        yield path, PropertyDiffKind.UPDATE
