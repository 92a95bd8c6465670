"""Spot GPU pools have no upgrade limits, and Azure deletes evicted nodes.

AKS refuses maxSurge and maxUnavailable on spot pools. Evicted nodes that are only deallocated keep
their disks and their quota.
"""

from aks_catalogue.nodes import is_zero
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    remedy="Remove maxSurge and maxUnavailable, and set the eviction policy to Delete.",
    tags=("gpu", "aks", "spot"),
)
def gpu_spot_settings(pool: Pool, _: Settings) -> Findings:
    if not pool.is_spot() or not pool.gpu_sizes():
        return
    for name in ("maxSurge", "maxUnavailable"):
        nodes = str(pool.part("upgradeSettings").get(name) or "")
        if nodes and not (name == "maxUnavailable" and is_zero(nodes)):
            yield (
                f"is a spot pool and has upgradeSettings.{name} {nodes}, which AKS refuses on spot "
                "pools. Remove it."
            )
    eviction = pool.text("scaleSetEvictionPolicy") or "Delete"
    if eviction.lower() != "delete":
        yield (
            f"is a spot pool and has {pool.name_of('scaleSetEvictionPolicy')} {eviction}: evicted "
            "nodes keep their disks and their quota, and nothing starts them again. Set it to "
            "Delete."
        )
