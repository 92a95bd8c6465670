"""Reports what a change does in AKS and a preview does not show: what stays, and reimages."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pulumi

from aks_catalogue import extra
from aks_catalogue.aks_properties import CLUSTER, KEPT_INSIDE, POOL
from aks_catalogue.shapes import at
from components.extra_properties import sent_by
from components.hooks import guard, resolved
from components.reimages import warn_of_reimages


class KeptPropertyError(Exception):
    """A program removes a property that AKS cannot remove."""


def warn_of_kept_properties(name: str, removed: Iterable[str], lasting: Mapping[str, str]) -> None:
    """Warns that AKS keeps the properties that the program removes."""
    for path in removed:
        remedy = f" ({lasting[path]})" if path in lasting else ""
        pulumi.log.warn(f"{name}: AKS keeps the current {path}{remedy}")


@dataclass(frozen=True, eq=False)
class Removals:
    """What AKS keeps of a kind of resource."""

    # The paths to warn of, each with the way to change it, and those that must stay, with the
    # reason.
    lasting: Mapping[str, str]
    refused: Mapping[str, str]
    # The resource, and what arguments send of it. All else is of the argument `extra`.
    resource: str
    sent: Mapping[str, str]
    # What an empty value removes.
    emptied_by: Mapping[str, Any]

    def hooks(self) -> pulumi.ResourceHookBinding:
        """Returns the hooks of a resource of azure-native or aks-preview."""
        return pulumi.ResourceHookBinding(before_update=[guard(self.compare, in_previews=True)])

    async def compare(self, args: pulumi.ResourceHookArgs) -> None:
        old, new = await resolved(args.old_inputs), await resolved(args.new_inputs)
        if not new:
            return
        paths = (*self.refused, *self.lasting)
        removed = [path for path in paths if at(old, path) and not at(new, path)]
        for path in removed:
            if path in self.refused:
                raise KeptPropertyError(f"{args.name!r} must keep {path}: {self.refused[path]}")
        removed += [path for path in self.emptied_by if at(old, path) and at(new, path) is None]
        removed += removed_extra(self.resource, old, new, [*self.sent, *removed])
        warn_of_kept_properties(repr(args.name), [*dict.fromkeys(removed)], self.lasting)
        if old:
            warn_of_reimages(args.name, self.resource, old, new)


def removed_extra(
    resource: str, old: Mapping[str, Any], new: Mapping[str, Any], others: Collection[str]
) -> list[str]:
    """Returns what AKS keeps of the properties of `extra`: of all that are not among others."""
    return [
        path
        for path in extra.leaves(old)
        if at(old, path)
        and at(new, path) is None
        and (new.get(section := path.partition(".")[0]) is None or section in KEPT_INSIDE)
        and extra.is_settable(resource, path)
        and not any(extra.is_within(path, other) for other in others)
    ]


@cache
def removals(arguments: Any) -> Removals:
    """Returns what AKS keeps of the resource of a class of arguments."""
    known = {"cluster": CLUSTER, "pool": POOL}[arguments.resource]
    return Removals(
        lasting=known.when_removed,
        refused=known.must_stay,
        resource=arguments.resource,
        sent=sent_by(arguments),
        emptied_by=known.emptied_by,
    )
