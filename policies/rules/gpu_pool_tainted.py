"""GPU pools have a taint that keeps away pods that do not need a GPU.

A taint with the effect `NoSchedule` or `NoExecute` is enough, also in `nodeInitializationTaints`.
The taint of spot nodes does not count, since it is about their price. If the whole cluster is for
GPUs, turn the rule off for its stack.
"""

from aks_catalogue.nodes import GPU_TAINTS, SPOT_TAINT
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings

# PreferNoSchedule is only a preference.
_KEEPING_AWAY = (":NoSchedule", ":NoExecute")
_TAINTS = " or ".join(GPU_TAINTS.values())


@PoolRule(
    remedy=f"Add the taint {_TAINTS} to the pool, and a toleration to GPU workloads and the "
    "device plugin.",
    tags=("gpu", "aks", "scheduling"),
)
def gpu_pool_tainted(pool: Pool, _: Settings) -> Findings:
    sizes = pool.gpu_sizes()
    if not sizes:
        return
    taints = [*pool.taints(), *pool.texts("nodeInitializationTaints")]
    # Pods that tolerate the taint of spot nodes may not need a GPU.
    if any(one.endswith(_KEEPING_AWAY) and one != SPOT_TAINT for one in taints):
        return
    remedy = f"Add {_TAINTS} to its nodeTaints"
    # The classic provider's clusters cannot have it.
    if pool.inline:
        remedy = f"Move the GPUs to a pool of its own with the taint {_TAINTS}"
    yield (
        f"has the GPU size {sizes[0]} and no taint that keeps other pods away from its GPU nodes. "
        f"{remedy}, and add the toleration to pods that need a GPU."
    )
