"""VM sizes, from gpu_sizes.csv and cpu_sizes.csv.

The names, quota families, vCPUs and memory of cpu_sizes.csv are from the list that Kubernetes'
autoscaler has of Azure's (March 2026); Dsv7 and Ddsv7, which it does not have yet, and the memory
of D1_v2 and DS1_v2, which it rounds, are from the pages of their series. An empty cell means that a
value is unknown. Generations, cache and temporary disk are from Azure's documentation of the series
(2024 to 2026) and from its public list of sizes (June 2025). The cache of the Dpdsv5 and Dpldsv5
sizes is derived from recorded OS disks (200 GiB with 8 vCPUs, so half of that with 4).

`rdma` is from Azure's page on InfiniBand (2026-09-25): sizes with an r in their name have it; NV24r
has no page. `rack` is from the words of Azure for GB300, quoted in scripts of AKS engineers for it
(2026-07): "Capacity must be a multiple of 18 for SKUs that support vertical connect". The page of
GB200 has racks of 72 GPUs too; nobody quotes the words for it.

To renew them: `PYTHONPATH=tools python -m renew cpu_sizes` for names, families, vCPUs and memory of
the sizes without GPUs. Of the others, `az vm list-skus --resource-type virtualMachines --size
Standard_N --all` has the same, generations, and `RdmaEnabled`; Azure's documentation of a series
has its GPU and its retirement; AKS's page on GPUs says whether it installs the driver. `as_of` is
the day on which a row was true, and the newest is that of the table.
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

# The smallest GPU size that the policy pack accepts by default.
FLOOR = "Standard_NC6"

# The vCPUs and GiB of memory that AKS requires for every pool, and for system pools.
SMALLEST = (2, 2)
SMALLEST_OF_SYSTEM = (2, 4)

# The default size of a managed OS disk, by the least number of vCPUs (AKS documentation).
_MANAGED_DISK_GIB = {64: 1024, 16: 512, 8: 256, 1: 128}
# The smallest local disk that AKS uses for an ephemeral OS disk by default.
LEAST_DEFAULT_EPHEMERAL_GIB = 128
# The largest OS disk of AKS's API.
_MOST_DISK_GIB = 2048

# The families on which AKS also supports Azure Linux 3, from the list of GPU sizes of node
# auto-provisioning (August 2026). The others need Ubuntu.
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

# All sizes of the N series have accelerators: FPGAs in the NP series, GPUs in the others.
_GPU_SERIES = re.compile(r"(standard_)?n(c|d|g|v)", re.IGNORECASE)

# In Azure's names, the feature p means an Arm CPU, and so does NVIDIA Grace next to the GPU.
_SIZE = re.compile(
    r"(standard_)?[a-z]+\d+(-\d+)?(?P<features>[a-z]*)[a-z0-9]*(_.*?(?P<grace>_?gb\d+))?.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Size:
    """A VM size."""

    name: str
    vcpus: int
    memory_gib: float | None
    quota_family: str | None
    generations: frozenset[str]
    # The cache and the temporary disk, which can hold an ephemeral OS disk. None: unknown, or NVMe;
    # 0: the size has none.
    cache_gib: int | None = None
    temp_gib: int | None = None

    @property
    def most_ephemeral_gib(self) -> int | None:
        """The largest ephemeral OS disk that fits on cache or temporary disk; None if unknown."""
        known = [disk for disk in (self.cache_gib, self.temp_gib) if disk is not None]
        return max(known, default=None)

    @property
    def local_disk_gib(self) -> int | None:
        """The disk that AKS uses for an ephemeral OS disk: the cache, if it is large enough."""
        cache, temp = self.cache_gib or 0, self.temp_gib or 0
        disk = cache if cache >= LEAST_DEFAULT_EPHEMERAL_GIB else max(cache, temp)
        return min(disk, _MOST_DISK_GIB) or None


@dataclass(frozen=True, kw_only=True)
class GpuSize(Size):
    """A VM size with GPUs."""

    family: str
    gpus: Fraction | None
    gpu_model: str
    gpu_vendor: str
    gpu_memory_gib: int | None
    mig: bool | None
    # Whether AKS installs a driver on it, unless gpuProfile.driver is None.
    aks_driver: bool | None
    # Whether it has InfiniBand.
    rdma: bool | None
    # How many of them are a rack, of which Azure gives only whole ones; None: it gives single VMs.
    rack: int | None
    retired_on: date | None

    @property
    def is_nvidia(self) -> bool:
        return self.gpu_vendor == "NVIDIA"

    @property
    def whole_gpus(self) -> int | None:
        """The number of GPUs; a part of a GPU is one, with the memory of that part."""
        return None if self.gpus is None else self.devices

    @property
    def devices(self) -> int:
        """The number of GPU devices in a VM. A fraction of a GPU counts as one device."""
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
                memory_gib=float(row["memory_gib"]) if row["memory_gib"] else None,
                quota_family=row["quota_family"],
                generations=frozenset(row["generations"].split(";")) - {""},
                **_local_disks(row),
            )
            for row in _rows("cpu_sizes.csv")
        }
    )


def managed_disk_gib(vcpus: int) -> int:
    """Returns the default size of the managed OS disk for this number of vCPUs."""
    return next(gib for least, gib in _MANAGED_DISK_GIB.items() if vcpus >= least)


def architecture(vm_size: str) -> str | None:
    """Returns Kubernetes' name for the CPU architecture of a size; None if it is unknown."""
    match = _SIZE.fullmatch(vm_size)
    if match is None or (is_gpu_size(vm_size) and find(vm_size) is None):
        return None
    return "arm64" if "p" in match["features"].lower() or match["grace"] else "amd64"


def find(vm_size: str) -> GpuSize | None:
    """Returns the GPU size of this name, in any case; None if the table has none."""
    return gpu_sizes().get(vm_size.lower())


def is_gpu_size(vm_size: str) -> bool:
    """Whether a size has GPUs: it is in the table, or has a name of Azure's GPU series."""
    return find(vm_size) is not None or _GPU_SERIES.match(vm_size) is not None


def may_have_nvidia_gpus(vm_size: str) -> bool:
    """Whether a size has NVIDIA GPUs; True if it has GPUs that the table does not know."""
    size = find(vm_size)
    return size.is_nvidia if size else is_gpu_size(vm_size)


def has_rdma(vm_size: str) -> bool:
    """Whether a size certainly has InfiniBand."""
    size = find(vm_size)
    return size is not None and size.rdma is True


def rack_of(vm_size: str) -> int:
    """How many VMs of a size Azure gives at once: a rack, or one."""
    size = find(vm_size)
    return (size.rack if size else None) or 1


def is_below(size: GpuSize, floor: GpuSize) -> bool:
    """Whether a size has fewer GPUs than another, or less memory per GPU."""
    pairs = ((size.whole_gpus, floor.whole_gpus), (size.gpu_memory_gib, floor.gpu_memory_gib))
    return any(None not in pair and pair[0] < pair[1] for pair in pairs)  # type: ignore[operator]


def is_smaller(vm_size: str, smallest: tuple[int, int]) -> bool:
    """Whether a size has fewer vCPUs or less memory than `smallest`; False if it is unknown."""
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
    rdma, rack = known("rdma"), known("rack")
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
        rdma=rdma == "true" if rdma else None,
        rack=int(rack) if rack else None,
        quota_family=known("quota_family"),
        **_local_disks(row),
        retired_on=date.fromisoformat(retired_on) if retired_on else None,
    )


# The date of the table of GPU sizes.
AS_OF = max(date.fromisoformat(row["as_of"]) for row in _rows("gpu_sizes.csv"))
