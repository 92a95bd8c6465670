"""What a change of the inputs of a pool or a cluster does to it, and what means the same to Azure.

Order, case, silence, and what AKS adds by itself: without this every refresh would show changes
that nobody made.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pulumi.provider.experimental.provider import DiffResponse

from aks_preview.aks_types import HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.configuration import CREDENTIALS
from catalogue import fixed
from catalogue.shapes import at
from provider_kit.diff import diff
from provider_kit.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape

# Labels and taints under this prefix are AKS's own; a user cannot set them, but may repeat them.
_OF_AKS = "kubernetes.azure.com/"
# Texts that Azure compares without regard to case, beside ids and those with a choice of words.
_IN_ANY_CASE = frozenset({"location", "vmSize"})
_ID_ENDINGS = ("ID", "Id")

_Unordered = Collection[str]

# What older states have in their inputs: it named headers whose change replaced nothing.
_OF_OLDER_STATES = "updatableHeaders"


def aks_diff(
    aks_type: AksType,
    old_inputs: Mapping[str, Any],
    old_state: Mapping[str, Any],
    new_inputs: Mapping[str, Any],
) -> DiffResponse:
    """Returns what changes, and whether in place; order and Azure's own defaults are no change."""
    actual = aks_type.inputs_of(old_state)
    old = supplemented(aks_type.inputs, old_inputs, actual, new_inputs)
    if HEADERS not in old_state and HEADERS not in old and HEADERS in new_inputs:
        # Imported: nobody can say which headers made it, so the program is taken at its word.
        old = {**old, HEADERS: new_inputs[HEADERS]}
    new = _in_old_case(old, settled(aks_type.inputs, old, new_inputs, aks_type.unordered))
    said = [path for path in aks_type.replaces if at(new_inputs, path) is not None]
    old, new = (
        _with_missing_objects(aks_type, old, new),
        _with_missing_objects(aks_type, new, old),
    )
    return diff(
        old,
        new,
        replaces=[
            *fixed.replacing(aks_type.replaces, said),
            *([HEADERS] if new.get(REPLACE_ON_HEADERS) is True else []),
        ],
        # They say how other changes are made, and are none themselves.
        ignored=[REPLACE_ON_HEADERS, _OF_OLDER_STATES],
    )


def _with_missing_objects(
    aks_type: AksType, these: Mapping[str, Any], those: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns these, with an empty object for one of those that may replace in part.

    So the members of a new object are compared one by one.
    """
    in_part = {path.partition(".")[0] for path in aks_type.replaces if "." in path} | {HEADERS}
    one_sided: dict[str, Any] = {
        name: {} for name in in_part if name not in these and name in those
    }
    return {**these, **one_sided}


def _in_old_case(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Returns the new properties; a header's name, which has no case, as it was written before."""
    before: Any = old.get(HEADERS)
    after: Any = new.get(HEADERS)
    if not _are_maps(before, after):
        return new
    written = {name.lower(): name for name in before}
    headers = {written.get(name.lower(), name): value for name, value in after.items()}
    return {**new, HEADERS: headers}


def is_autoscaled(pool: Any) -> bool:
    """Whether the number of nodes is the autoscaler's affair."""
    return isinstance(pool, Mapping) and pool.get("enableAutoScaling") is True


def projected(shape: ObjectOf, inputs: Any, actual: Any, unordered: _Unordered) -> dict[str, Any]:
    """Returns the actual values of the inputs, in the inputs' own words.

    What no input sets is Azure's affair: its defaults are no drift.
    """
    return settled(shape, inputs, _selected(shape, inputs, actual), unordered)


def supplemented(shape: Shape, inputs: Any, actual: Any, new: Any) -> Any:
    """Returns the old inputs, and the actual value of whatever only the new inputs set.

    So it is no change to set what Azure has chosen by itself.
    """
    if not (isinstance(shape, ObjectOf) and _are_maps(inputs, actual, new)):
        return inputs
    result = dict(inputs)
    for name in new.keys() & actual.keys() & shape.fields.keys():
        if name in inputs:
            result[name] = supplemented(shape.fields[name], inputs[name], actual[name], new[name])
        else:
            result[name] = _selected(shape.fields[name], new[name], actual[name])
    return result


def settled(
    shape: ObjectOf, old: Any, new: Any, unordered: _Unordered, path: str = ""
) -> dict[str, Any]:
    """Returns the new properties; what means the same as an old one, in the old one's words."""
    result = {}
    for name in (*old, *(name for name in new if name not in old)):
        before, after = old.get(name), new.get(name)
        if _is_nothing(before) and _is_nothing(after):
            if name in old:
                result[name] = before
        elif name in new:
            inner = f"{path}.{name}" if path else name
            result[name] = _settled(shape.fields.get(name), before, after, unordered, inner)
    if is_autoscaled(old) and is_autoscaled(new) and "count" in old:
        result["count"] = old["count"]
    return result


def _settled(shape: Shape | None, old: Any, new: Any, unordered: _Unordered, path: str) -> Any:
    match shape:
        case Scalar() if _is_same_text(shape, path.rpartition(".")[2], old, new):
            return old
        case ObjectOf() if _are_maps(old, new):
            return settled(shape, old, new, unordered, path)
        case ListOf(ObjectOf() as item) if _are_named(old) and _are_named(new):
            before = {member["name"]: member for member in old}
            return [
                settled(item, before.get(member["name"], {}), member, unordered, path)
                for member in new
            ]
        case ListOf() if path in unordered and _are_lists(old, new):
            kept = [item for item in old if item in new]
            return kept + [item for item in new if item not in old]
    return new


def _selected(shape: Shape, inputs: Any, actual: Any) -> Any:
    match shape:
        case ObjectOf(fields=fields) if _are_maps(inputs, actual):
            selected = {
                name: _selected(fields.get(name, Anything()), value, actual[name])
                for name, value in inputs.items()
                if name in actual
            }
            # Azure keeps a password to itself.
            selected |= {name: inputs[name] for name in inputs if name in CREDENTIALS}
            # How many nodes there are is then the autoscaler's affair.
            counted = is_autoscaled(actual) and "count" in inputs
            return selected | ({"count": inputs["count"]} if counted else {})
        case MapOf() if _are_maps(inputs, actual):
            return {
                name: value
                for name, value in actual.items()
                if name in inputs or not name.startswith(_OF_AKS)
            }
        case ListOf(ObjectOf() as item) if _are_named(inputs) and _are_named(actual):
            there = {member["name"]: member for member in actual}
            return [
                _selected(item, member, there[member["name"]])
                for member in inputs
                if member["name"] in there
            ]
        case ListOf() if _are_lists(inputs, actual):
            return [item for item in actual if item in inputs or not str(item).startswith(_OF_AKS)]
    return actual


def _is_same_text(shape: Scalar, name: str, old: Any, new: Any) -> bool:
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    if shape.is_choice or name in _IN_ANY_CASE or name.endswith(_ID_ENDINGS):
        old, new = old.casefold(), new.casefold()
    if name == "location":
        old, new = old.replace(" ", ""), new.replace(" ", "")
    return bool(old == new)


def _is_nothing(value: Any) -> bool:
    """Whether a value says no more than its absence would."""
    return value is None or value in ([], {})


def _are_maps(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def _are_named(items: Any) -> bool:
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items
    )
