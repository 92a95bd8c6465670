"""Tells what AKS keeps or does beside what a preview shows, and refuses what it would refuse."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from aks_catalogue.aks_properties import CLUSTER, KEPT_INSIDE, POOL
from aks_catalogue.mistakes import is_within
from aks_catalogue.shapes import at
from components.extra_properties import leaves, sent_by, settable
from components.hooks import guard, resolved
from components.live_pools import POOLS, is_same
from components.pool_args import ModeSystemArgs
from components.reimages import warn_of_reimages

Values = Mapping[str, Any]
_KNOWN = {"cluster": CLUSTER, "pool": POOL}


class KeptError(Exception):
    """AKS would refuse a change, or keep what it removes."""


def removals(arguments: Any) -> pulumi.ResourceHookBinding:
    """Returns the hooks of the resource of a class of arguments, of either provider."""
    hook = guard(_Removals(arguments).tell, in_previews=True)
    return pulumi.ResourceHookBinding(before_update=[hook])


@dataclass(frozen=True)
class _Removals:
    arguments: Any

    async def tell(self, args: pulumi.ResourceHookArgs) -> None:
        old, new = await resolved(args.old_inputs), await resolved(args.new_inputs)
        if old and new:
            _tell(repr(args.name), self.arguments, old, new)


def _tell(name: str, arguments: Any, old: Values, new: Values, kept: Collection[str] = ()) -> None:
    """Warns of what AKS keeps of the removed properties, and of reimages."""
    known = _KNOWN[arguments.resource]
    paths = (*known.must_stay, *known.kept, *kept)
    removed = [path for path in paths if at(old, path) and not at(new, path)]
    if reasons := [known.must_stay[path] for path in removed if path in known.must_stay]:
        raise KeptError(f"{name}: {reasons[0]}")
    removed += [path for path in known.emptied_by if at(old, path) and at(new, path) is None]
    # All that no argument sends is of `extra`.
    others = [*sent_by(arguments), *removed]
    removed += [
        path
        for path in leaves(old)
        if at(old, path)
        and at(new, path) is None
        and (section := path.partition(".")[0]) in settable(arguments.resource)
        and (new.get(section) is None or section in KEPT_INSIDE)
        and not any(is_within(path, other) for other in others)
    ]
    if removed:
        told = ", ".join(dict.fromkeys(removed))
        pulumi.log.warn(f"{name}: AKS keeps {told}, which you took out: set another value instead")
    warn_of_reimages(name, arguments.resource, old, new)


def first_pool_hooks(*, removed: bool) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a cluster, in whose request the first system pool is."""
    if removed:
        return pulumi.ResourceHookBinding(before_create=[guard(_require_pool, in_previews=True)])
    return pulumi.ResourceHookBinding(before_update=[guard(_require_same_pool, in_previews=True)])


def _require_pool(args: pulumi.ResourceHookArgs) -> None:
    raise KeptError(f"a new cluster, {args.name!r}, needs its system pool: do not set `removed`")


async def _require_same_pool(args: pulumi.ResourceHookArgs) -> None:
    old_pools, new_pools = await _pools(args.old_inputs), await _pools(args.new_inputs)
    if not old_pools or not new_pools:
        return
    name, new = next(iter(new_pools.items()))
    # Behind the first one are pools that a refresh has added.
    old_name = name if name in old_pools else next(iter(old_pools))
    old = old_pools[old_name]
    # The outputs also have the values that AKS chose.
    actual = (await _pools(args.old_outputs)).get(old_name, old)
    changed = [
        f"{path} ({at(actual, path) or 'not set'})"
        for path in ("name", *POOL.fixed)
        # AKS keeps a property that a request leaves out.
        if at(new, path) is not None and not is_same(path, at(actual, path), at(new, path))
    ]
    if changed:
        raise KeptError(
            f"AKS does not change {', '.join(changed)} of a cluster's own system pool: keep the "
            "current value, or replace the pool by another (docs/system-pools.md)"
        )
    _tell(f"system pool {old_name!r}", ModeSystemArgs, old, new, POOL.fixed)


async def _pools(properties: Values | None) -> dict[str, Values]:
    """Returns the pools by name, in order; empty if a value is unknown."""
    values = await resolved({POOLS: (properties or {}).get(POOLS)})
    return {pool["name"]: pool for pool in values.get(POOLS) or ()}
