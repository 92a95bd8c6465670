"""Only GPUs that support MIG have a MIG profile.

The rule also finds profiles that do not exist.
"""

from aks_catalogue.mig import PROFILES
from aks_catalogue.sizes import find
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    remedy="Remove the profile, or use a size with A100, H100 or H200 GPUs.",
    tags=("gpu", "aks", "mig"),
)
def gpu_mig_supported(pool: Pool, _: Settings) -> Findings:
    profile = pool.text("gpuInstanceProfile")
    if profile.lower() in ("", "none"):
        return
    name = pool.name_of("gpuInstanceProfile")
    if profile not in PROFILES:
        yield f"has the invalid {name} {profile}. Use one of {', '.join(PROFILES)}."
    for vm_size in pool.sizes():
        size = find(vm_size)
        if size and size.mig is False:
            yield (
                f"has {name} {profile}, but the GPUs of {vm_size} do not support MIG. Use a size "
                "with A100, H100 or H200 GPUs, such as Standard_NC24ads_A100_v4."
            )
