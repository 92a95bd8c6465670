"""Which of its node's GPUs a container sees, as NVIDIA's container runtime decides it."""

from collections.abc import Mapping
from typing import Any

from aks_catalogue import gpu_isolation
from rehearsal.control_planes import gpus
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]

_ALL = "all"


def seen(
    pod: Json, container: Json, environment: Mapping[str, str], pool: DesiredPool, *, by_aks: bool
) -> int:
    """Returns how many GPUs or slices of its node a container of a CUDA image sees.

    `environment` is what the pod's spec sets: it comes after what the device plugin sets, and both
    come after the image, which names all GPUs. Where AKS installs the driver, its runtime starts
    all containers; that of the GPU Operator starts those that ask for it.
    """
    there = gpus.devices(gpus.hardware(pool))
    if (container.get("securityContext") or {}).get("privileged"):
        return there
    asks = min(gpu_isolation.asked(container), there)
    named = environment.get(gpu_isolation.VARIABLE)
    starts = by_aks or "nvidia" in (pod["spec"].get("runtimeClassName") or "")
    if not starts or (named is None and asks):
        return asks
    return _named(_ALL if named is None else named, there)


def _named(value: str, there: int) -> int:
    """Returns how many GPUs a value of the variable names: by number, by UUID, or all of them."""
    names = {name.strip() for name in value.split(",")} - {"", gpu_isolation.DRIVER_ALONE}
    if gpu_isolation.VOID in names:
        return 0
    return there if _ALL in names else min(len(names), there)
