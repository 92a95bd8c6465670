"""The sizes that come nearest to one that cannot be had: by their GPUs, or else by their names."""

import difflib
import re
from collections.abc import Collection, Iterable
from typing import Any

from aksgpu.preflight.facts import OfferedSize
from aksgpu.preflight.wanted import WantedPool
from catalogue.sizes import GpuSize, find, is_gpu_size

_HOW_MANY = 3
# A name says of a size: D4ds_v5 is of the D series, and has four cores.
_NAME = re.compile(r"\w+?_(?P<series>[A-Za-z])\D*(?P<cores>\d+)")


def nearest(
    pool: WantedPool, offered: Iterable[OfferedSize], zones: Collection[str] = ()
) -> list[str]:
    """The names of the nearest sizes that this subscription may have, the nearest first."""
    can_be_had = [size for size in offered if _can_be_had(size, pool, zones)]
    wanted = find(pool.vm_size)
    far: dict[str, tuple[Any, ...]] = {}
    for size in can_be_had:
        known = find(size.name)
        if wanted and known and _serves(known, wanted, pool):
            far[size.name] = _by_gpu(known, wanted)
        elif not wanted and not is_gpu_size(size.name):
            far[size.name] = _by_name(size, pool.vm_size)
    return sorted(far, key=lambda name: (far[name], name))[:_HOW_MANY]


def _can_be_had(size: OfferedSize, pool: WantedPool, zones: Collection[str]) -> bool:
    return (
        not size.refused
        and size.name.lower() != pool.vm_size.lower()
        and size.usable_zones.issuperset(zones)
        and (size.can_be_spot or not pool.spot)
    )


def _serves(size: GpuSize, wanted: GpuSize, pool: WantedPool) -> bool:
    """Whether it could stand in the stack file in place of the other one."""
    if size.retired_on or (pool.is_divided and size.mig is False):
        return False
    # Who brings the driver by himself may have brought it for any; the same vendor's is nearer.
    return size.gpu_vendor == (wanted.gpu_vendor if pool.gpu_stack == "none" else "NVIDIA")


def _by_gpu(size: GpuSize, wanted: GpuSize) -> tuple[Any, ...]:
    """The kind of GPU counts first, then how many, their memory, and cores: rather more of them."""
    return (
        size.gpu_model != wanted.gpu_model,
        abs((size.gpus or 0) - (wanted.gpus or 0)),
        abs((size.gpu_memory_gib or 0) - (wanted.gpu_memory_gib or 0)),
        size.vcpus < wanted.vcpus,
        abs(size.vcpus - wanted.vcpus),
    )


def _by_name(size: OfferedSize, vm_size: str) -> tuple[Any, ...]:
    said, own = _NAME.match(vm_size), _NAME.match(size.name)
    return (
        not said or not own or said["series"].upper() != own["series"].upper(),
        abs(size.vcpus - int(said["cores"])) if said else 0,
        -difflib.SequenceMatcher(None, vm_size, size.name).ratio(),
    )
