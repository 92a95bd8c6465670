"""Checks the pools of a PUT against what Azure offers: sizes, zones, versions and quota.

AKS refuses at once what the subscription may not use. Lack of capacity or of spot quota shows only
while the operation runs.
"""

from collections.abc import Iterable, Mapping
from datetime import date

from aks_catalogue import headers, images, retirement, sizes
from rehearsal.arm import errors
from rehearsal.arm.aks import versions
from rehearsal.arm.compute import capacity
from rehearsal.arm.compute.quota import Account, surge
from rehearsal.arm.compute.usages import ALLOCATED
from rehearsal.arm.offers import NO_ZONE, Offer, Offers, known_sizes
from rehearsal.arm.request import Json, Request
from rehearsal.arm.resources import stored
from rehearsal.arm.state import Resource, Store
from rehearsal.control_planes.desired_state import Era, Refusal

# The sizes that AKS was seen to choose since May 2025, for System and User pools; before, it chose
# one size. Their order is not on record.
SIZES_OF_AKS = {
    Era.ARTICLE: ("Standard_DS2_v2",),
    Era.TODAY: (
        "Standard_D4ds_v5",
        "Standard_D8ds_v5",
        "Standard_D4ads_v5",
        "Standard_D8ads_v5",
        "Standard_D4ds_v4",
        "Standard_D8ds_v4",
        "Standard_E2s_v3",
    ),
}


def admit(
    request: Request, cluster: Resource, pools: Iterable[tuple[Resource, str | None]]
) -> Json | None:
    """Refuses pools whose size, zones, version or quota is not available.

    Each pool comes with its version before the PUT, or None if it is new. Returns the error with
    which the operation will fail, or None.
    """
    offers = request.offers
    account = Account(request.store, offers, cluster.location)
    failure = None
    for pool, version in pools:
        _require_subnets(request, pool)
        _version(request, cluster, pool, version)
        before = account.nodes(pool)
        if before is None:
            _zones(pool, _usable(request, pool, capacity.offer(offers, pool)))
        count, more = pool.properties["count"], surge(pool, version)
        growth = max(0, count - (before or 0))
        missed = account.reserve(pool, growth + more) or capacity.broken_rack(pool, count + more)
        if missed is None and growth:
            missed = capacity.lacking(request.store, offers, pool, count)
        pool.body.pop(ALLOCATED, None)
        if missed is not None:
            pool.body[ALLOCATED] = before or 0
        failure = failure or missed
    return failure


def require_identities(request: Request, cluster: str, body: Json) -> None:
    """Refuses a cluster with an identity that does not exist."""
    identity = body.get("identity") or {}
    for each in identity.get("userAssignedIdentities") or ():
        if stored.is_missing(request, each):
            raise errors.ArmError(errors.NO_IDENTITY, resource=cluster, identity=each)


def _require_subnets(request: Request, pool: Resource) -> None:
    for name in ("vnetSubnetID", "podSubnetID"):
        subnet = str(pool.properties.get(name) or "")
        if stored.is_missing(request, subnet):
            parts = subnet.split("/")
            words = {
                "name": parts[-1],
                "network": "".join(parts[-3:-2]),
                "group": "".join(parts[4:5]),
                "subscription": request.backend.principal.subscription,
            }
            raise errors.ArmError(errors.NO_SUBNET, **words)


def choose_size(request: Request, location: str) -> str:
    """Returns the first of AKS's default sizes that is available and within quota."""
    account = Account(request.store, request.offers, location)
    for name in SIZES_OF_AKS[request.offers.era]:
        offer = request.offers.find(name, location)
        if (
            offer
            and not (offer.is_restricted or offer.is_sold_out(NO_ZONE, is_spot=False))
            and account.has_room_for(offer.size)
        ):
            return name
    parameter = "agentPoolProfile.vmSize"
    raise errors.ArmError(errors.MISSING_PARAMETER, parameter, parameter=parameter)


def lacking(store: Store, offers: Offers, pool: Resource, count: int) -> Refusal | None:
    """Returns why there are no machines for the autoscaler's new count; None if there are."""
    account = Account(store, offers, pool.location)
    growth = count - (account.nodes(pool) or 0)
    try:
        missed = account.reserve(pool, growth)
    except errors.ArmError as refused:
        return Refusal("OperationNotAllowed", refused.message)
    if missed is None and growth > 0:
        missed = capacity.broken_rack(pool, count) or capacity.lacking(store, offers, pool, count)
    return Refusal(**missed["details"][0]) if missed else None


def _version(request: Request, cluster: Resource, pool: Resource, before: str | None) -> None:
    """Accepts the present version of the pool, its cluster's version, or one on offer."""
    requested = pool.properties["currentOrchestratorVersion"]
    release = cluster.properties["currentKubernetesVersion"]
    if requested not in (before, release):
        plan = cluster.properties["supportPlan"]
        versions.admit(request.offers, cluster.location, cluster.name, requested, plan)
    if before is not None:
        versions.admit_change(request.offers, cluster.location, before, requested)
    versions.admit_pool(requested, release)


def _usable(request: Request, pool: Resource, offer: Offer | None) -> Offer:
    if offer is not None and not offer.is_restricted:
        return offer
    size, target = str(pool.properties["vmSize"]), "agentPoolProfile.vmSize"
    words = {"size": size, "location": pool.location}
    if size.lower() not in known_sizes():
        raise errors.ArmError(errors.UNKNOWN_SIZE, target, **words)
    others = request.offers.in_location(pool.location)
    usable = ",".join(other.size.name.lower() for other in others if not other.is_restricted)
    reason = f". The available VM sizes are '{usable}'."
    raise errors.ArmError(errors.SIZE_NOT_ALLOWED, target, **words, reason=reason)


def _zones(pool: Resource, offer: Offer) -> None:
    requested = [str(zone) for zone in pool.properties.get("availabilityZones") or ()]
    target = "agentPoolProfile.availabilityZones"
    if requested and not offer.zones:
        raise errors.ArmError(errors.NO_ZONES_HERE, target)
    usable = [zone for zone in offer.zones if zone not in offer.restricted_zones]
    missing = [zone for zone in requested if zone not in usable]
    if missing:
        raise errors.ArmError(
            errors.ZONE_NOT_SUPPORTED,
            target,
            zones=",".join(missing),
            pool=pool.name,
            location=pool.location,
            supported=",".join(usable),
        )


def asks_for_specialized_image(sent: Mapping[str, str]) -> bool:
    """Returns whether a request's header asks for the image with driver and device plugin."""
    return sent.get(headers.SPECIALIZED_IMAGE, "").strip().lower() == "true"


def admit_new(offers: Offers, pool: Json, sent: Mapping[str, str], location: str) -> None:
    """Refuses a new pool that Azure does not accept in this era."""
    if offers.era is Era.ARTICLE:
        _admit_system(pool)
        return
    _admit_size(str(pool["vmSize"]), location, offers.today)
    is_gone = offers.today >= images.SPECIALIZED_IMAGE_RETIRED_ON
    if is_gone and asks_for_specialized_image(sent):
        raise errors.ArmError(
            errors.NO_SPECIALIZED_IMAGE,
            header=headers.SPECIALIZED_IMAGE,
            feature=images.SPECIALIZED_IMAGE_FEATURE,
            date=images.SPECIALIZED_IMAGE_RETIRED_ON,
        )


def _admit_system(pool: Json) -> None:
    """Refuses GPU pools for Windows: in the article's days there were none."""
    if pool["osType"] != "Linux" and sizes.is_gpu_size(str(pool["vmSize"])):
        reason = "GPU-enabled node pools are available for Linux node pools only."
        target = "agentPoolProfile.osType"
        raise errors.ArmError(errors.INVALID_PARAMETER, target, parameter=target, reason=reason)


def _admit_size(vm_size: str, location: str, today: date) -> None:
    size = sizes.find(vm_size)
    if size is None:
        return
    if size.retired_on is not None and size.retired_on <= today:
        successor = retirement.SUCCESSORS.get(size.family)
        advice = f" Use {successor} instead." if successor else ""
        reason = f": the {size.family} sizes were retired on {size.retired_on}.{advice}"
        words = {"size": size.name, "location": location, "reason": reason}
        raise errors.ArmError(errors.SIZE_NOT_ALLOWED, "agentPoolProfile.vmSize", **words)
