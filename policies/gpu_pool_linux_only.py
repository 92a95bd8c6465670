"""GPU pools run Linux: NVIDIA's device plugin, and so this project, knows no other system."""

from pulumi_policy import (
    EnforcementLevel,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)

from catalogue.sizes import is_gpu_size
from policies.pools import pools_of


def _validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
    for pool in pools_of(args.resource_type, args.props):
        # The system is read first: with Linux, a size that is not known yet does not matter.
        os_type = pool.get("osType") or "Linux"
        if os_type.lower() != "linux" and is_gpu_size(vm_size := pool.get("vmSize")):
            report(
                f"{pool.label} has the GPU size {vm_size} and runs {os_type}. GPU pools are for "
                "Linux only: set osType to Linux, or take a size without GPUs.",
                None,
            )


gpu_pool_linux_only = ResourceValidationPolicy(
    name="gpu-pool-linux-only",
    description="GPU node pools run Linux.",
    enforcement_level=EnforcementLevel.MANDATORY,
    validate=_validate,
)
