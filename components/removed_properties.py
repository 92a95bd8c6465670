"""Reports properties that a program removes and AKS keeps, also in previews."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pulumi

from catalogue import kept
from catalogue.shapes import at
from components.hooks import guard, resolved

POOL = "pool"
CLUSTER = "cluster"
# The paths of properties to warn of, each with the way to change it; and of those that must stay,
# each with the reason.
_TABLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    POOL: (kept.LASTING_POOL, {}),
    CLUSTER: (kept.LASTING_CLUSTER, kept.REFUSED_CLUSTER),
}


class KeptPropertyError(Exception):
    """A program removes a property that AKS cannot remove."""


def warn_of_kept_properties(name: str, removed: Iterable[str], lasting: Mapping[str, str]) -> None:
    """Warns that AKS keeps the properties that the program removes."""
    for path in removed:
        remedy = f" ({lasting[path]})" if path in lasting else ""
        pulumi.log.warn(f"{name}: AKS keeps the current {path}{remedy}")


def removed_property_hooks(kind: str) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a pool or a cluster, of azure-native or aks-preview."""
    return pulumi.ResourceHookBinding(before_update=[guard(_Removals(kind), in_previews=True)])


@dataclass(frozen=True)
class _Removals:
    kind: str

    async def __call__(self, args: pulumi.ResourceHookArgs) -> None:
        lasting, refused = _TABLES[self.kind]
        old, new = await resolved(args.old_inputs), await resolved(args.new_inputs)
        if not new:
            return
        removed = [path for path in (*refused, *lasting) if at(old, path) and not at(new, path)]
        for path in removed:
            if path in refused:
                raise KeptPropertyError(f"{args.name!r} must keep {path}: {refused[path]}")
        warn_of_kept_properties(repr(args.name), removed, lasting)
