"""Reports properties that a program removes and AKS keeps, also in previews."""

from collections.abc import Iterable, Mapping

import pulumi

from catalogue.shapes import at
from components.hooks import guard
from components.live_pools import resolved


class KeptPropertyError(Exception):
    """A program removes a property that AKS cannot remove."""


def warn_of_kept_properties(name: str, removed: Iterable[str], lasting: Mapping[str, str]) -> None:
    """Warns that AKS keeps the properties that the program removes."""
    for path in removed:
        remedy = f" ({lasting[path]})" if path in lasting else ""
        pulumi.log.warn(f"{name}: AKS keeps the current {path}{remedy}")


def removed_property_hooks(
    lasting: Mapping[str, str], refused: Mapping[str, str]
) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a resource of azure-native or aks-preview.

    `lasting` are the paths of properties to warn of, each with the way to change it. `refused` are
    the paths of properties that must stay, each with the reason.
    """

    async def compare(args: pulumi.ResourceHookArgs) -> None:
        old, new = await resolved(args.old_inputs), await resolved(args.new_inputs)
        if not new:
            return
        removed = [path for path in (*refused, *lasting) if at(old, path) and not at(new, path)]
        for path in removed:
            if path in refused:
                raise KeptPropertyError(f"{args.name!r} must keep {path}: {refused[path]}")
        warn_of_kept_properties(repr(args.name), removed, lasting)

    return pulumi.ResourceHookBinding(before_update=[guard(compare, in_previews=True)])
