"""The properties of AKS, and how a PUT changes each."""

import tomllib
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from types import MappingProxyType

from aks_catalogue import aks_properties, aks_types


class Change(Enum):
    """How a PUT of an existing resource changes a property."""

    # It gets the value of the PUT, and keeps its value if the PUT leaves it out.
    KEPT = auto()
    # Fixed at creation: it keeps its value, and another value is refused.
    FIXED = auto()
    # Set by the server, which ignores what a client sends.
    SERVERS = auto()


KEPT, FIXED, SERVERS = Change


_EXCEPTIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CODES: Mapping[str, str] = _EXCEPTIONS["codes"]
IMPLIED: Mapping[str, object] = _EXCEPTIONS["implied"]
NOT_CHANGED = [(row["path"], row["from"], row["to"]) for row in _EXCEPTIONS["not_changed"]]
NOT_PLAYED: Mapping[str, Sequence[str]] = _EXCEPTIONS["pool"]["not_played"]
KEPT_INSIDE, PLAYED = (
    {resource: _EXCEPTIONS[resource][name] for resource in ("cluster", "pool")}
    for name in ("kept_inside", "played")
)
# Properties that an empty list or map clears.
EMPTIED = frozenset(
    [*_EXCEPTIONS["cluster"]["emptied"], *_EXCEPTIONS["pool"]["emptied"]]
    + [name for name, empty in aks_properties.POOL.emptied_by.items() if empty in ({}, [])]
)


TYPES = {
    "cluster": "ManagedClusterProperties",
    "pool": "AgentPoolManagedClusterAgentPoolProfileProperties",
}


def _table(resource: str, known: aks_properties.Properties) -> dict[str, Change]:
    """Returns the change of each property, and of some nested ones."""
    own = _EXCEPTIONS[resource]
    kept = aks_types.aks_types()[TYPES[resource]]
    # The location is checked elsewhere.
    fixed = [path for path in known.fixed if path not in ("location", "extendedLocation")]
    return {
        **dict.fromkeys(kept, KEPT),
        **dict.fromkeys(sorted([*fixed, *own["fixed"]]), FIXED),
        **dict.fromkeys(sorted([*known.by_server, *own["servers"]]), SERVERS),
    }


CLUSTER = _table("cluster", aks_properties.CLUSTER)
POOL = _table("pool", aks_properties.POOL)
INLINE_POOL = POOL | {"name": SERVERS}
TABLES: Mapping[str, Mapping[str, Change]] = {"cluster": CLUSTER, "pool": POOL}


def _choices(resource: str, kind: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the values that properties may have, in any case; those of previews are the same."""
    otherwise = _EXCEPTIONS[resource]["choices"]
    known = {
        path: tuple(otherwise.get(path, values))
        for path, values in aks_types.choices(kind).items()
        # What the server sets, and inline pools, which are judged as pools.
        if not path.startswith(("systemData.", "properties.agentPoolProfiles"))
    }
    return MappingProxyType({path: values for path, values in known.items() if values})


CHOICES = {
    "cluster": _choices("cluster", "ManagedCluster"),
    "pool": _choices("pool", TYPES["pool"]),
}


def names(properties: Mapping[str, Change], *changes: Change) -> list[str]:
    """Returns the names of the properties with one of these changes."""
    return [name for name, change in properties.items() if change in changes]
