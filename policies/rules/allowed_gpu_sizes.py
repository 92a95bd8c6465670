"""GPU pools use only allowed VM sizes.

The rule does nothing until `sizes` is set.
"""

from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings


@PoolRule(
    remedy="Use one of the allowed sizes that the finding lists.",
    tags=("gpu", "aks", "size", "cost"),
    settings={"sizes": strings("The allowed sizes, by their Azure names.")},
)
def allowed_gpu_sizes(pool: Pool, settings: Settings) -> Findings:
    sizes = settings.get("sizes")
    if not sizes:
        return
    allowed = {name.lower() for name in sizes}
    for vm_size in pool.gpu_sizes():
        if vm_size.lower() not in allowed:
            yield f"has the GPU size {vm_size}, which is not allowed. Use {', '.join(sizes)}."
