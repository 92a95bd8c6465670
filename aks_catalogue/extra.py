"""Properties of AKS's API that no argument has: what can be sent of them, and what cannot."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_catalogue import aks_properties
from aks_catalogue.aks_types import API_VERSION, aks_types
from aks_catalogue.aks_versions import Lifetime, lifetimes
from aks_catalogue.mistakes import Mistake, property_path, shown

# By resource: the types whose fields are its properties, each with the path of the fields in the
# API, and what AKS does with them.
_TYPES = {
    "cluster": {"ManagedClusterProperties": "properties", "ManagedCluster": ""},
    "pool": {"AgentPoolManagedClusterAgentPoolProfileProperties": "properties"},
}
_RULES = {"cluster": aks_properties.CLUSTER, "pool": aks_properties.POOL}
# The fields beside a cluster's properties that say which resource it is.
_ENVELOPE = frozenset({"properties", "id", "name", "type"})
# In place of a value that is not known yet.
UNKNOWN = object()
# What values of a kind are in Python, and in words.
_SHAPES: Mapping[str, tuple[Any, str]] = {
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "list": (list | tuple, "a list"),
    "map": (Mapping, "a map"),
    "string": (str, "a string"),
}


def mistakes(
    resource: str, extra: Any, owned: Mapping[str, str], version: str, path: str
) -> list[Mistake]:
    """Returns what is wrong with the properties of a `cluster` or a `pool`.

    `owned` has the paths that a component sends, each with its argument, if it has one. `version`
    is that of the API in which they are sent. What is UNKNOWN can be of any kind.
    """
    if not isinstance(extra, Mapping):
        return [Mistake(path, f"must be a map of properties, not {shown(extra)}")]
    return [
        mistake
        for name in extra
        for mistake in _of_field(resource, name, extra, owned, version, path)
    ]


def _of_field(
    resource: str,
    name: str,
    extra: Mapping[str, Any],
    owned: Mapping[str, str],
    version: str,
    path: str,
) -> Iterator[Mistake]:
    for kind, outside in _TYPES[resource].items():
        if name in aks_types()[kind] and (outside or name not in _ENVELOPE):
            place = _Place(resource, owned, version, f"{outside}.{name}".lstrip("."))
            yield from place.judge(
                aks_types()[kind][name], extra[name], name, property_path(path, name)
            )
            return
    known = [field for field in _fields(resource) if field not in _ENVELOPE]
    reason = _Place(resource, owned, version, f"properties.{name}").unavailable()
    yield Mistake(property_path(path, str(name)), reason or _unknown(str(name), known))


class _Place:
    """A place in a request: its path in the tables."""

    def __init__(self, resource: str, owned: Mapping[str, str], version: str, path: str) -> None:
        self._resource, self._owned, self._version, self._path = resource, owned, version, path

    def judge(self, kind: str, value: Any, own: str, path: str) -> Iterator[Mistake]:
        """Yields what is wrong with a value; `own` is its place in the map, `path` in messages."""
        if own in self._owned:
            argument = self._owned[own]
            instead = f"is the argument {argument}: set that, and" if argument else "is fixed:"
            yield Mistake(path, f"{instead} remove it here")
        elif reason := self.unavailable():
            yield Mistake(path, reason)
        elif value is None:
            yield Mistake(path, "has no value: write one, or remove it")
        elif value is not UNKNOWN:
            yield from self._judge_value(kind, value, own, path)
        elif own_inside := [each for each in self._owned if is_within(each, own)]:
            yield Mistake(
                path,
                f"is an output, and arguments send {', '.join(own_inside)}: write a map, whose "
                "values can be outputs",
            )

    def _judge_value(self, kind: str, value: Any, own: str, path: str) -> Iterator[Mistake]:
        container, _, inner = kind.partition(" of ")
        shape = "map" if kind in aks_types() else container
        if value is UNKNOWN or shape not in _SHAPES:
            return
        wanted, words = _SHAPES[shape]
        if not isinstance(value, wanted) or (shape == "integer" and isinstance(value, bool)):
            yield Mistake(path, f"must be {words}, not {shown(value)}")
        elif kind in aks_types():
            yield from self._judge_fields(aks_types()[kind], value, own, path)
        elif shape == "map":
            for name, item in value.items():
                yield from self._judge_value(inner, item, own, property_path(path, str(name)))
        elif shape == "list":
            for index, item in enumerate(value):
                yield from self._judge_value(inner, item, own, f"{path}[{index}]")

    def _judge_fields(
        self, fields: Mapping[str, str], value: Mapping[str, Any], own: str, path: str
    ) -> Iterator[Mistake]:
        for name, item in value.items():
            below = _Place(self._resource, self._owned, self._version, f"{self._path}.{name}")
            if name in fields:
                yield from below.judge(
                    fields[name], item, f"{own}.{name}", property_path(path, name)
                )
            else:
                reason = below.unavailable() or _unknown(str(name), fields)
                yield Mistake(property_path(path, str(name)), reason)

    def unavailable(self) -> str:
        """Why it cannot be sent, as far as its name and the version tell; empty if it can."""
        if self._path.removeprefix("properties.") in _RULES[self._resource].by_server:
            return "is set by AKS: remove it"
        lifetime = lifetimes(self._resource).get(self._path)
        return "" if lifetime is None else _outside(lifetime, self._version)


def _outside(lifetime: Lifetime, version: str) -> str:
    if lifetime.is_in(version):
        return ""
    if "" < lifetime.gone <= version:
        return f"is not in AKS's API since {lifetime.gone}: remove it"
    since = lifetime.stable or f"the preview of {lifetime.preview}"
    if lifetime.stable and lifetime.is_in(API_VERSION):
        remedy = f"set customHeaders (an empty map is enough): aks-preview sends {API_VERSION}"
    else:
        remedy = "no provider of this program sends that: remove it"
    return f"is in AKS's API from {since}, and azure-native sends {version}: {remedy}"


def _unknown(name: str, known: Sequence[str] | Mapping[str, str]) -> str:
    if name == "properties":
        return "is only in Azure's requests: write what is in it, without `properties` around it"
    near = difflib.get_close_matches(name, known, n=1)
    hint = f": write {near[0]}" if near else ": use the names of Azure's API"
    return f"is not a property of AKS's API of {API_VERSION}{hint}"


def _fields(resource: str) -> Iterator[str]:
    for kind in _TYPES[resource]:
        yield from aks_types()[kind]


def is_settable(resource: str, path: str) -> bool:
    """Whether a program can send a property."""
    name = path.partition(".")[0]
    return name in _fields(resource) and name not in _RULES[resource].by_server


def is_within(path: str, whole: str) -> bool:
    return path == whole or path.startswith(f"{whole}.")


def leaves(values: Any, path: str = "") -> Iterator[str]:
    """Yields the paths of all values that are no maps."""
    if not isinstance(values, Mapping):
        yield path
        return
    for name, value in values.items():
        yield from leaves(value, f"{path}.{name}".lstrip("."))
