"""Reads the inputs of a resource for the rules, each value when a rule asks for it.

A value that is not known before the update raises CannotReadError then. Null counts as not set.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_policy import proxy
from pulumi_policy.proxy import UnknownValueError

from aks_pools.values import NotKnownError

# What the engine writes for a value that is not known, by its type.
_UNKNOWN = {value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_")}


class CannotReadError(UnknownValueError, NotKnownError):
    """Why a rule could not judge something. The engine reports it as advisory, at any level."""

    def __init__(self, message: str, urn: str = "") -> None:
        Exception.__init__(self, message)
        self.message = message
        self.urn = urn


class _Place(NamedTuple):
    """The resource of a value, and where in it the value is."""

    name: str
    type: str
    urn: str
    path: tuple[str, ...] = ()

    def read(self, key: str | int, raw: Any) -> Any:
        value = _without_proxy(raw)
        here = self._replace(path=(*self.path, str(key)))
        if isinstance(value, dict):
            return Object(value, here)
        if isinstance(value, list):
            return Items(value, here)
        if isinstance(value, str) and value in _UNKNOWN:
            # As the SDK words it, with the resource: the engine does not name it for the stack.
            said = UnknownValueError(value, list(here.path)).message
            where = f" of {self.name} ({self.type}) can't"
            raise CannotReadError(said.replace(" can't", where), self.urn)
        return value


class Object(Mapping[str, Any]):
    """An object's properties, without those that are null."""

    def __init__(self, raw: Mapping[str, Any], place: _Place) -> None:
        self._raw = {name: value for name, value in raw.items() if value is not None}
        self._place = place
        # All rules share this object.
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._place.read(name, self._raw[name])
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        """Whether the property is set, even if its value is unknown."""
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


class Items(Sequence[Any]):
    """A list's items."""

    def __init__(self, raw: Sequence[Any], place: _Place) -> None:
        self._raw = raw
        self._place = place

    def __getitem__(self, index: Any) -> Any:
        return self._place.read(index, self._raw[index])

    def __len__(self) -> int:
        return len(self._raw)


def reading(properties: Mapping[str, Any], name: str, kind: str, urn: str) -> Mapping[str, Any]:
    """Returns the properties of a resource, as a rule has them from the SDK."""
    return Object(_without_proxy(properties), _Place(name, kind, urn))


def _without_proxy(value: Any) -> Any:
    """Returns the value inside the SDK's proxy."""
    is_proxy = isinstance(value, Mapping | Sequence) and not isinstance(value, dict | list | str)
    return value["__target"] if is_proxy else value
