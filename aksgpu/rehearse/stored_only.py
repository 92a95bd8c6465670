"""Tells which properties the rehearsal stores and does not simulate."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def in_words(clusters: Iterable[Mapping[str, Any]]) -> str:
    """One sentence on the clusters of a rehearsal's status; empty if all is simulated."""
    owners = list(_owners(clusters))
    return f"Stored, not simulated: {'; '.join(owners)}." if owners else ""


def _owners(clusters: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for cluster in clusters:
        # Pools with the same properties are told together.
        pools: dict[str, list[str]] = {}
        # A server of another version of the code, which runs still, does not tell this.
        for pool in cluster.get("pools", ()):
            pools.setdefault(", ".join(pool.get("storedOnly", ())), []).append(pool["name"])
        by_paths = {", ".join(cluster.get("storedOnly", ())): [f"cluster {cluster['name']}"]}
        for paths, names in [*by_paths.items(), *pools.items()]:
            if paths:
                yield f"{paths} of {' and '.join(names)}"
