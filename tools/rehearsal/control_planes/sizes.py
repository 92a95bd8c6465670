"""The capacity of a node by VM size, and the part of it that pods may use."""

import math
import re
from dataclasses import dataclass

from aks_catalogue import sizes

# The node in the article: AKS of 2020 reserved more memory and less CPU than today.
ARTICLE_SIZE = "standard_nc6"
ARTICLE_KIBIBYTES = 57713784
ARTICLE_ALLOCATABLE_KIBIBYTES = 51702904
ARTICLE_ALLOCATABLE_MILLICPUS = 5916

# The memory of firmware and kernel, measured on the article's node.
USABLE_MEMORY = ARTICLE_KIBIBYTES / (56 << 20)
# The millicores that AKS reserves by the number of cores (from its documentation).
RESERVED_CPU = {1: 60, 2: 100, 4: 140, 8: 180, 16: 260, 32: 420, 64: 740}
# The MiB that AKS reserves since Kubernetes 1.29: a part for each pod and a fixed part, at most a
# quarter of the memory; the kubelet's eviction threshold comes on top.
RESERVED_PER_POD, RESERVED_BESIDE, RESERVED_AT_MOST, EVICTION = 20, 50, 0.25, 100

# For sizes outside the catalogue: the cores are in the name, the memory follows from the family.
NAME = re.compile(r"standard_(?P<family>[a-z]+)(?P<cores>\d+)", re.IGNORECASE)
GIBIBYTES_PER_CORE = {"b": 4, "d": 4, "e": 8, "f": 2, "g": 14, "h": 8, "l": 8, "m": 28, "n": 14}
GIBIBYTES_OTHERWISE = 4
CORES_OTHERWISE = 2


@dataclass(frozen=True)
class Room:
    """The capacity of a node, and the allocatable part."""

    cpus: int
    millicpus_allocatable: int
    kibibytes: int
    kibibytes_allocatable: int


def room(vm_size: str, max_pods: int) -> Room:
    cpus, memory_gib = _machine(vm_size)
    if vm_size.lower() == ARTICLE_SIZE:
        return Room(
            cpus, ARTICLE_ALLOCATABLE_MILLICPUS, ARTICLE_KIBIBYTES, ARTICLE_ALLOCATABLE_KIBIBYTES
        )
    kibibytes = math.floor(memory_gib * (1 << 20) * USABLE_MEMORY)
    reserved = min(
        RESERVED_PER_POD * max_pods + RESERVED_BESIDE, memory_gib * 1024 * RESERVED_AT_MOST
    )
    reserved_kibibytes = math.floor(reserved + EVICTION) << 10
    return Room(cpus, cpus * 1000 - _reserved_cpu(cpus), kibibytes, kibibytes - reserved_kibibytes)


def _machine(vm_size: str) -> tuple[int, float]:
    size = sizes.find(vm_size)
    named = NAME.match(vm_size)
    cores = int(named["cores"]) if named else CORES_OTHERWISE
    family = named["family"][0].lower() if named else ""
    per_core = GIBIBYTES_PER_CORE.get(family, GIBIBYTES_OTHERWISE)
    if size is None:
        return cores, cores * per_core
    return size.vcpus, size.memory_gib or size.vcpus * per_core


def _reserved_cpu(cpus: int) -> int:
    """Returns the reserved CPU from the table, interpolated between its rows."""
    below = max((cores for cores in RESERVED_CPU if cores <= cpus), default=1)
    above = min((cores for cores in RESERVED_CPU if cores >= cpus), default=max(RESERVED_CPU))
    if above <= below:
        return RESERVED_CPU[above]
    share = (cpus - below) / (above - below)
    return round(RESERVED_CPU[below] + share * (RESERVED_CPU[above] - RESERVED_CPU[below]))
