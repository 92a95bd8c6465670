"""The resource by which pods get a GPU of a pool: its name, and how many of it a node has."""

from dataclasses import dataclass
from typing import Protocol

from aks_catalogue import mig
from aks_catalogue.device_plugin import GPU, MIG_PREFIX, SHARED
from aks_catalogue.sizes import find

AMD_GPU = "amd.com/gpu"
_OF_VENDORS = {"AMD": AMD_GPU}


class TimeSlicing(Protocol):
    """How pods share a GPU in turns."""

    @property
    def replicas(self) -> int: ...
    @property
    def rename(self) -> bool: ...


@dataclass(frozen=True)
class GpuResource:
    """A resource of Kubernetes; None: unknown, because the VM size is."""

    name: str | None
    per_node: int | None


def gpu_resource(
    vm_size: str,
    *,
    mig_profile: str | None = None,
    mig_strategy: str | None = None,
    time_slicing: TimeSlicing | None = None,
) -> GpuResource:
    """Returns what a node of a pool offers once a device plugin runs on it."""
    size = find(vm_size)
    slices = mig.slices(size, mig_profile) if size and mig_profile else None
    devices = size.devices if size and size.gpus else None
    name: str | None = _OF_VENDORS.get(size.gpu_vendor, GPU) if size else GPU
    if mig_profile:
        devices = devices * slices.per_gpu if devices and slices else None
        if mig_strategy == "mixed":
            name = f"{MIG_PREFIX}{slices.profile}" if slices else None
    if time_slicing:
        devices = devices and devices * time_slicing.replicas
        name = f"{name}{SHARED}" if name and time_slicing.rename else name
    return GpuResource(name, devices)
