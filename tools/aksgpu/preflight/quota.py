"""Whether the subscription's quota is enough for the most that the stack can need."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aks_catalogue.regions import plain
from aks_pools.pools import Pool
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, OfferedSize, Quota, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row

_REGION, _SPOT = "cores", "lowPriorityCores"
_WHERE = "https://aka.ms/prodquotaincrease"


@dataclass
class _Demand:
    """The vCPUs of the pools in one quota: at first, at most, and with the surge of upgrades."""

    first: int = 0
    most: int = 0
    surging: int = 0
    # How many of them the quota already counts as used.
    present: int = 0


def judge(pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers for each pool (quota of its VM family, or of spot) and for the region's quota."""
    if isinstance(facts.quotas, Unanswered):
        advice = f"run `az vm list-usage --location {facts.location} --output table`"
        yield About("quota").unknown(facts.quotas.reason, advice, facts.quotas.cause)
        return
    demands = _demands(pools, facts)
    yield from (_of_pool(pool, facts, demands) for pool in pools)
    if plain(_REGION) in demands:
        yield _compared(About("quota of the region"), _REGION, facts, demands)


def _of_pool(pool: PlannedPool, facts: Facts, demands: Mapping[str, _Demand]) -> Row:
    key = "count" if pool.most == pool.fewest else "maxCount"
    about, size = About("quota", pool.name, f"{pool.key}.{key}"), facts.size(pool.vm_size)
    if size is None:
        what = "the quota of a size that is not offered is not known"
        if isinstance(facts.sizes, Unanswered):
            what = "the list of sizes, which names the quota, was not available"
        return about.unknown(what, "see the question size", None)
    name = _SPOT if pool.spot else size.family
    demand = demands[plain(name)]
    row = _compared(about, name, facts, demands, _explanation(pool, size, demand, facts))
    can_start = demand.first <= row.figures.get("left", 0)
    if pool.is_rung and row.cause is Cause.QUOTA_TOO_SMALL and can_start:
        # AKS takes such a pool, and its autoscaler the next rung.
        return replace(row, answer="warning", cause=None)
    return row


def _compared(
    about: About, name: str, facts: Facts, demands: Mapping[str, _Demand], explanation: str = ""
) -> Row:
    quotas, demand = facts.quotas, demands[plain(name)]
    quota = None if isinstance(quotas, Unanswered) else quotas.get(plain(name))
    if quota is None:
        what = f"Azure lists no quota {name or '(no name)'} in {facts.location}"
        advice = f"`az vm list-usage --location {facts.location} --output table` lists all"
        return about.unknown(what, advice)
    others = max(0, quota.used - demand.present)
    needed, left = others + demand.surging, quota.limit - others
    figures = {
        "quota": quota.name,
        "limit": quota.limit,
        "used": quota.used,
        "usedByThisStack": demand.present,
        "needed": demand.surging,
        "limitNeeded": needed,
        "left": left,
    }
    own = f" ({demand.present} of it by this stack)" if demand.present else ""
    what = (
        f"{quota.name}: limit {quota.limit}, used {quota.used}{own}, "
        f"needed at most {demand.surging}{explanation}"
    )
    if demand.surging <= left or not demand.surging:
        return about.ok(what, **figures)
    what += f": {_how_far(left, demand)}"
    return about.problem(Cause.QUOTA_TOO_SMALL, what, _advice(quota, needed, facts), **figures)


def _explanation(pool: PlannedPool, size: OfferedSize, demand: _Demand, facts: Facts) -> str:
    vcpus = (pool.most + pool.surge) * size.vcpus
    nodes = f"{pool.most} node{'s' * (pool.most != 1)}"
    if pool.surge:
        nodes += f" and {pool.surge} surge node{'s' * (pool.surge != 1)}"
    others = demand.surging - vcpus
    shared = f", {others} for other pools of the stack" if others else ""
    live = facts.pool(pool.name)
    is_double = live is not None and pool.rotates(live)
    beside = f", in addition to {_count(live)} of the pool that it replaces" if is_double else ""
    return f" ({vcpus} for {nodes} with {size.vcpus} vCPUs each{shared}){beside}"


def _how_far(left: int, demand: _Demand) -> str:
    """What the quota is enough for."""
    if demand.first > left:
        return "too little for the first nodes"
    if demand.most > left:
        return "enough for the first nodes, too little for the most nodes"
    return "enough for the most nodes, too little for the surge nodes of an upgrade"


def _advice(quota: Quota, needed: int, facts: Facts) -> str:
    kind = "lowPriority" if plain(quota.name) == plain(_SPOT) else "dedicated"
    scope = f"/subscriptions/{facts.subscription}/providers/Microsoft.Compute/locations/"
    return (
        f"request a limit of {needed} or more at {_WHERE}, or with `az quota update "
        f"--resource-name {shlex.quote(quota.name)} --scope {scope}{facts.location} --limit-object "
        f"value={needed} --resource-type {kind}`; or use fewer nodes, a smaller maxSurge or "
        "another size"
    )


def _demands(pools: Sequence[PlannedPool], facts: Facts) -> dict[str, _Demand]:
    """The demand in each quota. Of pools that stand in for each other, the largest counts."""
    demands: dict[str, _Demand] = defaultdict(_Demand)
    largest: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for pool in pools:
        if size := facts.size(pool.vm_size):
            for name in _names(size.family, spot=pool.spot):
                demands[name].first += pool.first * size.vcpus
                own = pool.most * size.vcpus, (pool.most + pool.surge) * size.vcpus
                largest[name, pool.slot] = max(largest[name, pool.slot], own)
    for (name, _), (most, surging) in largest.items():
        demands[name].most += most
        demands[name].surging += surging
    for demand in demands.values():
        demand.most = max(demand.first, demand.most)
        demand.surging = max(demand.first, demand.surging)
    for pool in pools:
        live = facts.pool(pool.name)
        size = facts.size(next(iter(live.sizes()), "")) if live else None
        # A pool that another one replaces stays until then, so its nodes are in addition.
        if live and size and not pool.rotates(live):
            for quota in _names(size.family, spot=live.is_spot()) & demands.keys():
                demands[quota].present += _count(live) * size.vcpus
    return demands


def _count(live: Pool | None) -> int:
    """How many nodes a pool has now."""
    return int(live.properties.get("count") or 0) if live else 0


def _names(family: str, *, spot: bool) -> set[str]:
    """The quotas that a pool counts against: spot nodes count only against the spot quota."""
    return {plain(name) for name in ((_SPOT,) if spot else (family, _REGION))}
