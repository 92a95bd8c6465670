"""MIG profiles of AKS, and NVIDIA's names for the slices of each GPU, as of November 2026.

The numbers of slices are those that AKS's node image creates. The names are from NVIDIA's MIG user
guide. AKS supports MIG only on A100, H100 and H200.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from aks_catalogue.sizes import GpuSize

# The date of these facts.
AS_OF = date(2026, 11, 21)

# The number of slices per GPU, by AKS's profile.
SLICES_PER_GPU: Mapping[str, int] = MappingProxyType(
    {"MIG1g": 7, "MIG2g": 3, "MIG3g": 2, "MIG4g": 1, "MIG7g": 1}
)
PROFILES = tuple(SLICES_PER_GPU)

# The gigabytes in the names of the slices, in the order of the profiles. The key is the GPU's model
# and its memory in GiB.
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
    """The slices of one GPU: NVIDIA's name, and their number."""

    profile: str
    per_gpu: int


def slices(size: GpuSize, profile: str) -> Slices | None:
    """Returns the slices of each GPU of a size; None if AKS does not support the profile on it."""
    model = size.gpu_model.partition(" ")[0]
    memory = _MEMORY.get((model, size.gpu_memory_gib or 0))
    if memory is None or profile not in SLICES_PER_GPU:
        return None
    gigabytes = memory[PROFILES.index(profile)]
    return Slices(f"{profile.removeprefix('MIG')}.{gigabytes}gb", SLICES_PER_GPU[profile])
