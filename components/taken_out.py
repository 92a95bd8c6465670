"""Says what AKS keeps of a resource though its program takes it out, in previews too."""

from collections.abc import Iterable, Mapping

import pulumi

from catalogue.shapes import at
from components.hooks import guard
from components.live_pools import plain


class TakenOutError(Exception):
    """A program takes out what AKS keeps for ever."""


def tell(name: str, gone: Iterable[str], lasting: Mapping[str, str]) -> None:
    """Warns of what is taken out, and stays."""
    for path in gone:
        remedy = f" ({lasting[path]})" if path in lasting else ""
        pulumi.log.warn(f"{name}: AKS keeps what it has of {path}{remedy}")


def taken_out_hooks(
    lasting: Mapping[str, str], refused: Mapping[str, str]
) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a resource of azure-native's or of aks-preview's.

    `lasting` are paths of which AKS keeps the value, with what changes it, for a warning; `refused`
    are those whose going would be misleading, with the reason.
    """

    async def compare(args: pulumi.ResourceHookArgs) -> None:
        before, after = await plain(args.old_inputs), await plain(args.new_inputs)
        if not after:
            return
        gone = [path for path in (*refused, *lasting) if at(before, path) and not at(after, path)]
        for path in gone:
            if path in refused:
                raise TakenOutError(f"{args.name!r} cannot do without {path}: {refused[path]}")
        tell(repr(args.name), gone, lasting)

    return pulumi.ResourceHookBinding(before_update=[guard(compare, in_previews=True)])
