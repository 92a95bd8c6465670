"""Tells which properties and types the rehearsal stores and does not simulate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rehearsal.offline_plug_ins import MADE_UP


def in_words(clusters: Iterable[Mapping[str, Any]], types: Sequence[str] = ()) -> str:
    """A line a cluster on a rehearsal's status, and one on the other types; empty if all is played.

    `types` are those of which nothing is simulated.
    """
    owners = ["; ".join(_owners(cluster)) for cluster in clusters]
    owners += [f"all of {', '.join(types)}"] if types else []
    words = "\n".join(f"Stored, not simulated: {owner}." for owner in owners if owner)
    if any(kind.startswith(MADE_UP) for kind in types):
        words += f" The paths in {MADE_UP.removesuffix('.')} are the rehearsal's own."
    return words


def _owners(cluster: Mapping[str, Any]) -> Iterator[str]:
    # Pools with the same properties are told together.
    pools: dict[str, list[str]] = {}
    # A server of another version of the code, which runs still, does not tell this.
    for pool in cluster.get("pools", ()):
        pools.setdefault(", ".join(pool.get("storedOnly", ())), []).append(pool["name"])
    by_paths = {", ".join(cluster.get("storedOnly", ())): [f"cluster {cluster['name']}"]}
    for paths, names in [*by_paths.items(), *pools.items()]:
        if paths:
            yield f"{paths} of {' and '.join(names)}"
