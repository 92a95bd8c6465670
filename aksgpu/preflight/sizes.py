"""Whether the sizes of the pools can be had: here, by this subscription, in their zones, still.

For a size that cannot, there are the nearest ones: by their GPUs, or else by their names.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, OfferedSize, Unanswered
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.wanted import WantedPool
from catalogue import retirement
from catalogue.images import SPECIALIZED_IMAGE_RETIRED_ON
from catalogue.regions import plain
from catalogue.sizes import AS_OF, FLOOR, GpuSize, find, gpu_sizes, is_below, is_gpu_size

# What Azure's reasons for a restriction mean, and what can be done about it.
_REFUSALS = {
    "NotAvailableForSubscription": (
        "is not offered to this subscription",
        "ask for it with a support request for quota, of the kind access to a region or size",
    ),
    "QuotaId": (
        "is not sold under this subscription's kind of offer",
        "take a subscription of another kind",
    ),
}
_OTHER_REFUSAL = ("is restricted", "ask Azure's support for it")
_HOW_MANY = 3
# A name says of a size: D4ds_v5 is of the D series, and has four cores.
_NAME = re.compile(r"\w+?_(?P<series>[A-Za-z])\D*(?P<cores>\d+)")

Sizes = Mapping[str, OfferedSize]


def judge(pools: Sequence[WantedPool], facts: Facts, today: date) -> Iterator[Row]:
    """The answers about the sizes of all pools."""
    if isinstance(facts.sizes, Unanswered):
        advice = f"`az vm list-skus --location {facts.location} --all --output table` tells"
        yield About("size").unknown(facts.sizes.reason, advice, facts.sizes.cause)
    for pool in pools:
        if isinstance(facts.sizes, Mapping):
            yield from _had(pool, facts.sizes, facts)
        yield from _retired(pool, facts, today)


def _had(pool: WantedPool, sizes: Sizes, facts: Facts) -> Iterator[Row]:
    size, here = sizes.get(plain(pool.vm_size)), facts.location
    if sizes and size is None and (doubt := _not_listed(pool, facts)):
        yield doubt
        return
    yield _offered(pool, size, sizes, here)
    if size is None or size.refused:
        return
    if pool.zones:
        yield _zones(pool, size, sizes, here)
    if pool.spot:
        yield _spot(pool, size, sizes)


def _not_listed(pool: WantedPool, facts: Facts) -> Row | None:
    """What stands in no list and may be there all the same; None for what may not."""
    about = About("size", pool.name, f"{pool.key}.vmSize")
    if facts.has_pool(pool.name, pool.vm_size):
        what = f"{pool.vm_size} is not offered in {facts.location} any more, and the pool is there"
        return about.warning(what, "plan for another size: more nodes may not be had")
    if facts.is_rehearsal and find(pool.vm_size) is None and is_gpu_size(pool.vm_size):
        what = f"the rehearsal cloud does not know {pool.vm_size}: Azure's own list tells"
        return about.warning(what, f"`az vm list-skus --location {facts.location} --all`")
    return None


def _offered(pool: WantedPool, size: OfferedSize | None, sizes: Sizes, here: str) -> Row:
    about = About("size", pool.name, f"{pool.key}.vmSize")
    if not sizes:
        advice = "is it a region? `az account list-locations --output table` has them all"
        return about.problem(Cause.SIZE_NOT_OFFERED, f"no size is offered in {here}", advice)
    others = _nearest(pool, sizes)
    if size is None:
        what = f"{pool.vm_size} is not offered in {here}"
        return about.problem(Cause.SIZE_NOT_OFFERED, what, f"{others}, or another region")
    if size.refused:
        words, advice = _REFUSALS.get(size.refused, _OTHER_REFUSAL)
        what = f"{size.name} {words} in {here} ({size.refused})"
        return about.problem(Cause.SIZE_NOT_OFFERED, what, f"{others}, or {advice}")
    zones = f", {_counted(sorted(size.usable_zones))}" if size.usable_zones else ", without zones"
    return about.ok(f"{size.name} is offered in {here}{zones}")


def _zones(pool: WantedPool, size: OfferedSize, sizes: Sizes, here: str) -> Row:
    about = About("zones", pool.name, f"{pool.key}.zones")
    missing = [zone for zone in pool.zones if zone not in size.usable_zones]
    if not missing:
        return about.ok(f"{size.name} is offered in {_counted(pool.zones)}")
    is_refused = size.refused_zones.issuperset(missing)
    words = "not offered to this subscription" if is_refused else "not offered"
    what = f"{size.name} is {words} in {_counted(missing)} of {here}"
    usable = sorted(size.usable_zones)
    advice = f"take {_counted(usable)}" if usable else "leave the zones out"
    if near := nearest(pool, sizes.values(), pool.zones):
        advice += f", or a size that is in all of them, such as {', '.join(near)}"
    return about.problem(Cause.SIZE_NOT_OFFERED, what, advice)


def _spot(pool: WantedPool, size: OfferedSize, sizes: Sizes) -> Row:
    about = About("spot", pool.name, f"{pool.key}.spot")
    if size.can_be_spot:
        return about.ok(f"{size.name} can be had as spot, while there are any to spare")
    advice = f"leave spot out, or {_nearest(pool, sizes)}"
    return about.problem(Cause.SIZE_NOT_OFFERED, f"{size.name} cannot be had as spot", advice)


def _retired(pool: WantedPool, facts: Facts, today: date) -> Iterator[Row]:
    """What is retired is wrong in new pools alone."""
    about = About("retired", pool.name, f"{pool.key}.vmSize")
    known = find(pool.vm_size)
    if pool.has_specialized_image and today >= SPECIALIZED_IMAGE_RETIRED_ON:
        what = f"the specialized image was retired on {SPECIALIZED_IMAGE_RETIRED_ON}"
        advice = "Azure refuses new pools with it; take the regular image"
        yield About("image", pool.name, f"{pool.key}.image").warning(what, advice)
    if known is None:
        if is_gpu_size(pool.vm_size):
            what = f"the table of GPU sizes of {AS_OF} does not know {pool.vm_size}"
            yield about.warning(what, "look for it among Azure's retired sizes")
        else:
            yield about.ok("retirement dates are known for GPU sizes only")
        return
    if known.retired_on is None:
        yield about.ok(f"no day is known on which {known.name} will be retired")
        return
    successor = retirement.SUCCESSORS.get(known.family)
    advice = f"take {successor}" if successor else "plan for another size"
    what = f"{known.name} was retired on {known.retired_on}"
    if known.retired_on > today:
        yield about.warning(f"{known.name} will be retired on {known.retired_on}", advice)
    elif facts.has_pool(pool.name, pool.vm_size):
        yield about.warning(f"{what}; the pool is there", advice)
    elif isinstance(facts.sizes, Mapping) and plain(pool.vm_size) not in facts.sizes:
        yield about.problem(Cause.SIZE_RETIRED, what, advice)
    else:
        yield about.warning(f"{what}; it works where Azure lists it still", advice)


def _nearest(pool: WantedPool, sizes: Sizes) -> str:
    near = nearest(pool, sizes.values())
    return f"take one such as {', '.join(near)}" if near else "there is no size like it here"


def _counted(zones: Sequence[str]) -> str:
    return f"zone {zones[0]}" if len(zones) == 1 else f"zones {', '.join(zones)}"


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
    if is_below(size, gpu_sizes()[FLOOR.lower()]):
        return False
    if size.aks_driver is False and pool.gpu_stack != "none":
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
