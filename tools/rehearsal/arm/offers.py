"""The offers of a subscription: its sizes by region and zone, and its quota of cores."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from aks_catalogue import regions
from aks_catalogue.regions import plain
from aks_catalogue.sizes import GpuSize, Size, cpu_sizes, gpu_sizes, is_gpu_size
from rehearsal.arm.offer_script import OfferScript, SizeLine, at, meets
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.sizes import room

# Generous: a rehearsal should not fail because of the low quota of a new subscription.
FAMILY_LIMIT = 100_000
LIMITS = {"cores": 1_000_000, "lowPriorityCores": 100_000}
# Azure's list of SKUs has no GPU count for these families.
WITHOUT_GPUS = {
    "Standard_ND96is_MI300X_v5",
    "Standard_ND128isr_NDR_GB200_v6",
    "Standard_ND128isr_GB300_v6",
}
# What nodes have as the label of their zone if their pool has no zones.
NO_ZONE = "0"
# The entry for a size that the script does not mention.
UNSCRIPTED = SizeLine(size="*", is_="offered")


@dataclass(frozen=True)
class Offer:
    """A size in one location: its zones there, and its entries in the script."""

    size: Size
    location: str
    zones: tuple[str, ...]
    line: SizeLine = UNSCRIPTED
    sold_out: tuple[SizeLine, ...] = ()

    @property
    def restricted_zones(self) -> tuple[str, ...]:
        """Returns the zones restricted for this subscription; none if the whole location is."""
        if self.line.is_ != "restricted":
            return ()
        return tuple(zone for zone in self.zones if zone in self.line.zones)

    @property
    def is_restricted(self) -> bool:
        """Returns whether the size is restricted for this subscription in the whole location."""
        return self.line.is_ == "restricted" and not self.line.zones

    def is_sold_out(self, zone: str, *, is_spot: bool) -> bool:
        """Returns whether a zone has no machines."""
        priority = "spot" if is_spot else "regular"
        lines = [line for line in self.sold_out if line.priority in (None, priority)]
        places = self.zones if zone == NO_ZONE and self.zones else (zone,)
        return all(any(not line.zones or place in line.zones for line in lines) for place in places)


@dataclass(frozen=True)
class Offers:
    """The offers of one era, minus what offers.json excludes."""

    era: Era
    script: OfferScript

    @property
    def today(self) -> date:
        """Returns the day by which this cloud judges retirements."""
        return self.script.today or self.era.day

    def find(self, vm_size: str, location: str) -> Offer | None:
        """Returns the offer of a size in a location; None if it is not offered there."""
        size = known_sizes().get(vm_size.lower())
        if size is None and self._has_by_name(vm_size, location):
            cpus = room(vm_size, max_pods=0).cpus
            size = Size(
                name=vm_size,
                vcpus=cpus,
                memory_gib=None,
                quota_family=None,
                generations=frozenset(),
            )
        return next(self._of([size], location), None) if size else None

    def _has_by_name(self, vm_size: str, location: str) -> bool:
        """Returns whether the script offers a size that no table has."""
        return (self.script.any_gpu_size and is_gpu_size(vm_size)) or any(
            line.is_ == "offered" and plain(line.size) == plain(vm_size)
            for line in at(self.script.sizes, location)
        )

    def in_location(self, location: str) -> list[Offer]:
        return list(self._of(known_sizes().values(), location))

    def _of(self, sizes: Iterable[Size], location: str) -> Iterator[Offer]:
        region = regions.regions().get(location)
        lines = at(self.script.sizes, location)
        for size in sizes:
            own = [line for line in lines if meets(line.size, size.name)]
            line = next((line for line in own if line.is_ != "soldOut"), UNSCRIPTED)
            sold_out = tuple(itertools.takewhile(lambda line: line.is_ == "soldOut", own))
            if region is not None and self._has(size) and line.is_ != "absent":
                yield Offer(size, location, region.zones, line, sold_out)

    def limit(self, name: str, location: str) -> int:
        """Returns the quota of a family, of all cores or of low-priority cores."""
        lines = at(self.script.limits, location)
        scripted = (line.limit for line in lines if meets(line.name, name))
        return next(scripted, LIMITS.get(name, FAMILY_LIMIT))

    def _has(self, size: Size) -> bool:
        """Returns whether the size is not retired yet."""
        retired_on = size.retired_on if isinstance(size, GpuSize) else None
        return retired_on is None or retired_on > self.today


@cache
def known_sizes() -> Mapping[str, Size]:
    """Returns all sizes of the catalogue by their lower-case names."""
    return {**cpu_sizes(), **gpu_sizes()}


@cache
def families() -> tuple[str, ...]:
    """Returns the quota families of all sizes, each once."""
    names = [size.quota_family for size in known_sizes().values() if size.quota_family]
    return tuple({plain(name): name for name in names}.values())


def listed_gpus(size: Size) -> int | None:
    """Returns the GPU count that Azure lists for a size (a part counts as one), or None."""
    known = size.gpus if isinstance(size, GpuSize) and size.name not in WITHOUT_GPUS else None
    return None if known is None else max(1, int(known))


def family_stem(family: str) -> str:
    """Returns the distinctive part of a family's name: DSv3 of `standardDSv3Family`."""
    return re.sub(r"^standard[\s_]*|\s*family$", "", family, flags=re.IGNORECASE)
