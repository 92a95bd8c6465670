"""GPU pools are autoscaled: idle GPUs cost as much as busy ones.

Pools with AKS-managed GPUs cannot be autoscaled and pass.
"""

from aks_pools.gpus import has_managed_gpus
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    remedy="Turn on autoscaling, and set minCount and maxCount.",
    tags=("gpu", "aks", "cost"),
)
def gpu_pool_autoscaling(pool: Pool, _: Settings) -> Findings:
    # AKS does not scale pools whose GPUs it manages.
    machines = pool.gpu_machines()
    if not machines or has_managed_gpus(pool):
        return
    if not all(one.autoscaled for one in machines):
        yield (
            "has GPUs and is not autoscaled: its nodes cost money even when they are idle. "
            f"Set {pool.scaled_by}, minCount and maxCount."
        )
