"""Spot pools of GPUs: no surge, and evicted nodes go.

AKS refuses a surge on spot pools. Evicted nodes that are only deallocated keep their disks and
their quota.
"""

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="Spot GPU pools have settings that work",
    description="Spot GPU node pools have no surge, and evicted nodes are deleted.",
    remedy="Leave maxSurge out, and set the eviction policy to Delete.",
    tags=("gpu", "aks", "spot"),
)
def gpu_spot_settings(pool: Pool, _: Settings) -> Findings:
    if not pool.is_spot() or not pool.gpu_sizes():
        return
    if surge := str(pool.part("upgradeSettings").get("maxSurge") or ""):
        yield (
            f"is a spot pool and has upgradeSettings.maxSurge {surge}: AKS upgrades spot pools "
            "without a surge, and refuses one. Leave it out."
        )
    eviction = pool.get("scaleSetEvictionPolicy") or "Delete"
    if eviction.lower() != "delete":
        yield (
            f"is a spot pool and has {pool.name_of('scaleSetEvictionPolicy')} {eviction}: evicted "
            "nodes stay, with their disks and in the quota, and nothing starts them again. Set it "
            "to Delete."
        )
