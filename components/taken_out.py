"""Says what AKS keeps of a resource though its program takes it out, in previews too."""

from collections.abc import Collection, Mapping

import pulumi

from components.hooks import guard
from components.live_pools import at, plain


class TakenOutError(Exception):
    """A program takes out what AKS keeps for ever."""


def taken_out_hooks(
    lasting: Collection[str], refused: Mapping[str, str]
) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a resource of azure-native's or of aks-preview's.

    `lasting` are paths of which AKS keeps the value, with a warning; `refused` are those whose
    going would be misleading, with the reason.
    """

    async def compare(args: pulumi.ResourceHookArgs) -> None:
        before, after = await plain(args.old_inputs), await plain(args.new_inputs)
        if not after:
            return
        gone = [path for path in (*refused, *lasting) if at(before, path) and not at(after, path)]
        for path in gone:
            if path in refused:
                raise TakenOutError(f"{args.name!r} cannot do without {path}: {refused[path]}")
        if gone:
            pulumi.log.warn(
                f"{args.name!r}: AKS keeps what it has of {', '.join(gone)}. To change it, set "
                "another value instead of none"
            )

    return pulumi.ResourceHookBinding(before_update=[guard(compare, in_previews=True)])
