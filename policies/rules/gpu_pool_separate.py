"""GPU pools stand by themselves: not inline in the cluster, and not for the system's own pods."""

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU pools stand by themselves",
    description="GPU node pools are resources of their own, in mode User.",
    remedy="Give the cluster a system pool without GPUs, and add the GPU pool beside it, as a "
    "resource of its own in mode User.",
    tags=("gpu", "aks"),
)
def gpu_pool_separate(pool: Pool, _: Settings) -> Findings:
    sizes = pool.gpu_sizes()
    if not sizes:
        return
    if pool.inline:
        yield (
            f"has the GPU size {sizes[0]}. Make it a resource of its own: to change one inline "
            "pool is to change the cluster, with all of its pools."
        )
    if pool.get("mode").lower() == "system":
        yield (
            f"has the GPU size {sizes[0]} and is a system pool: the cluster's own pods take up its "
            "nodes, and it cannot be scaled to zero. Set mode to User, and have a system pool "
            "without GPUs."
        )
