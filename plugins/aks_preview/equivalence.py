"""Recognizes values that are written differently, but mean the same to Azure.

They differ in case, order, numbers as strings, unset values, and values that AKS or others add.
Without this, every refresh would show changes that nobody made.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from aks_catalogue import nodes
from aks_catalogue.secrecy import CREDENTIALS
from provider_kit.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape

# Strings that Azure compares without case, besides IDs and strings with a list of valid values.
_IN_ANY_CASE = frozenset(
    {
        "agentPoolName",
        "dnsPrefix",
        "featureName",
        "fqdnSubdomain",
        "ipTagType",
        "kind",
        "location",
        "name",
        "nodeResourceGroup",
        "privateDNSZone",
        "providerNamespace",
        "resourceGroupName",
        "resourceName",
        "size",
        "tag",
        "vmSize",
    }
)
# Booleans as strings, in the autoscaler's settings and in the configuration of add-ons.
_SWITCHES = frozenset({"false", "true"})
_ID_ENDINGS = ("ID", "Id", "IDs", "Ids")
_ID_START = "/subscriptions/"
_ADDRESSES = frozenset(
    {"authorizedIPRanges", "dnsServiceIP", "podCidr", "podCidrs", "serviceCidr", "serviceCidrs"}
)
# Lists with a meaningful order: the first IP family is the primary one.
_IN_ORDER = frozenset({"autoscale", "ipFamilies", "manual", "podCidrs", "serviceCidrs"})
# Maps with case-insensitive keys.
_KEYS_IN_ANY_CASE = frozenset(
    {"addonProfiles", "config", "customHeaders", "identityProfile", "tags"}
)
# Maps with values that the user chooses.
_VERBATIM = frozenset({"customHeaders", "nodeLabels", "podLabels", "tags"})
# Maps to which only the program and AKS add keys.
_ONLY_OURS = frozenset({"nodeLabels"})


def is_autoscaled(pool: Any) -> bool:
    """Whether the autoscaler sets the number of nodes."""
    return isinstance(pool, Mapping) and pool.get("enableAutoScaling") is True


def projected(shape: ObjectOf, inputs: Any, actual: Any) -> dict[str, Any]:
    """Returns the actual values of the inputs, spelled like the inputs if they mean the same.

    Properties without an input are left out: Azure's defaults are no drift.
    """
    values: dict[str, Any] = settled(shape, inputs, _selected(shape, inputs, actual))
    return values


def supplemented(shape: Shape, inputs: Any, actual: Any, new: Any, name: str = "") -> Any:
    """Returns the old inputs, with the actual value of each property that only the new inputs set.

    Then it is no change to set the value that Azure has chosen.
    """
    match shape:
        case ObjectOf(fields=fields) if _are_maps(inputs, actual, new):
            result = dict(inputs)
            for field in new.keys() & actual.keys() & fields.keys():
                inner = fields[field]
                if field in inputs:
                    result[field] = supplemented(
                        inner, inputs[field], actual[field], new[field], field
                    )
                elif actual[field] is not None:
                    result[field] = _selected(inner, new[field], actual[field], field)
            return result
        case MapOf(value) if _are_maps(inputs, actual, new):
            old_keys, actual_keys, new_keys = (
                _Keys(name, values) for values in (inputs, actual, new)
            )
            old = {
                key: supplemented(value, member, actual_keys.get(key), new_keys.get(key), name)
                for key, member in inputs.items()
            }
            return old | {
                key: _selected(value, member, actual_keys.get(key), name)
                for key, member in new.items()
                if key not in old_keys and key in actual_keys
            }
        case ListOf(ObjectOf() as item) if _are_named(inputs, actual, new):
            actual_items, new_items = _by_name(actual), _by_name(new)
            return [
                supplemented(item, member, actual_items.get(key), new_items.get(key))
                for key, member in _by_name(inputs).items()
            ]
    return inputs


def settled(shape: Shape, old: Any, new: Any, name: str = "") -> Any:
    """Returns the new value, with the old spelling of every part that means the same."""
    match shape:
        case Scalar() if _is_same(shape, name, old, new):
            return old
        case ObjectOf() if _are_maps(old, new):
            return _settled_object(shape, old, new)
        case MapOf(value) if _are_maps(old, new):
            return _settled_map(value, old, new, name)
        case ListOf(item) if _are_lists(old, new):
            return _settled_list(item, old, new, name)
    return new


def _settled_object(shape: ObjectOf, old: Mapping[str, Any], new: Mapping[str, Any]) -> Any:
    result = {}
    for name in (*old, *(name for name in new if name not in old)):
        before, after = old.get(name), new.get(name)
        if _is_empty(before) and _is_empty(after):
            if name in old:
                result[name] = before
        elif name in new:
            result[name] = settled(shape.fields.get(name, Anything()), before, after, name)
    if is_autoscaled(old) and is_autoscaled(new) and "count" in old:
        result["count"] = old["count"]
    return result


def _settled_map(
    value: Shape, old: Mapping[str, Any], new: Mapping[str, Any], name: str
) -> dict[str, Any]:
    old_keys = _Keys(name, old)
    after = {old_keys.written(key): member for key, member in new.items()}
    off = {key: member for key, member in old.items() if key not in after and _is_off(member)}
    return off | {
        key: settled(value, old[key], member, name) if key in old else member
        for key, member in after.items()
        if key in old or not _is_off(member)
    }


def _settled_list(item: Shape, old: list[Any], new: list[Any], name: str) -> list[Any]:
    """Returns the new list. If its order has no meaning, old items come first, in their order."""
    if isinstance(item, ObjectOf) and _are_named(old, new):
        before, after = _by_name(old), _by_name(new)
        kept = [settled(item, before[key], after[key]) for key in before if key in after]
        return kept + [member for key, member in after.items() if key not in before]
    if name in _IN_ORDER:
        pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
        return [settled(item, old_item, new_item, name) for old_item, new_item in pairs] or new
    kept, left = [], list(new)
    for old_item in old:
        same = (
            new_item for new_item in left if settled(item, old_item, new_item, name) == old_item
        )
        if (match := next(same, None)) is not None:
            left.remove(match)
            kept.append(old_item)
    return kept + left


def _selected(shape: Shape, inputs: Any, actual: Any, name: str = "") -> Any:
    match shape:
        case ObjectOf(fields=fields) if _are_maps(inputs, actual):
            selected = {
                field: _selected(fields.get(field, Anything()), value, actual[field], field)
                for field, value in inputs.items()
                if actual.get(field) is not None
            }
            # Azure never returns a password, and may omit a property that is off.
            selected |= {
                field: value
                for field, value in inputs.items()
                if field in CREDENTIALS or (value is False and actual.get(field) is None)
            }
            return selected | _scaling(inputs, actual)
        case MapOf(value) if _are_maps(inputs, actual):
            input_keys, actual_keys = _Keys(name, inputs), _Keys(name, actual)
            current = {
                input_keys.written(key): _selected(value, input_keys.get(key), member, name)
                for key, member in actual.items()
                if key in input_keys or (name in _ONLY_OURS and not nodes.is_aks_label(key))
            }
            off = {
                key: member
                for key, member in inputs.items()
                if key not in actual_keys and _is_off(member)
            }
            return off | current
        case ListOf(ObjectOf() as item) if _are_named(inputs, actual):
            actual_items = _by_name(actual)
            return [
                _selected(item, member, actual_items[key])
                for key, member in _by_name(inputs).items()
                if key in actual_items
            ]
        case ListOf(item) if _are_lists(inputs, actual):
            return list(_selected_items(item, inputs, actual, name))
    return actual


def _selected_items(item: Shape, inputs: list[Any], actual: list[Any], name: str) -> Iterator[Any]:
    left = list(inputs)
    for actual_item in actual:
        for input_item in left:
            selected = _selected(item, input_item, actual_item, name)
            if settled(item, input_item, selected, name) == input_item:
                left.remove(input_item)
                yield selected
                break
        else:
            if not str(actual_item).startswith(f"{nodes.AKS_LABEL_DOMAIN}/"):
                yield actual_item


def _scaling(inputs: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the actual scaling. The number of nodes of an autoscaled pool is not drift."""
    if not is_autoscaled(actual):
        return {}
    limits = ("enableAutoScaling", "minCount", "maxCount")
    turned_on = {} if is_autoscaled(inputs) else {n: actual[n] for n in limits if n in actual}
    return turned_on | ({"count": inputs["count"]} if "count" in inputs else {})


def _is_same(shape: Scalar, name: str, old: Any, new: Any) -> bool:
    if old is None or new is None:
        return _is_empty(old) and _is_empty(new)
    if type(old) is not type(new):
        return bool(_comparable(old) == _comparable(new))
    if not isinstance(old, str) or name in _VERBATIM:
        return bool(old == new)
    if name in _ADDRESSES:
        return bool(_network(old) == _network(new))
    old, new = " ".join(old.split()), " ".join(new.split())
    in_any_case = (
        shape.is_choice
        or name in _IN_ANY_CASE
        or name.endswith(_ID_ENDINGS)
        or old.lower().startswith(_ID_START)
        or old.lower() in _SWITCHES
    )
    if in_any_case:
        old, new = old.casefold(), new.casefold()
    if name == "location":
        old, new = old.replace(" ", ""), new.replace(" ", "")
    return bool(old == new)


def _comparable(value: Any) -> Any:
    """Returns a primitive value in a form to compare with a value of another type."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return float(value)
    except (TypeError, ValueError):
        return value.lower() if isinstance(value, str) else value


def _network(text: str) -> Any:
    """Returns an IP range; a single address is a range, too."""
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return text.casefold()


def _is_empty(value: Any) -> bool:
    """Whether a value means the same as an unset property."""
    return value == "" or _contains_nothing(value)


def _contains_nothing(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_contains_nothing, value.values()))
    return value is None or value == []


def _is_off(value: Any) -> bool:
    """Whether a member of a map is an add-on that is off, which means the same as unset."""
    return isinstance(value, Mapping) and value.get("enabled") is False


class _Keys:
    """The keys of a map property, which some properties compare without case."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self._folds = name in _KEYS_IN_ANY_CASE
        self._values = values
        self._written = {self._fold(key): key for key in values}

    def _fold(self, key: str) -> str:
        return key.casefold() if self._folds else key

    def __contains__(self, key: str) -> bool:
        return self._fold(key) in self._written

    def get(self, key: str) -> Any:
        return self._values[self.written(key)] if key in self else None

    def written(self, key: str) -> str:
        """Returns the key as the map spells it; unchanged if the map does not have it."""
        return self._written.get(self._fold(key), key)


def _are_maps(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def _are_named(*lists: Any) -> bool:
    """Whether these are lists of objects with unique names."""
    return all(
        isinstance(items, list)
        and all(isinstance(item, Mapping) and isinstance(item.get("name"), str) for item in items)
        and len(_by_name(items)) == len(items)
        for items in lists
    )


def _by_name(members: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {member["name"].casefold(): member for member in members}
