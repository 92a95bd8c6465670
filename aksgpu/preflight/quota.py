"""Whether the subscription's quota holds what the stack may need at most."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, OfferedSize, Quota, Unanswered
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.wanted import WantedPool
from catalogue.regions import plain

_REGION, _SPOT = "cores", "lowPriorityCores"
_WHERE = "https://aka.ms/prodquotaincrease"


@dataclass
class _Demand:
    """What the pools take of one quota: at first, at most, and while all of them are upgraded."""

    first: int = 0
    most: int = 0
    surging: int = 0
    # What of it the quota counts as used already.
    present: int = 0


def judge(pools: Sequence[WantedPool], facts: Facts) -> Iterator[Row]:
    """For each pool the quota of its family, or that of spot; for the stack the whole region's."""
    if isinstance(facts.quotas, Unanswered):
        advice = f"`az vm list-usage --location {facts.location} --output table` tells"
        yield About("quota").unknown(facts.quotas.reason, advice, facts.quotas.cause)
        return
    demands = _demands(pools, facts)
    for pool in pools:
        yield _of_pool(pool, facts, demands)
    if plain(_REGION) in demands:
        about = About("quota of the region")
        yield _held(about, _REGION, facts, demands)


def _of_pool(pool: WantedPool, facts: Facts, demands: Mapping[str, _Demand]) -> Row:
    key = "count" if pool.most == pool.fewest else "maxCount"
    about = About("quota", pool.name, f"{pool.key}.{key}")
    size = facts.size(pool.vm_size)
    if size is None:
        left_open = "of a size that is not offered no quota is known"
        if isinstance(facts.sizes, Unanswered):
            left_open = "the list of sizes was not to be had, and it names the quota"
        return about.unknown(left_open, "see size", None)
    if pool.surge is None:
        what = f"{pool.max_surge!r} is neither a number of nodes nor a percentage"
        about = About("quota", pool.name, f"{pool.key}.maxSurge")
        return about.unknown(what, "write 1, or 10%")
    name = _SPOT if pool.spot else size.family
    return _held(about, name, facts, demands, _made_of(pool, size, demands[plain(name)]))


def _held(
    about: About, name: str, facts: Facts, demands: Mapping[str, _Demand], made_of: str = ""
) -> Row:
    quotas, demand = facts.quotas, demands[plain(name)]
    quota = None if isinstance(quotas, Unanswered) else quotas.get(plain(name))
    if quota is None:
        what = f"Azure tells of no quota named {name or '(none)'} in {facts.location}"
        advice = f"`az vm list-usage --location {facts.location} --output table` lists all"
        return about.unknown(what, advice)
    others = max(0, quota.used - demand.present)
    needed = others + demand.surging
    figures = {
        "quota": quota.name,
        "limit": quota.limit,
        "used": quota.used,
        "usedByThisStack": demand.present,
        "needed": demand.surging,
        "limitNeeded": needed,
    }
    what = (
        f"{quota.name}: limit {quota.limit}, used {quota.used}"
        f"{f' ({demand.present} of it by this stack)' if demand.present else ''}, "
        f"needed at most {demand.surging}{made_of}"
    )
    if needed <= quota.limit or not demand.surging:
        return about.ok(what, **figures)
    what += f": {_so_far(quota, others, demand)}"
    return about.problem(Cause.QUOTA_TOO_SMALL, what, _advice(quota, needed, facts), **figures)


def _made_of(pool: WantedPool, size: OfferedSize, demand: _Demand) -> str:
    own = (pool.most + (pool.surge or 0)) * size.vcpus
    nodes = f"{pool.most} node{'s' * (pool.most != 1)}"
    nodes += f" and {pool.surge} of a surge" if pool.surge else ""
    others = demand.surging - own
    shared = f", {others} by other pools of the stack" if others else ""
    return f" ({own} by {nodes} of {size.vcpus} vCPUs{shared})"


def _so_far(quota: Quota, others: int, demand: _Demand) -> str:
    """How far the quota goes."""
    left = quota.limit - others
    if demand.first > left:
        return "too little even to begin with"
    if demand.most > left:
        return "enough to begin with, too little to scale to the most nodes"
    return "enough for the most nodes, too little for the surge of an upgrade on top"


def _advice(quota: Quota, needed: int, facts: Facts) -> str:
    kind = "lowPriority" if plain(quota.name) == plain(_SPOT) else "dedicated"
    scope = f"/subscriptions/{facts.subscription}/providers/Microsoft.Compute/locations/"
    return (
        f"ask for a limit of {needed} or more at {_WHERE}, or with `az quota update "
        f"--resource-name {shlex.quote(quota.name)} --scope {scope}{facts.location} --limit-object "
        f"value={needed} --resource-type {kind}`; or take fewer nodes, a smaller maxSurge or "
        "another size"
    )


def _demands(pools: Iterable[WantedPool], facts: Facts) -> dict[str, _Demand]:
    demands: dict[str, _Demand] = {}
    names = set()
    for pool in pools:
        names.add(pool.name)
        size = facts.size(pool.vm_size)
        if size is None:
            continue
        for name in _names(size.family, spot=pool.spot):
            demand = demands.setdefault(name, _Demand())
            demand.first += pool.first * size.vcpus
            demand.most += pool.most * size.vcpus
            demand.surging += (pool.most + (pool.surge or 0)) * size.vcpus
    existing = facts.cluster.pools if isinstance(facts.cluster, ExistingCluster) else {}
    for name in names & existing.keys():
        there = existing[name]
        if size := facts.size(there.vm_size):
            for quota in _names(size.family, spot=there.spot) & demands.keys():
                demands[quota].present += there.count * size.vcpus
    return demands


def _names(family: str, *, spot: bool) -> set[str]:
    """The quotas that cores count against: those of spot machines have one for themselves."""
    return {plain(name) for name in ((_SPOT,) if spot else (family, _REGION))}
