"""GPU pools have machines that are worth their trouble: a whole GPU, and enough to feed it."""

from fractions import Fraction

from pulumi_policy import EnforcementLevel

from catalogue.sizes import GpuSize, find, gpu_sizes
from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings

_Amount = float | Fraction | None


@PoolRule(
    title="GPU pools have a minimum size",
    description="The sizes of GPU node pools are at least Standard_NC6, or another floor.",
    level=EnforcementLevel.MANDATORY,
    remedy="Take a GPU size with at least the GPUs, vCPUs and memory of the floor, such as "
    "Standard_NC8as_T4_v3; or name a size that the table does not know in acceptedSizes.",
    tags=("gpu", "aks", "size"),
    settings={
        "floor": {
            "type": "string",
            "enum": [size.name for size in gpu_sizes().values() if size.gpus],
            "default": "Standard_NC6",
            "description": "The smallest size that is allowed, by its name in Azure.",
        },
        "acceptedSizes": strings("Sizes that are let through without being compared.", default=[]),
    },
)
def gpu_pool_minimum_size(pool: Pool, settings: Settings) -> Findings:
    floor = gpu_sizes()[settings["floor"].lower()]
    accepted = {name.lower() for name in settings["acceptedSizes"]}
    for vm_size in pool.gpu_sizes():
        if vm_size.lower() in accepted:
            continue
        size = find(vm_size)
        if size is None:
            yield (
                f"has the GPU size {vm_size}, which the pack's table does not know: it cannot be "
                f"compared with {floor.name}. Take a size that is known, or name this one in the "
                "rule's acceptedSizes."
            )
        else:
            yield from _compared(size, floor)


def _compared(size: GpuSize, floor: GpuSize) -> Findings:
    measures: list[tuple[str, _Amount, _Amount]] = [
        ("GPU", size.gpus, floor.gpus),
        ("vCPU", size.vcpus, floor.vcpus),
        ("GiB of memory", size.memory_gib, floor.memory_gib),
    ]
    asked = [(unit, has, least) for unit, has, least in measures if least is not None]
    if too_little := [(unit, has, least) for unit, has, least in asked if has and has < least]:
        said = ", ".join(
            f"{has} {unit} where {least} is the least" for unit, has, least in too_little
        )
        yield f"has {size.name}, which is below {floor.name}: {said}. Take a larger size."
    elif unknown := [unit for unit, has, _ in asked if has is None]:
        yield (
            f"has {size.name}, of which the pack's table does not know how much it has of "
            f"{' and '.join(unknown)}: it cannot be compared with {floor.name}. Take another size, "
            "or name this one in the rule's acceptedSizes."
        )
