"""Compares a node pool or a cluster with its program, and with Azure, as azure-native does.

A diff compares old inputs with new inputs. A refresh compares what Azure returned before with what
it returns now: only what changed there changes the inputs. So what Azure writes otherwise, adds or
chooses by itself never shows.
"""

from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from aks_catalogue.aks_versions import MANAGED_GPUS
from aks_catalogue.shapes import at
from aks_preview.aks_types import HEADERS, REPLACE_ON_HEADERS, AksType
from provider_kit.diff import diff

Values = Mapping[str, Any]


def aks_diff(
    aks_type: AksType, old_inputs: Values, old_state: Values, new_inputs: Values
) -> DiffResponse:
    """Returns the changes, and whether they replace the resource."""
    old, new = dict(old_inputs), dict(new_inputs)
    if HEADERS not in old_state and HEADERS not in old and HEADERS in new:
        # After an import, the headers of the creation are unknown, so the program's are assumed.
        old[HEADERS] = new[HEADERS]
    if is_autoscaled(old) and is_autoscaled(new) and "count" in old:
        # The autoscaler sets the number of nodes.
        new["count"] = old["count"]
    if isinstance(old.get(HEADERS), Mapping) and isinstance(new.get(HEADERS), Mapping):
        spelled = {name.casefold(): name for name in old[HEADERS]}
        new[HEADERS] = {spelled.get(key.casefold(), key): v for key, v in new[HEADERS].items()}
    given = [*aks_type.known.given_in(new)]
    if at(old, MANAGED_GPUS) == "Managed":
        # AKS keeps the mode that a request leaves out, beside the program's own device plugin.
        given.append(MANAGED_GPUS.rpartition(".")[0])
    fixed = [*aks_type.path_names, *aks_type.known.replacing(given)]
    actual = aks_type.inputs_of(old_state)
    for path in fixed:
        before = at(old, path) if at(old, path) is not None else at(actual, path)
        if _comparable(before) == _comparable(at(new, path)):
            new = _with(new, path, at(old, path))
    return diff(
        old,
        new,
        replaces=[*fixed, *([HEADERS] if new.get(REPLACE_ON_HEADERS) is True else [])],
        # It only controls how other changes are made.
        ignored=[REPLACE_ON_HEADERS],
    )


def refreshed(inputs: Any, old: Any, new: Any) -> Any:
    """Returns the inputs with what changed in Azure, from `old` to `new`, at paths that they have.

    The number of nodes of an autoscaled pool is no change.
    """
    if old == new:
        return inputs
    if all(isinstance(value, Mapping) for value in (inputs, old, new)):
        kept = {"count"} if is_autoscaled(new) else set()
        return {
            name: value if name in kept else refreshed(value, old.get(name), new.get(name))
            for name, value in inputs.items()
            if name in new or name not in old or name in kept
        }
    if all(_are_named(value) for value in (inputs, old, new)):
        before, after = _by_name(old), _by_name(new)
        return [
            refreshed(item, before.get(name), after[name])
            for name, item in _by_name(inputs).items()
            if name in after
        ]
    return new


def with_fixed(aks_type: AksType, inputs: Values, others: Values) -> dict[str, Any]:
    """Returns the inputs with the fixed properties that only the other inputs have."""
    for path in aks_type.known.fixed:
        if at(inputs, path) is None and at(others, path) is not None:
            inputs = _with(inputs, path, at(others, path))
    return dict(inputs)


def is_autoscaled(pool: Any) -> bool:
    """Whether the autoscaler sets the number of nodes."""
    return isinstance(pool, Mapping) and pool.get("enableAutoScaling") is True


def _comparable(value: Any) -> Any:
    """Returns a value as Azure compares it: in any case and order, `East US` as `eastus`."""
    match value:
        case str():
            return value.replace(" ", "").casefold()
        case list() if all(isinstance(item, str) for item in value):
            return sorted(map(_comparable, value)) or None
        case Mapping():
            return dict(value) or None
    return value


def _with(values: Values, path: str, value: Any) -> dict[str, Any]:
    """Returns the values with another one at a path; None takes it away."""
    name, _, rest = path.partition(".")
    if rest:
        inner = values.get(name)
        is_object = isinstance(inner, Mapping) or (inner is None and value is not None)
        value = _with(inner or {}, rest, value) if is_object else inner
    changed = {key: member for key, member in values.items() if key != name}
    return changed if value is None else {**changed, name: value}


def _are_named(items: Any) -> bool:
    return (
        isinstance(items, list)
        and all(isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items)
        and len(_by_name(items)) == len(items)
    )


def _by_name(items: Any) -> dict[str, Any]:
    return {item["name"].casefold(): item for item in items}
