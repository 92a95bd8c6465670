"""Usage and quota of cores by family, from the agent pools of a location."""

from collections import Counter
from dataclasses import dataclass, field

from aks_catalogue.sizes import Size
from rehearsal.arm.offers import families, family_stem, known_sizes
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.state import Store

SPOT_QUOTA = "lowPriorityCores"
NAMES = {
    "cores": "Total Regional vCPUs",
    SPOT_QUOTA: "Total Regional Low-priority vCPUs",
    "virtualMachines": "Virtual Machines",
    "virtualMachineScaleSets": "Virtual Machine Scale Sets",
}
# Families with a display name other than the form `Standard DSv3 Family vCPUs`.
FAMILY_NAMES = {
    "StandardNCADSA100v4Family": "Standard NCADS_A100_v4 Family vCPUs",
    "standard NDAMSv4_A100Family": "Standard NDAMSv4_A100Family vCPUs",
    "standardNDISv5MI300XFamily": "StandardNDI Sv 5MI300X Family vCPUs",
    "standardNCPromoFamily": "Standard NC Promo Family vCPUs",
}
# The type that uses machines, and the internal count of a pool that got fewer nodes than `count`.
POOL_TYPE = "Microsoft.ContainerService/managedClusters/agentPools"
ALLOCATED = "allocated"
COUNTS = {"virtualMachines": 25_000, "virtualMachineScaleSets": 2_500}
# In SQL, without reading every pool: this runs at every PUT.
STATEMENT = (
    "SELECT key, json_extract(body, '$.properties.vmSize') AS size,"
    " json_extract(body, '$.properties.scaleSetPriority') AS priority,"
    " coalesce(json_extract(body, '$.allocated'),"
    " json_extract(body, '$.properties.count')) AS nodes"
    " FROM resources WHERE type = ? AND location = ?"
)


@dataclass
class Usage:
    """The usage of one location: cores by quota, and nodes by pool."""

    cores: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, int] = field(default_factory=dict)


def in_use(store: Store, location: str) -> Usage:
    usage = Usage()
    for row in store.rows(STATEMENT, POOL_TYPE, location):
        usage.nodes[row["key"]] = row["nodes"]
        size = known_sizes().get(str(row["size"]).lower())
        for name in quotas_of(size, is_spot=row["priority"] == "Spot"):
            usage.cores[name] += row["nodes"] * (size.vcpus if size else 0)
    return usage


def quotas_of(size: Size | None, *, is_spot: bool) -> tuple[str, ...]:
    """Returns the quotas that a size counts against; spot machines have one of their own."""
    if is_spot:
        return (SPOT_QUOTA,)
    return (size.quota_family, "cores") if size and size.quota_family else ("cores",)


def list_all(request: Request) -> Answer:
    location = request.location("locations/usages")
    usage, offers = in_use(request.store, location), request.offers
    counts = {
        "virtualMachines": sum(usage.nodes.values()),
        "virtualMachineScaleSets": len(usage.nodes),
    }

    names = NAMES | FAMILY_NAMES

    def shown(name: str) -> Json:
        limit = COUNTS[name] if name in COUNTS else offers.limit(name, location)
        vcpus = f"Standard {family_stem(name)} Family vCPUs"
        return {
            "limit": limit,
            "unit": "Count",
            "currentValue": counts.get(name, usage.cores[name]),
            "name": {"value": name, "localizedValue": names.get(name, vcpus)},
        }

    # The list has one page.
    return Answer(200, {"value": [shown(name) for name in (*NAMES, *families())]})


ROUTES = (Route("GET", "/providers/Microsoft.Compute/locations/{location}/usages", list_all),)
