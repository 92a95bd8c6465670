"""GPU pools run Linux: NVIDIA's device plugin, and so this project, knows no other system.

NVIDIA's device plugin runs on Linux only.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU pools run Linux",
    description="GPU node pools run Linux.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Set the pool's osType to Linux, or take a size without GPUs.",
    tags=("gpu", "aks"),
)
def gpu_pool_linux_only(pool: Pool, _: Settings) -> Findings:
    # The system is read first: with Linux, a size that is not known yet does not matter.
    os_type = pool.get("osType") or "Linux"
    if os_type.lower() == "linux":
        return
    for vm_size in pool.gpu_sizes():
        yield (
            f"has the GPU size {vm_size} and runs {os_type}. GPU pools are for Linux only: set "
            f"{pool.name_of('osType')} to Linux, or take a size without GPUs."
        )
