"""The sizes that come nearest to one that cannot be had: by their GPUs, or else by their cores."""

import difflib
import math
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from aksgpu.preflight.facts import OfferedSize
from aksgpu.preflight.wanted import WantedPool
from catalogue.sizes import GpuSize, find, is_gpu_size

_HOW_MANY = 3
# No distance of numbers is as large: another kind of GPU is further away than any other number.
_ANOTHER_MODEL = 100.0


def nearest(
    pool: WantedPool, offered: Iterable[OfferedSize], zones: Collection[str] = ()
) -> list[str]:
    """The names of the nearest sizes that this subscription may have, the nearest first."""
    can_be_had = [size for size in offered if _can_be_had(size, pool, zones)]
    wanted = find(pool.vm_size)
    distances = _by_gpu(wanted, pool, can_be_had) if wanted else _by_cores(pool.vm_size, can_be_had)
    cores = {size.name: size.vcpus for size in can_be_had}
    # Of two that are as near, what fits the smaller fits the larger.
    return sorted(distances, key=lambda name: (distances[name], -cores[name], name))[:_HOW_MANY]


def _can_be_had(size: OfferedSize, pool: WantedPool, zones: Collection[str]) -> bool:
    return (
        not size.refused
        and size.name.lower() != pool.vm_size.lower()
        and size.usable_zones.issuperset(zones)
        and (size.can_be_spot or not pool.spot)
    )


def _by_gpu(
    wanted: GpuSize, pool: WantedPool, offered: Iterable[OfferedSize]
) -> Mapping[str, float]:
    known = {size.name: find(size.name) for size in offered}
    return {
        name: _distance(wanted, size)
        for name, size in known.items()
        if size and size.retired_on is None and _serves(size, wanted, pool)
    }


def _serves(size: GpuSize, wanted: GpuSize, pool: WantedPool) -> bool:
    """Whether it could stand in the stack file in place of the other one."""
    if pool.is_divided and size.mig is False:
        return False
    # Who brings the driver by himself may have brought it for any; the same vendor's is nearer.
    vendor = wanted.gpu_vendor if pool.gpu_stack == "none" else "NVIDIA"
    return size.gpu_vendor == vendor


def _distance(wanted: GpuSize, size: GpuSize) -> float:
    return (
        _ANOTHER_MODEL * (wanted.gpu_model != size.gpu_model)
        + 4 * _apart(wanted.gpus, size.gpus)
        + 2 * _apart(wanted.gpu_memory_gib, size.gpu_memory_gib)
        + _apart(wanted.vcpus, size.vcpus)
    )


def _by_cores(vm_size: str, offered: Iterable[OfferedSize]) -> Mapping[str, float]:
    """By what a name says of a size: D4ds_v5 is of the D series, and has four cores."""
    cores = _number(vm_size)
    return {
        size.name: _ANOTHER_MODEL * (_series(size.name) != _series(vm_size))
        + 4 * _apart(cores, size.vcpus)
        + 1
        - difflib.SequenceMatcher(None, vm_size, size.name).ratio()
        for size in offered
        if not is_gpu_size(size.name)
    }


def _number(vm_size: str) -> int | None:
    digits = "".join(sign if sign.isdigit() else " " for sign in vm_size.partition("_")[2]).split()
    return int(digits[0]) if digits else None


def _series(vm_size: str) -> str:
    return vm_size.partition("_")[2][:1].upper()


def _apart(one: Fraction | int | None, other: Fraction | int | None) -> float:
    """How many times one is doubled to come to the other; what is not known counts as one time."""
    if not one or not other:
        return 1.0
    return abs(math.log2(one / other))
