"""Refuses, in previews too, what AKS would of the system pool in its cluster's own request."""

from collections.abc import Mapping
from typing import Any

import pulumi

from catalogue import fixed, kept
from catalogue.shapes import at
from components.hooks import guard
from components.live_pools import POOLS, Values, has, plain
from components.taken_out import tell

_KEPT = dict.fromkeys((*fixed.POOL, *kept.LASTING_POOL))


class FirstPoolError(Exception):
    """AKS would refuse what a request for the cluster says of its own pool."""


def first_pool_hooks(*, removed: bool) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a cluster."""
    if removed:
        return pulumi.ResourceHookBinding(before_create=[guard(_require_pool, in_previews=True)])
    return pulumi.ResourceHookBinding(before_update=[guard(_require_same_pool, in_previews=True)])


def _require_pool(args: pulumi.ResourceHookArgs) -> None:
    raise FirstPoolError(
        f"AKS makes no cluster without a pool, and {args.name!r} is a new one: set removed on the "
        "system pool once others have taken its place (docs/system-pools.md)"
    )


async def _require_same_pool(args: pulumi.ResourceHookArgs) -> None:
    sent = await _pools(args.old_inputs)
    # The answer has what AKS chose by itself, too.
    there = sent | await _pools(args.old_outputs)
    for name, pool in (await _pools(args.new_inputs)).items() if sent else ():
        # A refresh sets other pools behind the cluster's own.
        own = name if name in sent else next(iter(sent))
        changed = _changed(there[own], pool) if own == name else {"name": own}
        if changed:
            values = ", ".join(f"{path} ({value or 'not set'})" for path, value in changed.items())
            raise FirstPoolError(
                f"the system pool {own!r} is part of its cluster, and AKS does not change its "
                f"{values}: keep that, or add another system pool, which takes its place "
                "(docs/system-pools.md)"
            )
        gone = [path for path in _KEPT if at(sent[own], path) and not at(pool, path)]
        tell(f"The system pool {own!r}", gone, kept.LASTING_POOL)


def _changed(there: Values, wanted: Values) -> dict[str, Any]:
    """What the pool has of that which cannot change, and is wanted otherwise."""
    changed = {}
    for path in fixed.POOL:
        value, old = at(wanted, path), at(there, path)
        outer = path.partition(".")[0]
        # AKS keeps what a request leaves out.
        if value is not None and not has({outer: old}, {outer: value}):
            changed[path] = old
    return changed


async def _pools(properties: Mapping[str, Any] | None) -> dict[str, Values]:
    """The pools by name, in their order; none while some of them is to come."""
    found = await plain({POOLS: (properties or {}).get(POOLS)})
    return {pool["name"]: pool for pool in found.get(POOLS) or ()}
