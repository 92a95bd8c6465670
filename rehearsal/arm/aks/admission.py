"""Whether Azure has room for the pools of a PUT: their sizes, zones, versions, and quota.

AKS judges a request by what the subscription may use, and refuses it at once. Whether a data centre
has the machines, and spot quota for them, shows only while the operation runs.
"""

from collections.abc import Iterable

from rehearsal.arm import errors, operations
from rehearsal.arm.aks import versions
from rehearsal.arm.compute.offers import Offer, Offers
from rehearsal.arm.compute.quota import Account, surge
from rehearsal.arm.compute.usages import ALLOCATED
from rehearsal.arm.request import Json, Request
from rehearsal.arm.state import Resource, Store


def admit(
    request: Request, cluster: Resource, pools: Iterable[tuple[Resource, str | None]]
) -> Json | None:
    """Refuses what the subscription has no room for.

    Each pool comes with the version that it had before, if it was there. Returned is the error that
    the operation is going to end with, if it is.
    """
    offers = Offers.of(request)
    account = Account(request.store, offers, cluster.location)
    failure = None
    for pool, version in pools:
        _version(request, cluster, pool, version)
        before = account.nodes(pool)
        offer = offers.find(str(pool.properties["vmSize"]), pool.location)
        if before is None:
            offer = _usable(request, pool, offer)
            _zones(pool, offer)
        growth = max(0, pool.properties["count"] - (before or 0))
        missed = account.take(pool, growth + surge(pool, version))
        if missed is None and growth and offer is not None and offer.is_sold_out:
            missed = _sold_out(offer)
        pool.body.pop(ALLOCATED, None)
        if missed is not None:
            pool.body[ALLOCATED] = before or 0
        failure = failure or missed
    return failure


def has_room(store: Store, offers: Offers, pool: Resource, count: int) -> bool:
    """Whether the autoscaler gets the nodes that it wants: if not, it goes on without them."""
    account = Account(store, offers, pool.location)
    growth = count - (account.nodes(pool) or 0)
    offer = offers.find(str(pool.properties["vmSize"]), pool.location)
    if growth > 0 and offer is not None and offer.is_sold_out:
        return False
    try:
        return account.take(pool, growth) is None
    except errors.ArmError:
        return False


def settle(request: Request, operation: str, failure: Json | None) -> None:
    """Lets an operation that has begun end with what `admit` foresaw."""
    if failure is not None:
        operations.doom(request.store, operation, failure)


def _version(request: Request, cluster: Resource, pool: Resource, before: str | None) -> None:
    """A pool may go on with the version it has, and begin with its cluster's."""
    wanted = pool.properties["currentOrchestratorVersion"]
    if wanted in (before, cluster.properties["currentKubernetesVersion"]):
        return
    plan = cluster.properties["supportPlan"]
    versions.admit(Offers.of(request), cluster.location, cluster.name, wanted, plan)


def _usable(request: Request, pool: Resource, offer: Offer | None) -> Offer:
    if offer is not None and not offer.is_restricted:
        return offer
    others = Offers.of(request).in_location(pool.location)
    raise errors.ArmError(
        errors.SIZE_NOT_ALLOWED,
        "agentPoolProfile.vmSize",
        size=pool.properties["vmSize"],
        location=pool.location,
        sizes=",".join(other.size.name.lower() for other in others if not other.is_restricted),
    )


def _zones(pool: Resource, offer: Offer) -> None:
    wanted = [str(zone) for zone in pool.properties.get("availabilityZones") or ()]
    target = "agentPoolProfile.availabilityZones"
    if wanted and not offer.zones:
        raise errors.ArmError(errors.NO_ZONES_HERE, target)
    usable = [zone for zone in offer.zones if zone not in offer.restricted_zones]
    missing = [zone for zone in wanted if zone not in usable]
    if missing:
        raise errors.ArmError(
            errors.ZONE_NOT_SUPPORTED,
            target,
            zones=",".join(missing),
            pool=pool.name,
            location=pool.location,
            supported=",".join(usable),
        )


def _sold_out(offer: Offer) -> Json:
    message = errors.SOLD_OUT.format(size=offer.size.name, location=offer.location)
    return errors.of_compute("SkuNotAvailable", "SkuNotAvailable", message)
