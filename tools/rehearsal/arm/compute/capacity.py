"""Which machines there are, where offers.json says that they are sold out.

Of spot machines Azure's page of spot errors and karpenter-provider-azure (pull request 43) know
`SkuNotAvailable`, at once; of others AKS's troubleshooting page, Azure/AKS#1272 and
kubernetes/autoscaler#5548 know `AllocationFailed` and `ZonalAllocationFailed`, once the machines
are started. No source names the zones in it. Whether AKS asks for machines of another zone when
those of one are sold out is not on record: here it does.

What it says of a number of machines that is no multiple of a rack is quoted in scripts of AKS
engineers for GB300 (2026-07); its code, and whether it says it at once, is not on record.
"""

from aks_catalogue.shapes import at
from aks_catalogue.sizes import rack_of
from rehearsal.arm import errors
from rehearsal.arm.compute.usages import ALLOCATED, POOL_TYPE
from rehearsal.arm.offers import NO_ZONE, Offer, Offers
from rehearsal.arm.request import Json
from rehearsal.arm.state import Resource, Store

_ALLOCATION = (
    "Allocation failed. We do not have sufficient capacity for the requested VM size in this "
    "{place}. Read more about improving likelihood of allocation success at "
    "http://aka.ms/allocation-guidance"
)
_SKU = (
    "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: "
    "{size}' is currently not available in location '{location}'. Please try another size or "
    "deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for "
    "details."
)

_RACK = "Capacity must be a multiple of {rack} for SKUs that support vertical connect."


def offer(offers: Offers, pool: Resource) -> Offer | None:
    return offers.find(str(pool.properties["vmSize"]), pool.location)


def zones(pool: Resource) -> tuple[str, ...]:
    """Returns the zones of a pool; one that has none is in `NO_ZONE`."""
    return tuple(map(str, pool.properties.get("availabilityZones") or ())) or (NO_ZONE,)


def is_spot(pool: Resource) -> bool:
    return bool(pool.properties.get("scaleSetPriority") == "Spot")


def open_zones(offers: Offers, pool: Resource) -> tuple[str, ...]:
    """Returns the zones of a pool in which its size is not sold out."""
    found = offer(offers, pool)
    return tuple(
        zone
        for zone in zones(pool)
        if found is None or not found.is_sold_out(zone, is_spot=is_spot(pool))
    )


def broken_rack(pool: Resource, count: int) -> Json | None:
    """Returns the error with which Azure refuses a part of a rack; None if all racks are whole."""
    rack = rack_of(str(pool.properties["vmSize"]))
    message = _RACK.format(rack=rack)
    return errors.of_compute("BadRequest", "BadRequest", message) if count % rack else None


def lacking(store: Store, offers: Offers, pool: Resource, count: int) -> Json | None:
    """Returns the error with which Azure fails to start a pool's machines; None if there are some.

    A capacity reservation group has its machines though others are sold out.
    """
    if open_zones(offers, pool) or count <= _reserved(store, pool):
        return None
    if is_spot(pool):
        message = _SKU.format(size=pool.properties["vmSize"], location=pool.location)
        return errors.of_compute("SkuNotAvailable", "SkuNotAvailable", message)
    is_regional = zones(pool) == (NO_ZONE,)
    code = "AllocationFailed" if is_regional else "ZonalAllocationFailed"
    message = _ALLOCATION.format(place="region" if is_regional else "zone")
    return errors.of_compute(code, code, message)


def _reserved(store: Store, pool: Resource) -> int:
    """Returns how many machines a pool's reservation group holds that no other pool has."""
    name, size = "capacityReservationGroupID", str(pool.properties["vmSize"]).lower()
    group = store.find(str(pool.properties.get(name) or ""))
    if group is None:
        return 0
    held = sum(
        int(at(each.body, "sku.capacity") or 0)
        for each in store.children(group.id, f"{group.type}/capacityReservations")
        if str(at(each.body, "sku.name")).lower() == size
        and (not each.body.get("zones") or {*each.body["zones"]} & {*zones(pool)})
    )
    others = (
        each.body.get(ALLOCATED, each.properties["count"])
        for each in store.of_type(POOL_TYPE)
        if each.id != pool.id
        and str(each.properties.get(name)).lower() == group.id.lower()
        and str(each.properties["vmSize"]).lower() == size
    )
    return int(held - sum(others))
