"""What means the same to Azure, though it is written otherwise.

Case, order, numbers as text, silence, and what AKS and others add by themselves: without this
every refresh would show changes that nobody made.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from catalogue import nodes
from catalogue.secrecy import CREDENTIALS
from provider_kit.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape

# Texts that Azure compares without regard to case, beside ids and those with a choice of words.
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
# Texts that say yes or no: of the autoscaler's settings, and in the configuration of add-ons.
_SWITCHES = frozenset({"false", "true"})
_ID_ENDINGS = ("ID", "Id", "IDs", "Ids")
_ID_START = "/subscriptions/"
_ADDRESSES = frozenset(
    {"authorizedIPRanges", "dnsServiceIP", "podCidr", "podCidrs", "serviceCidr", "serviceCidrs"}
)
# Lists whose order says something: the first family of addresses is the main one.
_IN_ORDER = frozenset({"autoscale", "ipFamilies", "manual", "podCidrs", "serviceCidrs"})
# Maps whose names have no case, ...
_NAMED_IN_ANY_CASE = frozenset(
    {"addonProfiles", "config", "customHeaders", "identityProfile", "tags"}
)
# ... whose values are the user's own words, ...
_VERBATIM = frozenset({"customHeaders", "nodeLabels", "podLabels", "tags"})
# ... and to which nobody but the program and AKS adds anything.
_OURS_ALONE = frozenset({"nodeLabels"})


def is_autoscaled(pool: Any) -> bool:
    """Whether the number of nodes is the autoscaler's affair."""
    return isinstance(pool, Mapping) and pool.get("enableAutoScaling") is True


def projected(shape: ObjectOf, inputs: Any, actual: Any) -> dict[str, Any]:
    """Returns the actual values of the inputs, in the inputs' own words.

    What no input sets is Azure's affair: its defaults are no drift.
    """
    found: dict[str, Any] = settled(shape, inputs, _selected(shape, inputs, actual))
    return found


def supplemented(shape: Shape, inputs: Any, actual: Any, new: Any, name: str = "") -> Any:
    """Returns the old inputs, and the actual value of whatever only the new inputs set.

    So it is no change to set what Azure has chosen by itself.
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
            there, wanted = _Names(name, actual), _Names(name, new)
            known = {
                key: supplemented(value, held, there.get(key), wanted.get(key), name)
                for key, held in inputs.items()
            }
            ours = _Names(name, inputs)
            return known | {
                key: _selected(value, said, there.get(key), name)
                for key, said in new.items()
                if key not in ours and key in there
            }
        case ListOf(ObjectOf() as item) if _are_named(inputs, actual, new):
            made, said = _by_name(actual), _by_name(new)
            return [
                supplemented(item, held, made.get(key), said.get(key))
                for key, held in _by_name(inputs).items()
            ]
    return inputs


def settled(shape: Shape, old: Any, new: Any, name: str = "") -> Any:
    """Returns the new value; what means the same as an old one, in the old one's words."""
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
        if _is_nothing(before) and _is_nothing(after):
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
    before = _Names(name, old)
    after = {before.written(key): held for key, held in new.items()}
    off = {key: held for key, held in old.items() if key not in after and _is_off(held)}
    return off | {
        key: settled(value, old[key], held, name) if key in old else held
        for key, held in after.items()
        if key in old or not _is_off(held)
    }


def _settled_list(item: Shape, old: list[Any], new: list[Any], name: str) -> list[Any]:
    """Returns a list in its old order, if it has none of its own: what it had before first."""
    if isinstance(item, ObjectOf) and _are_named(old, new):
        before, after = _by_name(old), _by_name(new)
        kept = [settled(item, before[key], after[key]) for key in before if key in after]
        return kept + [held for key, held in after.items() if key not in before]
    if name in _IN_ORDER:
        alike = zip(old, new, strict=True) if len(old) == len(new) else ()
        return [settled(item, one, other, name) for one, other in alike] or new
    kept, left = [], list(new)
    for held in old:
        same = next((one for one in left if settled(item, held, one, name) == held), None)
        if same is not None:
            left.remove(same)
            kept.append(held)
    return kept + left


def _selected(shape: Shape, inputs: Any, actual: Any, name: str = "") -> Any:
    match shape:
        case ObjectOf(fields=fields) if _are_maps(inputs, actual):
            selected = {
                field: _selected(fields.get(field, Anything()), value, actual[field], field)
                for field, value in inputs.items()
                if actual.get(field) is not None
            }
            # Azure keeps a password to itself; what is off, it may leave out.
            selected |= {
                field: value
                for field, value in inputs.items()
                if field in CREDENTIALS or (value is False and actual.get(field) is None)
            }
            return selected | _scaling(inputs, actual)
        case MapOf(value) if _are_maps(inputs, actual):
            ours, there = _Names(name, inputs), _Names(name, actual)
            drift = {
                ours.written(key): _selected(value, ours.get(key), held, name)
                for key, held in actual.items()
                if key in ours or (name in _OURS_ALONE and not nodes.is_aks_label(key))
            }
            off = {key: held for key, held in inputs.items() if key not in there and _is_off(held)}
            return off | drift
        case ListOf(ObjectOf() as item) if _are_named(inputs, actual):
            found = _by_name(actual)
            return [
                _selected(item, held, found[key])
                for key, held in _by_name(inputs).items()
                if key in found
            ]
        case ListOf(item) if _are_lists(inputs, actual):
            return list(_selected_items(item, inputs, actual, name))
    return actual


def _selected_items(item: Shape, inputs: list[Any], actual: list[Any], name: str) -> Iterator[Any]:
    left = list(inputs)
    for held in actual:
        for said in left:
            seen = _selected(item, said, held, name)
            if settled(item, said, seen, name) == said:
                left.remove(said)
                yield seen
                break
        else:
            if not str(held).startswith(f"{nodes.AKS_LABEL_DOMAIN}/"):
                yield held


def _scaling(inputs: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be seen of an autoscaler: that there is one, not how many nodes it has chosen."""
    if not is_autoscaled(actual):
        return {}
    limits = ("enableAutoScaling", "minCount", "maxCount")
    turned_on = {} if is_autoscaled(inputs) else {n: actual[n] for n in limits if n in actual}
    return turned_on | ({"count": inputs["count"]} if "count" in inputs else {})


def _is_same(shape: Scalar, name: str, old: Any, new: Any) -> bool:
    if old is None or new is None:
        return _is_nothing(old) and _is_nothing(new)
    if type(old) is not type(new):
        return bool(_word(old) == _word(new))
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


def _word(value: Any) -> Any:
    """A simple value in the form in which it can be compared with one of another type."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return float(value)
    except (TypeError, ValueError):
        return value.lower() if isinstance(value, str) else value


def _network(text: str) -> Any:
    """A range of addresses; one address is a range too."""
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return text.casefold()


def _is_nothing(value: Any) -> bool:
    """Whether a property says no more than its absence would."""
    return value == "" or _holds_nothing(value)


def _holds_nothing(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_holds_nothing, value.values()))
    return value is None or value == []


def _is_off(value: Any) -> bool:
    """Whether a member of a map is an add-on that is off: as good as none."""
    return isinstance(value, Mapping) and value.get("enabled") is False


class _Names:
    """A map by its names, which have no case in some."""

    def __init__(self, of: str, values: Mapping[str, Any]) -> None:
        self._folds = of in _NAMED_IN_ANY_CASE
        self._values = values
        self._written = {self._fold(name): name for name in values}

    def _fold(self, name: str) -> str:
        return name.casefold() if self._folds else name

    def __contains__(self, name: str) -> bool:
        return self._fold(name) in self._written

    def get(self, name: str) -> Any:
        return self._values[self.written(name)] if name in self else None

    def written(self, name: str) -> str:
        """The name as it is written here; as it is, if it is not."""
        return self._written.get(self._fold(name), name)


def _are_maps(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, list) for value in values)


def _are_named(*lists: Any) -> bool:
    """Whether the members of lists are told apart by their names."""
    return all(
        isinstance(items, list)
        and all(isinstance(one, Mapping) and isinstance(one.get("name"), str) for one in items)
        and len(_by_name(items)) == len(items)
        for items in lists
    )


def _by_name(members: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {member["name"].casefold(): member for member in members}
