"""Capacities: what is known of each rung, and whether the order of the rungs is that of prices."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from operator import lt
from typing import Any

from aks_catalogue.capacity import EXPANDER
from aks_catalogue.sizes import find
from aksgpu.preflight.costs import Costs, PoolCost
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

# The questions whose answers say whether AKS takes the pool of a rung.
_OFFERED = ("size", "zones", "spot", "retired")
_WORDS = {"ok": "yes", "problem": "no"}
_NO_ANSWER = About("").unknown("", "")


def rungs(costs: Costs, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """What is known of each rung, in the order of the stack file."""
    numbers = Counter[str]()
    for cost in costs.pools:
        if cost.pool.capacity:
            numbers[cost.pool.capacity] += 1
            answers = {row.question: row for row in rows if row.pool == cost.pool.name}
            yield _rung(numbers[cost.pool.capacity], cost, answers)


def _rung(number: int, cost: PoolCost, answers: Mapping[str, Row]) -> dict[str, Any]:
    pool, hours = cost.pool, hours_of(cost)
    offered = [answers[name].answer for name in _OFFERED if name in answers]
    worst = next((answer for answer in offered if answer != "ok"), "ok")
    quota, score = (answers.get(name, _NO_ANSWER) for name in ("quota", "score"))
    limit = "{limit} of {limitNeeded}".format(**quota.figures) if quota.figures else "unknown"
    regular = "reserved" if pool.reservation_group else "regular"
    return {
        "capacity": pool.capacity,
        "rung": number,
        "pool": pool.name,
        "size": pool.vm_size,
        "kind": "spot" if pool.spot else regular,
        "zones": list(pool.zones),
        "offered": _WORDS.get(worst, worst) if "size" in answers else "unknown",
        "quota": "ok" if quota.answer == "ok" else limit,
        "score": score.figures.get("score", "unknown") if pool.spot else None,
        "nodeHour": float(hours[0]) if hours else None,
        "gpuHour": float(hours[1]) if hours[1:] else None,
    }


def hours_of(cost: PoolCost) -> tuple[Decimal, ...]:
    """The price of an hour of a node and of one of its GPUs, as far as they are known."""
    size = find(cost.pool.vm_size)
    if isinstance(cost.price, Unanswered):
        return ()
    node = cost.price.hourly
    gpus = size.gpus if size else None
    return (node, node * gpus.denominator / gpus.numerator) if gpus else (node,)


def judge_order(costs: Costs) -> Iterator[Row]:
    """A warning for each rung that costs more than a later one, by the node and by the GPU."""
    for place, cost in enumerate(costs.pools):
        pool, paid = cost.pool, _paid(cost)
        later = [each for each in costs.pools[place + 1 :] if each.pool.capacity == pool.capacity]
        cheaper = [each for each in later if all(map(lt, _paid(each) or paid, paid))]
        if pool.capacity and paid and cheaper:
            best = min(cheaper, key=_paid)
            price = f"which costs only {_paid(best)[0]:.2f}"
            if best.pool.reservation_group:
                price = "whose machines are paid for already"
            yield About("order", pool.name, f"{pool.key}.name").warning(
                f"{pool.name} costs {paid[0]:.2f} an hour, and the autoscaler tries it before "
                f"{best.pool.name}, {price}",
                f"put {best.pool.name} before it, unless it is wanted less",
            )


def _paid(cost: PoolCost) -> tuple[Decimal, ...]:
    """What an hour adds to the bill: nothing for a reservation, which is paid for anyway."""
    return (Decimal(), Decimal()) if cost.pool.reservation_group else hours_of(cost)


def judge_expander(settings: Settings, facts: Facts) -> Iterator[Row]:
    """Whether the autoscaler of an existing cluster goes by the order of the rungs."""
    is_asked = settings.gpu_capacity and settings.cluster.existing
    if not is_asked or not isinstance(facts.cluster, ExistingCluster):
        return
    about, cluster = About("expander", key="gpuCapacity"), facts.cluster
    faults = {}
    if cluster.expander != EXPANDER:
        faults[f"expander={EXPANDER}"] = f"has the expander {cluster.expander or 'random'}"
    if cluster.balances:
        faults["balance-similar-node-groups=false"] = "spreads nodes over similar pools"
    if not faults:
        yield about.ok("the autoscaler of the cluster goes by priorities")
        return
    names = shlex.join(["-g", settings.resource_group.name, "-n", settings.cluster.name])
    yield about.warning(
        "the order of rungs is ignored as long as the cluster's autoscaler "
        + " and ".join(faults.values()),
        f"run `az aks update {names} --cluster-autoscaler-profile {' '.join(faults)}`",
    )
