"""Only some GPUs can be cut into several: those with MIG.

The rule also finds profiles that do not exist, and sizes of which the table does not know whether
they have MIG.
"""

from catalogue.mig import PROFILES
from catalogue.sizes import find
from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="MIG is asked of GPUs that have it",
    description="Node pools with a MIG profile have a size whose GPUs can be divided.",
    remedy="Leave the profile out, or take a size with A100, H100 or H200 GPUs.",
    tags=("gpu", "aks", "mig"),
)
def gpu_mig_supported(pool: Pool, _: Settings) -> Findings:
    profile = pool.get("gpuInstanceProfile")
    if profile.lower() in ("", "none"):
        return
    name = pool.name_of("gpuInstanceProfile")
    if profile not in PROFILES:
        yield f"has {name} {profile}, which is none: take one of {', '.join(PROFILES)}."
    for vm_size in pool.sizes():
        size = find(vm_size)
        divisible = size.mig if size else None
        if divisible is None:
            yield (
                f"has {name} {profile} and {vm_size}, of which the pack's table does not know "
                "whether its GPUs can be divided."
            )
        elif not divisible:
            yield (
                f"has {name} {profile}, and the GPUs of {vm_size} cannot be divided. MIG is for "
                "A100, H100 and H200, as Standard_NC24ads_A100_v4 has them."
            )
