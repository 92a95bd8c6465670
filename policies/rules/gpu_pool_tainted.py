"""GPU pools keep away what has no use for a GPU.

A taint with the effect `NoSchedule` or `NoExecute` is enough, also in `nodeInitializationTaints`.
The taint of spot nodes does not count, since it is about their price. If the whole cluster is for
GPUs, turn the rule off for its stack.
"""

from catalogue.nodes import GPU_TAINT, SPOT_TAINT
from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings

# PreferNoSchedule keeps nothing away where there is no other place.
_KEEPING_AWAY = (":NoSchedule", ":NoExecute")


@PoolRule(
    title="GPU pools are tainted",
    description="GPU node pools have a taint that keeps away pods without need of a GPU.",
    remedy=f"Add the taint {GPU_TAINT} to the pool, and its toleration to GPU workloads and to "
    "the device plugin.",
    tags=("gpu", "aks", "scheduling"),
    provisioned=True,
)
def gpu_pool_tainted(pool: Pool, _: Settings) -> Findings:
    sizes = pool.gpu_sizes()
    if not sizes or any(map(keeps_away, [*pool.taints(), *pool.first_taints()])):
        return
    remedy = f"Add {GPU_TAINT} to its {pool.name_of('nodeTaints')}"
    if elsewhere := pool.vocabulary.tainted_elsewhere:
        remedy = f"Move the GPUs to a {elsewhere} with the taint {GPU_TAINT}"
    yield (
        f"has the GPU size {sizes[0]} and no taint that keeps other pods away: they fill nodes "
        f"that are there for their GPUs. {remedy}, and add the toleration to what needs a GPU."
    )


def keeps_away(taint: str) -> bool:
    """Whether a taint keeps away pods that have no use for a GPU."""
    # The taint of spot nodes is about their price: pods that tolerate it may need no GPU.
    return taint.endswith(_KEEPING_AWAY) and taint != SPOT_TAINT
