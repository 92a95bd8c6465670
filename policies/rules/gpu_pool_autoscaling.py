"""GPU pools are scaled by AKS: idle GPUs cost as much as busy ones.

The rule also finds autoscaled pools without `minCount` or `maxCount`. Pools with AKS-managed GPUs
cannot be autoscaled and pass.
"""

from policies.gpu_requests import has_managed_gpus
from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU pools are autoscaled",
    description="GPU node pools are autoscaled, between a least and a most of nodes.",
    remedy="Turn autoscaling on, with minCount and maxCount.",
    tags=("gpu", "aks", "cost"),
)
def gpu_pool_autoscaling(pool: Pool, _: Settings) -> Findings:
    # AKS does not scale pools whose GPUs it manages.
    machines = pool.gpu_machines()
    if not machines or has_managed_gpus(pool):
        return
    if not all(one.autoscaled for one in machines):
        yield (
            "has GPUs and is not autoscaled: its nodes are paid for whether they are used or not. "
            f"Set {pool.scaled_by}, minCount and maxCount."
        )
        return
    bounds = {
        "minCount": [one.least for one in machines],
        "maxCount": [one.most for one in machines],
    }
    if missing := [name for name, said in bounds.items() if None in said]:
        yield f"has {pool.scaled_by} without {' and '.join(missing)}: AKS asks for both bounds."
