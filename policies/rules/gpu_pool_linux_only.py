"""GPU pools run Linux.

This is a rule of this project, not a limit of AKS, which has Windows GPU pools as a preview. What
the pack and the components know of drivers, device plugins and GPU jobs is for Linux. To use such a
pool, except it from the rule, or lower the rule's level.
"""

from pulumi_policy import EnforcementLevel, Severity

from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Set osType of the pool to Linux, or use a size without GPUs.",
    tags=("gpu", "aks"),
)
def gpu_pool_linux_only(pool: Pool, _: Settings) -> Findings:
    # The system is read first: with Linux, a size that is not known yet does not matter.
    os_type = pool.text("osType") or "Linux"
    if os_type.lower() == "linux":
        return
    for vm_size in pool.gpu_sizes():
        yield (
            f"has the GPU size {vm_size} and runs {os_type}. This pack accepts GPUs only on "
            f"Linux: set {pool.name_of('osType')} to Linux, use a size without GPUs, or except the "
            "pool."
        )
