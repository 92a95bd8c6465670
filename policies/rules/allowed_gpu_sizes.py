"""GPU pools have one of the sizes that are allowed.

The rule does nothing until `sizes` is set.
"""

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings


@PoolRule(
    title="GPU sizes are allowed ones",
    description="GPU node pools have one of the sizes that are allowed.",
    remedy="Take one of the sizes that the finding lists.",
    tags=("gpu", "aks", "size", "cost"),
    provisioned=True,
    settings={"sizes": strings("The sizes that are allowed, by their names in Azure.")},
)
def allowed_gpu_sizes(pool: Pool, settings: Settings) -> Findings:
    sizes = settings.get("sizes")
    if not sizes:
        return
    allowed = {name.lower() for name in sizes}
    for vm_size in pool.gpu_sizes():
        if vm_size.lower() not in allowed:
            yield f"has the GPU size {vm_size}. Allowed are {', '.join(sizes)}."
