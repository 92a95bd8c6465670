"""The list of SKUs of Microsoft.Compute: VM sizes by location, and some other SKUs."""

import re

from aks_catalogue import regions
from aks_catalogue.regions import plain
from aks_catalogue.sizes import GpuSize, Size, architecture
from rehearsal.arm import errors
from rehearsal.arm.offers import Offer, listed_gpus
from rehearsal.arm.request import Answer, Json, Request, Route

_OF_A_LOCATION = re.compile(r"location eq '([^']*)'", re.IGNORECASE)
GENERATIONS = {"Gen1": "V1", "Gen2": "V2"}
# SKUs other than VM sizes; clients distinguish them by `resourceType`.
OTHERS: tuple[Json, ...] = (
    {"resourceType": "availabilitySets", "name": "Classic"},
    {"resourceType": "availabilitySets", "name": "Aligned"},
    {"resourceType": "disks", "name": "Premium_LRS", "tier": "Premium", "size": "P10"},
    {"resourceType": "snapshots", "name": "Standard_LRS", "tier": "Standard"},
)


# How much larger than others the pages are: of a region, and of all, which are one page in Azure.
LARGE_PAGE, OF_ALL_REGIONS = 20, 2000


def list_all(request: Request) -> Answer:
    offers, items = request.offers, list[tuple[str, Offer | Json]]()
    locations = _locations(request)
    for location in locations:
        items += [(location, other) for other in OTHERS]
        items += [(location, offer) for offer in offers.in_location(location)]
    return request.page(items, _sku, times=LARGE_PAGE if len(locations) == 1 else OF_ALL_REGIONS)


def _locations(request: Request) -> list[str]:
    text = request.http.query.get("$filter") or ""
    condition = _OF_A_LOCATION.fullmatch(text)
    if text and condition is None:
        raise errors.ArmError(errors.NOT_REHEARSED, what=f"the filter {text!r}")
    # An unknown location gives an empty list, not an error.
    requested = plain(condition[1]) if condition else None
    return [name for name in regions.regions() if requested in (None, name)]


def _sku(located: tuple[str, Offer | Json]) -> Json:
    location, item = located
    return {
        "locations": [location],
        "locationInfo": [{"location": location, "zones": []}],
        "capabilities": [],
        "restrictions": [],
        **(_size(item) if isinstance(item, Offer) else item),
    }


def _size(offer: Offer) -> Json:
    size = offer.size
    tier, _, rest = size.name.partition("_")
    sku: Json = {
        "resourceType": "virtualMachines",
        "name": size.name,
        "tier": tier,
        "size": rest,
        "locationInfo": [
            {"location": offer.location, "zones": list(offer.zones), "zoneDetails": []}
        ],
        "capabilities": [
            {"name": name, "value": value} for name, value in _capabilities(size).items()
        ],
        "restrictions": _restrictions(offer),
    }
    if size.quota_family:
        # Without the white space that the name may have in the list of usages.
        sku["family"] = "".join(size.quota_family.split())
    return sku


def _capabilities(size: Size) -> dict[str, str]:
    can_premium = re.search(r"\d+[a-z]*s(_|$)|\d+r?s(_|$)", size.name) is not None
    is_arm = architecture(size.name) == "arm64"
    known: dict[str, str] = {
        "vCPUs": str(size.vcpus),
        "vCPUsAvailable": str(size.vcpus),
        "CpuArchitectureType": "Arm64" if is_arm else "x64",
        "PremiumIO": str(can_premium),
        # Burstable sizes have no spot machines.
        "LowPriorityCapable": str(not size.name.startswith("Standard_B")),
        "EncryptionAtHostSupported": str(can_premium),
        "AcceleratedNetworkingEnabled": str(size.vcpus > 1),
    }
    if size.memory_gib is not None:
        known["MemoryGB"] = f"{size.memory_gib:g}"
    if size.cache_gib is not None or size.temp_gib is not None:
        known["EphemeralOSDiskSupported"] = str(size.local_disk_gib is not None)
    if size.cache_gib:
        known["CachedDiskBytes"] = str(size.cache_gib << 30)
    if size.temp_gib is not None:
        known["MaxResourceVolumeMB"] = str(size.temp_gib << 10)
    if size.generations:
        known["HyperVGenerations"] = ",".join(
            GENERATIONS[name] for name in sorted(size.generations)
        )
    if isinstance(size, GpuSize) and size.rdma is not None:
        known["RdmaEnabled"] = str(size.rdma)
    if (gpus := listed_gpus(size)) is not None:
        known["GPUs"] = str(gpus)
    return known


def _restrictions(offer: Offer) -> list[Json]:
    if not (offer.is_restricted or offer.restricted_zones):
        return []
    zones = {"zones": list(offer.restricted_zones)} if offer.restricted_zones else {}
    return [
        {
            "type": "Zone" if zones else "Location",
            "values": [offer.location],
            "restrictionInfo": {"locations": [offer.location], **zones},
            "reasonCode": offer.line.reason,
        }
    ]


ROUTES = (Route("GET", "/providers/Microsoft.Compute/skus", list_all),)
