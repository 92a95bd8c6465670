"""How AKS divides GPUs by MIG: its profiles, and what NVIDIA calls the slices, by GPU.

As of November 2026. The number of slices is what AKS's node image creates of each profile; the
names are those of NVIDIA's MIG user guide. AKS divides A100, H100 and H200 only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from catalogue.sizes import GpuSize

# When the facts here were true.
AS_OF = date(2026, 11, 21)

# How many slices of one GPU each profile of AKS creates.
SLICES_PER_GPU: Mapping[str, int] = MappingProxyType(
    {"MIG1g": 7, "MIG2g": 3, "MIG3g": 2, "MIG4g": 1, "MIG7g": 1}
)
PROFILES = tuple(SLICES_PER_GPU)

# The memory of a slice in gigabytes, as its name has it, in the order of the profiles: by the GPU's
# model, and by its memory in GiB.
_MEMORY: Mapping[tuple[str, int], tuple[int, int, int, int, int]] = MappingProxyType(
    {
        ("A100", 40): (5, 10, 20, 20, 40),
        ("A100", 80): (10, 20, 40, 40, 80),
        ("H100", 80): (10, 20, 40, 40, 80),
        ("H100", 94): (12, 24, 47, 47, 94),
        ("H200", 141): (18, 35, 71, 71, 141),
    }
)


@dataclass(frozen=True)
class Slices:
    """What one GPU is divided into: NVIDIA's name of the slices, and how many there are."""

    profile: str
    per_gpu: int


def slices(size: GpuSize, profile: str) -> Slices | None:
    """What a profile makes of each GPU of a size; None where AKS divides no such GPU so."""
    model = size.gpu_model.partition(" ")[0]
    memory = _MEMORY.get((model, size.gpu_memory_gib or 0))
    if memory is None or profile not in SLICES_PER_GPU:
        return None
    gigabytes = memory[PROFILES.index(profile)]
    return Slices(f"{profile.removeprefix('MIG')}.{gigabytes}gb", SLICES_PER_GPU[profile])
