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
_SCALARS: Mapping[str, tuple[type, str]] = {
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "string": (str, "a string"),
}


def mistakes(
    resource: str, extra: Any, owned: Mapping[str, str], version: str, path: str
) -> list[Mistake]:
    """Returns what is wrong with the properties of a `cluster` or a `pool`.

    `owned` has the paths that a component sends, each with its argument, if it has one. `version`
    is that of the API in which they are sent. What is None is not known yet.
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
        if name in aks_types()[kind] and name not in ("properties", "id", "name", "type"):
            place = _Place(resource, owned, version, f"{outside}.{name}".lstrip("."))
            yield from place.judge(
                aks_types()[kind][name], extra[name], name, property_path(path, name)
            )
            return
    known = [field for kind in _TYPES[resource] for field in aks_types()[kind]]
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
            instead = f"is the argument {argument}: set that" if argument else "is always sent"
            yield Mistake(path, f"{instead}, and remove it here")
        elif reason := self.unavailable():
            yield Mistake(path, reason)
        elif value is not None:
            yield from self._judge_value(kind, value, own, path)

    def _judge_value(self, kind: str, value: Any, own: str, path: str) -> Iterator[Mistake]:
        container, _, inner = kind.rpartition(" of ")
        if container == "list":
            if not isinstance(value, list | tuple):
                yield Mistake(path, f"must be a list, not {shown(value)}")
                return
            for index, item in enumerate(value):
                yield from self._judge_value(inner, item, own, f"{path}[{index}]")
        elif container == "map" or inner in aks_types():
            if not isinstance(value, Mapping):
                yield Mistake(path, f"must be a map, not {shown(value)}")
            elif container == "map":
                for name, item in value.items():
                    yield from self._judge_value(inner, item, own, property_path(path, str(name)))
            else:
                yield from self._judge_fields(aks_types()[inner], value, own, path)
        elif kind in _SCALARS and value is not None:
            wanted, words = _SCALARS[kind]
            if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
                yield Mistake(path, f"must be {words}, not {shown(value)}")

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
    near = difflib.get_close_matches(name, known, n=1)
    hint = f": write {near[0]}" if near else ": use the names of Azure's API"
    return f"is not a property of AKS's API of {API_VERSION}{hint}"


def merged(body: Any, extra: Any) -> Any:
    """Returns a request with properties added to it, at any depth."""
    if not isinstance(body, Mapping) or not isinstance(extra, Mapping):
        return extra
    return {**body, **{name: merged(body.get(name), value) for name, value in extra.items()}}


def leaves(values: Any, path: str = "") -> Iterator[str]:
    """Yields the paths of all values that are no maps."""
    if not isinstance(values, Mapping):
        yield path
        return
    for name, value in values.items():
        yield from leaves(value, f"{path}.{name}".lstrip("."))
