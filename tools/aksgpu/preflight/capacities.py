"""Capacities: what is known of each rung, and whether the order of the rungs is that of prices."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import lt
from typing import Any

from aks_catalogue.capacity import EXPANDER
from aks_catalogue.sizes import find
from aksgpu.outcome import Cause
from aksgpu.preflight.costs import Costs, PoolCost
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

# The questions whose answers say whether AKS takes the pool of a rung.
_OFFERED = ("size", "zones", "spot", "retired")
_WORDS = {"ok": "yes", "problem": "no"}


@dataclass(frozen=True)
class Rung:
    """A pool of a capacity, its place there, and what is known of it."""

    number: int
    cost: PoolCost
    # By question.
    answers: Mapping[str, Row]

    @property
    def pool(self) -> PlannedPool:
        return self.cost.pool

    @property
    def kind(self) -> str:
        if self.pool.reservation_group:
            return "reserved"
        return "spot" if self.pool.spot else "regular"

    @property
    def node_hour(self) -> Decimal | None:
        return None if isinstance(self.cost.price, Unanswered) else self.cost.price.hourly

    @property
    def gpu_hour(self) -> Decimal | None:
        size, node = find(self.pool.vm_size), self.node_hour
        if node is None or size is None or not size.gpus:
            return None
        return node * size.gpus.denominator / size.gpus.numerator

    @property
    def offered(self) -> str:
        if "size" not in self.answers:
            return "unknown"
        found = [self.answers[name].answer for name in _OFFERED if name in self.answers]
        worst = next((answer for answer in found if answer != "ok"), "ok")
        return _WORDS.get(worst, worst)

    @property
    def quota(self) -> str:
        row = self.answers.get("quota")
        if row is None or "limit" not in row.figures:
            return "unknown"
        return "ok" if row.answer == "ok" else "{limit} of {limitNeeded}".format(**row.figures)

    @property
    def score(self) -> str:
        row = self.answers.get("score")
        return str(row.figures.get("score", "unknown")) if row else ""

    def document(self) -> dict[str, Any]:
        return {
            "capacity": self.pool.capacity,
            "rung": self.number,
            "pool": self.pool.name,
            "size": self.pool.vm_size,
            "kind": self.kind,
            "zones": list(self.pool.zones),
            "offered": self.offered,
            "quota": self.quota,
            "score": self.score or None,
            "nodeHour": None if self.node_hour is None else float(self.node_hour),
            "gpuHour": None if self.gpu_hour is None else float(self.gpu_hour),
        }


def rungs(costs: Costs, rows: Sequence[Row]) -> dict[str, list[Rung]]:
    """The rungs of all capacities, by the names of the capacities."""
    of_capacities = [cost for cost in costs.pools if cost.pool.capacity]
    return {
        name: [
            Rung(number, cost, {row.question: row for row in rows if row.pool == cost.pool.name})
            for number, cost in enumerate(members, start=1)
        ]
        for name, members in groupby(of_capacities, key=lambda cost: cost.pool.capacity)
    }


def judge_order(ladder: Sequence[Rung]) -> Iterator[Row]:
    """A warning for each rung that costs more than a later one, by the node and by the GPU."""
    for place, rung in enumerate(ladder):
        paid = _paid(rung)
        cheaper = [later for later in ladder[place + 1 :] if _is_less(_paid(later), paid)]
        if not cheaper:
            continue
        best = min(cheaper, key=_paid)
        what = (
            "is paid for anyway" if best.pool.reservation_group else f"costs {_paid(best)[0]:.2f}"
        )
        about = About("order", rung.pool.name, f"{rung.pool.key}.name")
        yield about.warning(
            f"{rung.pool.name} costs {paid[0]:.2f} an hour and stands before {best.pool.name}, "
            f"which {what}: the autoscaler tries the dearer one first",
            f"put {best.pool.name} before it, unless it is wanted less",
        )


def _paid(rung: Rung) -> tuple[Decimal, ...]:
    """What an hour adds to the bill, by the node and by the GPU; nothing if it is not known."""
    if rung.pool.reservation_group:
        return Decimal(), Decimal()
    if rung.node_hour is None:
        return ()
    return rung.node_hour, rung.node_hour if rung.gpu_hour is None else rung.gpu_hour


def _is_less(paid: tuple[Decimal, ...], other: tuple[Decimal, ...]) -> bool:
    return bool(paid and other) and all(map(lt, paid, other))


def judge_expander(settings: Settings, facts: Facts) -> Iterator[Row]:
    """Whether the autoscaler of an existing cluster goes by the order of the rungs."""
    cluster = facts.cluster
    if not (settings.gpu_capacity and settings.cluster.existing):
        return
    if isinstance(cluster, ExistingCluster):
        about, expander = About("expander", key="gpuCapacity"), cluster.expander or "random"
        if expander == EXPANDER:
            yield about.ok("the autoscaler of the cluster goes by priorities")
            return
        names = shlex.join(["-g", settings.resource_group.name, "-n", settings.cluster.name])
        yield about.problem(
            Cause.EXISTENCE,
            f"the expander of the cluster's autoscaler is {expander}, which ignores the order of "
            "the rungs",
            f"run `az aks update {names} --cluster-autoscaler-profile expander={EXPANDER}`",
        )
