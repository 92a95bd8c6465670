"""The GPU sizes of Azure, from gpu_sizes.csv (an empty cell means: not known)."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType

# Every size of the N-series carries an accelerator; NP's are FPGAs, the others' GPUs.
_GPU_SERIES = re.compile(r"(standard_)?n(c|d|g|v)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class GpuSize:
    """One virtual machine size with GPUs."""

    name: str
    family: str
    vcpus: int
    memory_gib: int | None
    gpus: Fraction | None
    gpu_model: str
    gpu_vendor: str
    gpu_memory_gib: int | None
    generations: frozenset[str]
    mig: bool | None
    quota_family: str | None
    retired_on: date | None


@cache
def gpu_sizes() -> Mapping[str, GpuSize]:
    """All known GPU sizes, by their lower-cased names."""
    with Path(__file__).with_name("gpu_sizes.csv").open(newline="", encoding="utf-8") as table:
        sizes = [_size(row) for row in csv.DictReader(table)]
    return MappingProxyType({size.name.lower(): size for size in sizes})


def find(vm_size: str) -> GpuSize | None:
    """The GPU size of that name, in any case; None where it is no GPU size or not known."""
    return gpu_sizes().get(vm_size.lower())


def is_gpu_size(vm_size: str) -> bool:
    """Whether a size carries GPUs: all in the table, and what Azure's naming says of others."""
    return find(vm_size) is not None or _GPU_SERIES.match(vm_size) is not None


def _size(row: dict[str, str]) -> GpuSize:
    def known(column: str) -> str | None:
        return row[column] or None

    memory, gpus, gpu_memory = known("memory_gib"), known("gpus"), known("gpu_memory_gib")
    mig, retired_on = known("mig"), known("retired_on")
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
        quota_family=known("quota_family"),
        retired_on=date.fromisoformat(retired_on) if retired_on else None,
    )
