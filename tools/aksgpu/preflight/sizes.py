"""Whether the VM sizes of the pools are offered to this subscription, in their zones, and for long.

For a size that is not, the report names the most similar ones: by GPU, or by name.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from aks_catalogue import retirement
from aks_catalogue.regions import plain
from aks_catalogue.sizes import FLOOR, GpuSize, find, gpu_sizes, is_below, is_gpu_size
from aks_pools.gpus import driver_is_left_out
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, OfferedSize, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row

# What Azure's reason codes of a restriction mean, and what to do.
_REFUSALS = {
    "NotAvailableForSubscription": (
        "is not offered to this subscription",
        "request access to the region or size with a support request for quota",
    ),
    "QuotaId": (
        "is not sold to subscriptions of this offer",
        "use a subscription of another offer",
    ),
}
_OTHER_REFUSAL = ("is restricted", "ask Azure support for access")
_HOW_MANY = 3
# D4ds_v5 is of the D series, and has four vCPUs.
_NAME = re.compile(r"\w+?_(?P<series>[A-Za-z])\D*(?P<cores>\d+)")

Sizes = Mapping[str, OfferedSize]


def judge(pools: Sequence[PlannedPool], facts: Facts, today: date) -> Iterator[Row]:
    """The answers about the sizes of all pools."""
    if isinstance(facts.sizes, Unanswered):
        advice = f"run `az vm list-skus --location {facts.location} --all --output table`"
        yield About("size").unknown(facts.sizes.reason, advice, facts.sizes.cause)
    for pool in pools:
        if isinstance(facts.sizes, Mapping):
            yield from _availability(pool, facts.sizes, facts)
        yield from _retired(pool, facts, today)


def _availability(pool: PlannedPool, sizes: Sizes, facts: Facts) -> Iterator[Row]:
    size, here = sizes.get(plain(pool.vm_size)), facts.location
    if sizes and size is None and (warning := _not_listed(pool, facts)):
        yield warning
        return
    yield _offered(pool, size, sizes, here)
    if size is None or size.refused:
        return
    if pool.zones:
        yield _zones(pool, size, sizes, here)
    if pool.spot:
        yield _spot(pool, size, sizes)


def _not_listed(pool: PlannedPool, facts: Facts) -> Row | None:
    """A warning for a size that Azure does not list, but may still have; else None."""
    about = About("size", pool.name, f"{pool.key}.vmSize")
    if facts.has_pool(pool.name, pool.vm_size):
        what = f"{pool.vm_size} is no longer offered in {facts.location}; the pool exists"
        return about.warning(what, "plan for another size: the pool may not get more nodes")
    if facts.is_rehearsal and find(pool.vm_size) is None and is_gpu_size(pool.vm_size):
        what = f"the rehearsal cloud does not know {pool.vm_size}; only Azure's list does"
        return about.warning(what, f"`az vm list-skus --location {facts.location} --all`")
    return None


def _offered(pool: PlannedPool, size: OfferedSize | None, sizes: Sizes, here: str) -> Row:
    about = About("size", pool.name, f"{pool.key}.vmSize")
    if not sizes:
        advice = "use a region that exists: `az account list-locations --output table` lists them"
        return about.problem(Cause.NOT_OFFERED, f"no VM size is offered in {here}", advice)
    others = _use_nearest(pool, sizes)
    if size is None:
        what = f"{pool.vm_size} is not offered in {here}"
        return about.problem(Cause.NOT_OFFERED, what, f"{others}, or another region")
    if size.refused:
        refusal, advice = _REFUSALS.get(size.refused, _OTHER_REFUSAL)
        what = f"{size.name} {refusal} in {here} ({size.refused})"
        return about.problem(Cause.NOT_OFFERED, what, f"{others}, or {advice}")
    zones = f", {_counted(sorted(size.usable_zones))}" if size.usable_zones else ", without zones"
    return about.ok(f"{size.name} is offered in {here}{zones}")


def _zones(pool: PlannedPool, size: OfferedSize, sizes: Sizes, here: str) -> Row:
    about = About("zones", pool.name, f"{pool.key}.zones")
    missing = [zone for zone in pool.zones if zone not in size.usable_zones]
    if not missing:
        return about.ok(f"{size.name} is offered in {_counted(pool.zones)}")
    is_refused = size.refused_zones.issuperset(missing)
    refusal = "not offered to this subscription" if is_refused else "not offered"
    what = f"{size.name} is {refusal} in {_counted(missing)} of {here}"
    usable = sorted(size.usable_zones)
    advice = f"use {_counted(usable)}" if usable else "remove the zones"
    if near := nearest(pool, sizes.values(), pool.zones):
        advice += f", or use a size that is in all these zones, such as {', '.join(near)}"
    return about.problem(Cause.NOT_OFFERED, what, advice)


def _spot(pool: PlannedPool, size: OfferedSize, sizes: Sizes) -> Row:
    about = About("spot", pool.name, f"{pool.key}.spot")
    if size.can_be_spot:
        return about.ok(f"{size.name} is offered as spot, while capacity lasts")
    advice = f"remove spot, or {_use_nearest(pool, sizes)}"
    return about.problem(Cause.NOT_OFFERED, f"{size.name} is not offered as spot", advice)


def _retired(pool: PlannedPool, facts: Facts, today: date) -> Iterator[Row]:
    """The answer about a size that is retired, or will be. Existing pools keep it."""
    about, size = About("retired", pool.name, f"{pool.key}.vmSize"), find(pool.vm_size)
    if size is None or size.retired_on is None:
        return
    successor = retirement.SUCCESSORS.get(size.family)
    advice = f"use {successor}" if successor else "plan for another size"
    what = f"{size.name} was retired on {size.retired_on}"
    if size.retired_on > today:
        yield about.warning(f"{size.name} will be retired on {size.retired_on}", advice)
    elif facts.has_pool(pool.name, pool.vm_size):
        yield about.warning(f"{what}; the pool exists", advice)
    elif isinstance(facts.sizes, Mapping) and plain(pool.vm_size) not in facts.sizes:
        yield about.problem(Cause.NOT_OFFERED, what, advice)
    else:
        yield about.warning(f"{what}; it works as long as Azure lists it", advice)


def _use_nearest(pool: PlannedPool, sizes: Sizes) -> str:
    names = ", ".join(nearest(pool, sizes.values()))
    return f"use a size such as {names}" if names else "no similar size is offered here"


def _counted(zones: Sequence[str]) -> str:
    return f"zone {zones[0]}" if len(zones) == 1 else f"zones {', '.join(zones)}"


def nearest(
    pool: PlannedPool, offered: Iterable[OfferedSize], zones: Collection[str] = ()
) -> list[str]:
    """The names of the most similar sizes that this subscription can use, best first."""
    desired = find(pool.vm_size)
    distances: dict[str, tuple[Any, ...]] = {}
    for size in offered:
        if not _is_usable(size, pool, zones):
            continue
        gpu_size = find(size.name)
        if desired and gpu_size and _can_replace(gpu_size, desired, pool):
            distances[size.name] = _by_gpu(gpu_size, desired)
        elif not desired and not is_gpu_size(size.name):
            distances[size.name] = _by_name(size, pool.vm_size)
    return sorted(distances, key=lambda name: (distances[name], name))[:_HOW_MANY]


def _is_usable(size: OfferedSize, pool: PlannedPool, zones: Collection[str]) -> bool:
    return (
        not size.refused
        and size.name.lower() != pool.vm_size.lower()
        and size.usable_zones.issuperset(zones)
        and (size.can_be_spot or not pool.spot)
    )


def _can_replace(size: GpuSize, desired: GpuSize, pool: PlannedPool) -> bool:
    """Whether the pool could have this size instead of the desired one."""
    if size.retired_on or (pool.pool.text("gpuInstanceProfile") and size.mig is False):
        return False
    if is_below(size, gpu_sizes()[FLOOR.lower()]):
        return False
    if driver_is_left_out(pool.pool):
        # The driver may be of any vendor: keep to the vendor of the desired size.
        return size.gpu_vendor == desired.gpu_vendor
    return size.aks_driver is not False and size.gpu_vendor == "NVIDIA"


def _by_gpu(size: GpuSize, desired: GpuSize) -> tuple[Any, ...]:
    """Compares GPU model, number of GPUs, their memory, then vCPUs: rather more than fewer."""
    return (
        size.gpu_model != desired.gpu_model,
        abs((size.gpus or 0) - (desired.gpus or 0)),
        abs((size.gpu_memory_gib or 0) - (desired.gpu_memory_gib or 0)),
        size.vcpus < desired.vcpus,
        abs(size.vcpus - desired.vcpus),
    )


def _by_name(size: OfferedSize, vm_size: str) -> tuple[Any, ...]:
    desired, offered = _NAME.match(vm_size), _NAME.match(size.name)
    return (
        not desired or not offered or desired["series"].upper() != offered["series"].upper(),
        abs(size.vcpus - int(desired["cores"])) if desired else 0,
        -difflib.SequenceMatcher(None, vm_size, size.name).ratio(),
    )
