"""Spot GPU pools have no surge, and Azure deletes evicted nodes.

AKS refuses a surge on spot pools. Evicted nodes that are only deallocated keep their disks and
their quota.
"""

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="Spot GPU pools have valid settings",
    description="Spot GPU node pools have no surge, and Azure deletes evicted nodes.",
    remedy="Remove maxSurge, and set the eviction policy to Delete.",
    tags=("gpu", "aks", "spot"),
)
def gpu_spot_settings(pool: Pool, _: Settings) -> Findings:
    if not pool.is_spot() or not pool.gpu_sizes():
        return
    if surge := str(pool.part("upgradeSettings").get("maxSurge") or ""):
        yield (
            f"is a spot pool and has upgradeSettings.maxSurge {surge}, which AKS refuses on spot "
            "pools. Remove it."
        )
    eviction = pool.get("scaleSetEvictionPolicy") or "Delete"
    if eviction.lower() != "delete":
        yield (
            f"is a spot pool and has {pool.name_of('scaleSetEvictionPolicy')} {eviction}: evicted "
            "nodes keep their disks and their quota, and nothing starts them again. Set it to "
            "Delete."
        )
