"""Pools whose GPUs AKS manages are not autoscaled.

AKS does not support the cluster autoscaler on pools with `gpuProfile.nvidia.managementMode:
Managed`. Without the rule that shows only when AKS is asked for the pool, after the cluster and
what is on it may have been created. The older tag `EnableManagedGPUExperience` is not judged.
"""

from pulumi_policy import EnforcementLevel, Severity

from aks_pools.gpus import has_management_mode
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Turn off autoscaling of the pool and set count, or let the stack install the device "
    "plugin in place of AKS.",
    tags=("gpu", "aks"),
)
def gpu_managed_pool(pool: Pool, _: Settings) -> Findings:
    if not has_management_mode(pool):
        return
    if any(one.autoscaled for one in pool.gpu_machines()):
        yield (
            "has gpuProfile.nvidia.managementMode Managed and is autoscaled, which AKS does not "
            f"support. Remove {pool.scaled_by}, minCount and maxCount, or managementMode."
        )
