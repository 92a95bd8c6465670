"""The sizes of virtual machines, from gpu_sizes.csv and cpu_sizes.csv.

Without GPUs these are the sizes that node pools are commonly made of. An empty cell means: not
known. Cache and temporary disk are those of Azure's pages on the series, as of 2025, and, where its
list of sizes is public, of that list (June 2025). Two exceptions, which neither has: the cache of
the Dpds and Dplds sizes of v5 is what AKS was recorded to put systems on (200 GiB with 8 cores, so
half of that with 4), and the quota families of the D sizes of v4 and v5 that are in no such list
follow the naming of the others.
"""

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType

# When both tables were true.
AS_OF = date(2026, 11, 21)

# The smallest GPU size that the policy pack lets through, where it is not told another.
FLOOR = "Standard_NC6"

# The cores and GiB that AKS asks of every pool's machines, and of System pools'.
SMALLEST = (2, 2)
SMALLEST_OF_SYSTEM = (2, 4)

# By AKS's documentation, the size of a managed disk for the system of nodes with so many cores...
_MANAGED_DISK_GIB = {64: 1024, 16: 512, 8: 256, 1: 128}
# ...and the smallest local disk that it puts the system on unasked. No system disk is larger than
# AKS's API has it.
LEAST_DEFAULT_EPHEMERAL_GIB = 128
_MOST_DISK_GIB = 2048

# The families that AKS also runs Azure Linux 3 on, by the list of GPU sizes of its node
# provisioning (August 2026). The others need Ubuntu.
AZURE_LINUX_FAMILIES = frozenset(
    {
        "NC_A100_v4",
        "NCads_H100_v5",
        "NCasT4_v3",
        "NCv3",
        "ND_H100_v5",
        "ND_H200_v5",
        "NDasrA100_v4",
        "NDm_A100_v4",
        "NDv2",
        "NDv3",
    }
)

# Every size of the N-series carries an accelerator; NP's are FPGAs, the others' GPUs.
_GPU_SERIES = re.compile(r"(standard_)?n(c|d|g|v)", re.IGNORECASE)

# By Azure's naming: a p among the features is for Arm, and so is NVIDIA's Grace beside the GPU.
_SIZE = re.compile(
    r"(standard_)?[a-z]+\d+(-\d+)?(?P<features>[a-z]*)[a-z0-9]*(_.*?(?P<grace>_?gb\d+))?.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Size:
    """One virtual machine size."""

    name: str
    vcpus: int
    memory_gib: float | None
    quota_family: str | None
    generations: frozenset[str]
    # The cache and the temporary disk, where a system can be without a disk of its own. None: not
    # known, or on NVMe; 0: there is none.
    cache_gib: int | None = None
    temp_gib: int | None = None

    @property
    def most_ephemeral_gib(self) -> int | None:
        """The largest system that fits on one of the two; None where neither is known."""
        known = [disk for disk in (self.cache_gib, self.temp_gib) if disk is not None]
        return max(known, default=None)

    @property
    def local_disk_gib(self) -> int | None:
        """The disk that an ephemeral system is put on: the cache, if it is large enough."""
        cache, temp = self.cache_gib or 0, self.temp_gib or 0
        disk = cache if cache >= LEAST_DEFAULT_EPHEMERAL_GIB else max(cache, temp)
        return min(disk, _MOST_DISK_GIB) or None


@dataclass(frozen=True, kw_only=True)
class GpuSize(Size):
    """One virtual machine size with GPUs."""

    family: str
    gpus: Fraction | None
    gpu_model: str
    gpu_vendor: str
    gpu_memory_gib: int | None
    mig: bool | None
    # Whether AKS installs a driver on it, where nobody says driver: None.
    aks_driver: bool | None
    retired_on: date | None

    @property
    def is_nvidia(self) -> bool:
        return self.gpu_vendor == "NVIDIA"

    @property
    def devices(self) -> int:
        """How many GPUs a machine sees: a share of one is a device, and so is an unknown number."""
        return math.ceil(self.gpus or 1)


@cache
def gpu_sizes() -> Mapping[str, GpuSize]:
    """Returns all known GPU sizes, by their lower-cased names."""
    return MappingProxyType({row["name"].lower(): _gpu_size(row) for row in _rows("gpu_sizes.csv")})


@cache
def cpu_sizes() -> Mapping[str, Size]:
    """Returns the known sizes without GPUs, by their lower-cased names."""
    return MappingProxyType(
        {
            row["name"].lower(): Size(
                name=row["name"],
                vcpus=int(row["vcpus"]),
                memory_gib=float(row["memory_gib"]),
                quota_family=row["quota_family"],
                generations=frozenset(row["generations"].split(";")),
                **_local_disks(row),
            )
            for row in _rows("cpu_sizes.csv")
        }
    )


def managed_disk_gib(vcpus: int) -> int:
    """The size of the managed disk that AKS gives nodes with so many cores."""
    return next(gib for least, gib in _MANAGED_DISK_GIB.items() if vcpus >= least)


def architecture(vm_size: str) -> str | None:
    """A size's architecture, as Kubernetes calls it; None where nobody knows it."""
    match = _SIZE.fullmatch(vm_size)
    if match is None or (is_gpu_size(vm_size) and find(vm_size) is None):
        return None
    return "arm64" if "p" in match["features"].lower() or match["grace"] else "amd64"


def find(vm_size: str) -> GpuSize | None:
    """The GPU size of that name, in any case; None where it is no GPU size or not known."""
    return gpu_sizes().get(vm_size.lower())


def is_gpu_size(vm_size: str) -> bool:
    """Whether a size carries GPUs: all in the table, and what Azure's naming says of others."""
    return find(vm_size) is not None or _GPU_SERIES.match(vm_size) is not None


def is_below(size: GpuSize, floor: GpuSize) -> bool:
    """Whether a size has fewer GPUs than another, or less memory of each."""
    pairs = ((size.gpus, floor.gpus), (size.gpu_memory_gib, floor.gpu_memory_gib))
    return any(None not in pair and pair[0] < pair[1] for pair in pairs)  # type: ignore[operator]


def is_smaller(vm_size: str, smallest: tuple[int, int]) -> bool:
    """Whether a size has fewer cores or less memory than that; False where nobody knows it."""
    size = find(vm_size) or cpu_sizes().get(vm_size.lower())
    if size is None:
        return False
    vcpus, memory = smallest
    return size.vcpus < vcpus or (size.memory_gib is not None and size.memory_gib < memory)


def _rows(table: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(table).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _local_disks(row: dict[str, str]) -> dict[str, int | None]:
    return {name: int(row[name]) if row[name] else None for name in ("cache_gib", "temp_gib")}


def _gpu_size(row: dict[str, str]) -> GpuSize:
    def known(column: str) -> str | None:
        return row[column] or None

    memory, gpus, gpu_memory = known("memory_gib"), known("gpus"), known("gpu_memory_gib")
    mig, aks_driver, retired_on = known("mig"), known("aks_driver"), known("retired_on")
    return GpuSize(
        name=row["name"],
        family=row["family"],
        vcpus=int(row["vcpus"]),
        memory_gib=int(memory) if memory else None,
        gpus=Fraction(gpus) if gpus else None,
        gpu_model=row["gpu_model"],
        gpu_vendor=row["gpu_vendor"],
        gpu_memory_gib=int(gpu_memory) if gpu_memory else None,
        generations=frozenset(row["generations"].split(";")) - {""},
        mig=mig == "true" if mig else None,
        aks_driver=aks_driver == "true" if aks_driver else None,
        quota_family=known("quota_family"),
        **_local_disks(row),
        retired_on=date.fromisoformat(retired_on) if retired_on else None,
    )
