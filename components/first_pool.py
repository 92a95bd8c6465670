"""Refuses changes of the first system pool that AKS would refuse, also in previews."""

from collections.abc import Mapping
from typing import Any

import pulumi

from aks_catalogue.aks_properties import POOL
from aks_catalogue.shapes import at
from components.azure_reads import Values
from components.extra_properties import sent_by
from components.hooks import guard, resolved
from components.live_pools import POOLS, has
from components.pool_args import ModeSystemArgs
from components.reimages import warn_of_reimages
from components.removed_properties import removed_extra, warn_of_kept_properties

_KEPT = dict.fromkeys((*POOL.fixed, *POOL.when_removed))
# An empty value removes it, where the program says so.
_TAINTS = "nodeTaints"


class FirstPoolError(Exception):
    """AKS would refuse a change of the first system pool."""


def first_pool_hooks(*, removed: bool) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a cluster."""
    if removed:
        return pulumi.ResourceHookBinding(before_create=[guard(_require_pool, in_previews=True)])
    return pulumi.ResourceHookBinding(before_update=[guard(_require_same_pool, in_previews=True)])


def _require_pool(args: pulumi.ResourceHookArgs) -> None:
    raise FirstPoolError(
        f"AKS cannot create the cluster {args.name!r} without a pool: do not set `removed` on the "
        "system pool of a new cluster (docs/system-pools.md)"
    )


async def _require_same_pool(args: pulumi.ResourceHookArgs) -> None:
    old_inputs = await _pools(args.old_inputs)
    # The outputs also have the values that AKS chose.
    old_pools = old_inputs | await _pools(args.old_outputs)
    for name, pool in (await _pools(args.new_inputs)).items() if old_inputs else ():
        # The first pool in the list: a refresh adds other pools behind it.
        old_name = name if name in old_inputs else next(iter(old_inputs))
        changed = _changed(old_pools[old_name], pool) if old_name == name else {"name": old_name}
        if changed:
            values = ", ".join(f"{path} ({value or 'not set'})" for path, value in changed.items())
            raise FirstPoolError(
                f"the system pool {old_name!r} is part of the cluster, and AKS does not change its "
                f"{values}: keep the current value, or replace the pool by another system pool "
                "(docs/system-pools.md)"
            )
        removed = [path for path in _KEPT if at(old_inputs[old_name], path) and not at(pool, path)]
        if at(old_inputs[old_name], _TAINTS) and at(pool, _TAINTS) is None:
            removed.append(_TAINTS)
        sent = [*sent_by(ModeSystemArgs), *removed]
        removed += removed_extra("pool", old_inputs[old_name], pool, sent)
        warn_of_kept_properties(f"system pool {old_name!r}", removed, POOL.when_removed)
        warn_of_reimages(old_name, "pool", old_inputs[old_name], pool)


def _changed(old_pool: Values, new_pool: Values) -> dict[str, Any]:
    """Returns the old values of fixed properties that the new inputs change."""
    changed = {}
    for path in POOL.fixed:
        value, old = at(new_pool, path), at(old_pool, path)
        outer = path.partition(".")[0]
        # AKS keeps a property that a request leaves out.
        if value is not None and not has({outer: old}, {outer: value}):
            changed[path] = old
    return changed


async def _pools(properties: Mapping[str, Any] | None) -> dict[str, Values]:
    """Returns the pools by name, in order; empty if a value is unknown."""
    values = await resolved({POOLS: (properties or {}).get(POOLS)})
    return {pool["name"]: pool for pool in values.get(POOLS) or ()}
