"""GPU pools have one of the sizes that are allowed."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies.pools import Pool
from policies.rule import PolicyInfo, Settings, pool_rule


def _judge(pool: Pool, settings: Settings) -> Iterator[str]:
    sizes = settings.get("sizes")
    if not sizes:
        return
    allowed = {name.lower() for name in sizes}
    for vm_size in pool.gpu_sizes():
        if vm_size.lower() not in allowed:
            yield f"has the GPU size {vm_size}. Allowed are {', '.join(sizes)}."


allowed_gpu_sizes = pool_rule(
    PolicyInfo(
        name="allowed-gpu-sizes",
        title="GPU sizes are allowed ones",
        description="GPU node pools have one of the sizes that are allowed.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.MEDIUM,
        remedy="Take one of the sizes that the finding lists.",
        tags=("gpu", "aks", "size", "cost"),
        settings={
            "sizes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The sizes that are allowed, by their names in Azure.",
            }
        },
    ),
    _judge,
)
