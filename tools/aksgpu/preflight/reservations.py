"""Whether the capacity reservation groups of pools hold machines for them."""

from collections.abc import Iterator, Sequence

from aks_catalogue.regions import plain
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, ReservationGroup, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

_SYSTEM_ASSIGNED = (
    "the cluster has a system-assigned identity, with which AKS cannot use reservations"
)
_OTHER_IDENTITY = (
    "`az aks update --enable-managed-identity --assign-identity ID` gives it a user-assigned one"
)


def judge(settings: Settings, pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """One answer per pool with a capacity reservation group."""
    for pool in pools:
        if pool.reservation_group:
            about = About("reservation", pool.name, f"{pool.key}.capacityReservationGroupId")
            cluster = facts.cluster if settings.cluster.existing else None
            if isinstance(cluster, ExistingCluster) and cluster.has_system_identity:
                yield about.problem(Cause.EXISTENCE, _SYSTEM_ASSIGNED, _OTHER_IDENTITY)
            else:
                yield _judge_pool(about, pool, facts)


def _judge_pool(about: About, pool: PlannedPool, facts: Facts) -> Row:
    group = facts.reservation_groups.get(pool.reservation_group.lower())
    name = pool.reservation_group.rpartition("/")[2]
    if isinstance(group, Unanswered):
        advice = "`az capacity reservation list` shows what the group reserves"
        return about.unknown(f"{name}: {group.reason}", advice, group.cause)
    if group is None:
        advice = (
            "`az capacity reservation group create` creates it; without it AKS refuses the pool"
        )
        return about.problem(
            Cause.EXISTENCE, f"the capacity reservation group {name} does not exist", advice
        )
    if group.location != facts.location:
        what = f"the group {name} is in {group.location}, and the pool in {facts.location}"
        return about.problem(Cause.EXISTENCE, what, "use a group in the region of the cluster")
    return _judge_machines(about, pool, name, group)


def _judge_machines(about: About, pool: PlannedPool, name: str, group: ReservationGroup) -> Row:
    size = plain(pool.vm_size)
    missing = [zone for zone in pool.zones or [""] if (size, zone) not in group.machines]
    if missing:
        where = f" in zone {', '.join(missing)}" if pool.zones else " without a zone"
        return about.problem(
            Cause.EXISTENCE,
            f"the group {name} reserves no {pool.vm_size}{where}",
            "`az capacity reservation create` adds a reservation of this size and zone",
        )
    reserved = sum(group.machines[size, zone] for zone in pool.zones or [""])
    what = f"the group {name} reserves {reserved} of {pool.vm_size}"
    needed = pool.most + (pool.surge or 0)
    if reserved < needed:
        return about.warning(
            f"{what}, and the pool needs up to {needed}, with the surge of an upgrade",
            "increase the reservation: Azure does not guarantee the other nodes",
        )
    return about.ok(what)
