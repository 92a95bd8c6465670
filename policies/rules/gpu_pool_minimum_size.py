"""GPU pools have a minimum size: enough GPUs, with enough memory.

A size is below the floor if it has fewer GPUs, or less memory on each. A part of a GPU counts as
one GPU with the memory of that part. vCPUs and the memory of the VM do not count. Sizes that the
pack does not know are reported by `gpu-size-unknown`, and retired ones by `gpu-size-retired`.
"""

from pulumi_policy import EnforcementLevel

from aks_catalogue.retirement import has_passed
from aks_catalogue.sizes import FLOOR, find, gpu_sizes
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings


@PoolRule(
    level=EnforcementLevel.MANDATORY,
    remedy="Use a size with at least as many GPUs, and as much memory on each, as the floor, such "
    "as Standard_NC4as_T4_v3; or add the size to acceptedSizes.",
    tags=("gpu", "aks", "size"),
    settings={
        "floor": {
            "type": "string",
            "enum": [size.name for size in gpu_sizes().values() if size.gpus],
            "default": FLOOR,
            "description": "The smallest allowed size, by its Azure name.",
        },
        "acceptedSizes": strings("Sizes to accept without a comparison.", default=[]),
    },
)
def gpu_pool_minimum_size(pool: Pool, settings: Settings) -> Findings:
    floor = gpu_sizes()[settings["floor"].lower()]
    accepted = {name.lower() for name in settings["acceptedSizes"]}
    for size in filter(None, map(find, pool.gpu_sizes())):
        # Existing pools must still take changes: gpu-size-retired reports them.
        if has_passed(size.retired_on):
            continue
        # Compares GPUs only: vCPUs and the memory of the VM do not matter.
        too_little = [
            *_less("GPU", size.whole_gpus, floor.whole_gpus),
            *_less("GiB of memory per GPU", size.gpu_memory_gib, floor.gpu_memory_gib),
        ]
        if too_little and size.name.lower() not in accepted:
            yield (
                f"has {size.name}, which is below {floor.name}: {', '.join(too_little)}. "
                "Use a larger size."
            )


def _less(unit: str, has: int | None, least: int | None) -> Findings:
    # Unknown values pass: gpu-size-unknown reports them.
    if has is not None and least is not None and has < least:
        yield f"{has} {unit}, minimum {least}"
