"""Whether the capacity reservation groups of pools are there, in the region of the cluster."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row

_LIST = "`az capacity reservation list` shows what the group reserves"
_CREATE = "`az capacity reservation group create` creates it; without it AKS refuses the pool"


def judge(pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """One answer per pool with a capacity reservation group."""
    for planned in pools:
        group = planned.pool.text("capacityReservationGroupID")
        if not group:
            continue
        about = About("reservation", planned.name, f"{planned.key}.capacityReservationGroupId")
        name, where = group.rpartition("/")[2], facts.reservation_groups.get(group.lower())
        if isinstance(where, Unanswered):
            yield about.unknown(f"{name}: {where.reason}", _LIST, where.cause)
        elif where is None:
            what = f"the capacity reservation group {name} does not exist"
            yield about.problem(Cause.EXISTENCE, what, _CREATE)
        elif where != facts.location:
            what = f"the group {name} is in {where}, and the pool in {facts.location}"
            yield about.problem(Cause.EXISTENCE, what, "use a group in the region of the cluster")
        else:
            yield about.ok(f"the capacity reservation group {name} exists in {where}")
