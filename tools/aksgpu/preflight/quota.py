"""Whether the subscription's quota is enough for the most that the stack can need."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aks_catalogue.regions import plain
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingPool, Facts, OfferedSize, Quota, Unanswered
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
    # The most that another rung of the capacity needs instead.
    instead: int = 0
    # How many of them the quota already counts as used.
    present: int = 0


def judge(pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers for each pool (quota of its VM family, or of spot) and for the region's quota."""
    if isinstance(facts.quotas, Unanswered):
        advice = (
            f"run `az vm list-usage --location {facts.location} --output table` to list "
            "quotas and their usage"
        )
        yield About("quota").unknown(facts.quotas.reason, advice, facts.quotas.cause)
        return
    demands = _demands(pools, facts)
    answers = [
        (pool, _of_pool(pool, facts, _demands(pools, facts, pool) if pool.capacity else demands))
        for pool in pools
    ]
    yield from _with_alternatives(answers)
    if plain(_REGION) in demands:
        about = About("quota of the region")
        yield _compared(about, _REGION, facts, demands)


def _with_alternatives(answers: Sequence[tuple[PlannedPool, Row]]) -> Iterator[Row]:
    """Only warns of a rung without quota, if another rung of its capacity has enough.

    That goes for nodes that may come: AKS refuses a pool whose first nodes have no quota.
    """
    served = {pool.capacity for pool, row in answers if row.answer == "ok"} - {""}
    for pool, row in answers:
        can_start = row.figures.get("limitNeededFirst", 0) <= row.figures.get("limit", 0)
        if row.cause is Cause.QUOTA_TOO_SMALL and pool.capacity in served and can_start:
            what = f"{row.what}; other rungs of {pool.capacity} can be had"
            yield replace(row, answer="warning", what=what, cause=None)
        else:
            yield row


def _of_pool(pool: PlannedPool, facts: Facts, demands: Mapping[str, _Demand]) -> Row:
    key = "count" if pool.most == pool.fewest else "maxCount"
    about = About("quota", pool.name, f"{pool.key}.{key}")
    size = facts.size(pool.vm_size)
    if size is None:
        what = "the quota of a size that is not offered is not known"
        if isinstance(facts.sizes, Unanswered):
            what = "the list of sizes, which names the quota, was not available"
        return about.unknown(what, "see the question size", None)
    if pool.surge is None:
        what = f"{pool.max_surge!r} is neither a number of nodes nor a percentage"
        about = About("quota", pool.name, f"{pool.key}.maxSurge")
        return about.unknown(what, "write 1, or 10%")
    names = [_SPOT] if pool.spot else [size.family, *([_REGION] if pool.capacity else [])]
    answers = []
    for name in names:
        explanation = _explanation(pool, size, demands[plain(name)], _rotating(pool, facts))
        answers.append(_compared(about, name, facts, demands, explanation))
    return next((row for row in answers if row.answer != "ok"), answers[0])


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
    needed = others + demand.surging
    figures = {
        "quota": quota.name,
        "limit": quota.limit,
        "used": quota.used,
        "usedByThisStack": demand.present,
        "needed": demand.surging,
        "limitNeeded": needed,
        "limitNeededFirst": others + demand.first,
    }
    what = (
        f"{quota.name}: limit {quota.limit}, used {quota.used}"
        f"{f' ({demand.present} of it by this stack)' if demand.present else ''}, "
        f"needed at most {demand.surging}{explanation}"
    )
    if needed <= quota.limit or not demand.surging:
        return about.ok(what, **figures)
    what += f": {_how_far(quota, others, demand)}"
    return about.problem(Cause.QUOTA_TOO_SMALL, what, _advice(quota, needed, facts), **figures)


def _rotating(pool: PlannedPool, facts: Facts) -> ExistingPool | None:
    """The pool that stays until the new one is ready; None if nothing replaces it."""
    old = facts.pool(pool.name) if pool.rotates else None
    if old and any(old.fixed.get(path) != value for path, value in pool.fixed.items()):
        return old
    return None


def _explanation(
    pool: PlannedPool, size: OfferedSize, demand: _Demand, old: ExistingPool | None
) -> str:
    vcpus = (pool.most + (pool.surge or 0)) * size.vcpus
    nodes = f"{pool.most} node{'s' * (pool.most != 1)}"
    if pool.surge:
        nodes += f" and {pool.surge} surge node{'s' * (pool.surge != 1)}"
    others = demand.surging - vcpus
    shared = f", {others} for other pools of the stack" if others else ""
    beside = f", in addition to {old.count} of the pool that it replaces" if old else ""
    more = f"; the other rungs need up to {demand.instead}, instead of these"
    more = more if demand.instead else ""
    return f" ({vcpus} for {nodes} with {size.vcpus} vCPUs each{shared}){beside}{more}"


def _how_far(quota: Quota, others: int, demand: _Demand) -> str:
    """What the quota is enough for."""
    left = quota.limit - others
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


def _demands(
    pools: Sequence[PlannedPool], facts: Facts, rung: PlannedPool | None = None
) -> dict[str, _Demand]:
    """The demand in each quota.

    Rungs stand in for each other: of a capacity this one counts, or the one that needs least.
    """
    sized = [(pool, size) for pool in pools if (size := facts.size(pool.vm_size))]
    names = {name for pool, size in sized for name in _names(size.family, spot=pool.spot)}
    demands = {name: _Demand() for name in names}
    for name, demand in demands.items():
        # The most, and that with the surge, of each pool or of the rungs of each capacity.
        choices: dict[str, list[tuple[int, int]]] = {}
        for pool, size in sized:
            vcpus = size.vcpus if name in _names(size.family, spot=pool.spot) else 0
            demand.first += pool.first * vcpus
            most, surging = pool.most * vcpus, (pool.most + (pool.surge or 0)) * vcpus
            if rung and pool.capacity == rung.capacity and pool != rung:
                demand.instead = max(demand.instead, surging)
            else:
                choices.setdefault(pool.capacity or pool.key, []).append((most, surging))
        least = [min(each) for each in choices.values()]
        demand.most = max(demand.first, sum(most for most, _ in least))
        demand.surging = max(demand.first, sum(surging for _, surging in least))
    for pool in pools:
        # The present pool stays until the new one is ready, so its nodes are in addition.
        existing_pool = None if _rotating(pool, facts) else facts.pool(pool.name)
        if existing_pool and (size := facts.size(existing_pool.vm_size)):
            for quota in _names(size.family, spot=existing_pool.spot) & demands.keys():
                demands[quota].present += existing_pool.count * size.vcpus
    return demands


def _names(family: str, *, spot: bool) -> set[str]:
    """The quotas that a pool counts against: spot nodes count only against the spot quota."""
    return {plain(name) for name in ((_SPOT,) if spot else (family, _REGION))}
