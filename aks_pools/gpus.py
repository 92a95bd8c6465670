"""The GPUs of a pool: of whom they are, and who installs their driver and device plugin."""

from collections.abc import Iterator, Mapping
from typing import Any

from aks_catalogue import nodes
from aks_catalogue.headers import CUSTOM_FEATURES, SPECIALIZED_IMAGE
from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE
from aks_catalogue.sizes import find
from aks_pools.pools import Pool
from aks_pools.values import part


def are_nvidias(pool: Pool) -> bool | None:
    """Whether the pool has NVIDIA GPUs; None if its size is not in the catalogue."""
    sizes = [find(vm_size) for vm_size in pool.gpu_sizes()]
    if any(size and size.is_nvidia for size in sizes):
        return True
    return None if None in sizes else False


def specialized_image_headers(properties: Mapping[str, Any]) -> Iterator[str]:
    """Yields the custom headers of a pool or a cluster that request the specialized image."""
    headers = part(properties.get("customHeaders"), "customHeaders")
    for name in headers:
        if name.lower() == SPECIALIZED_IMAGE.lower() and is_true(headers[name]):
            yield name
        if name.lower() == CUSTOM_FEATURES.lower() and _names_the_image(str(headers[name])):
            yield name


def has_specialized_image(pool: Pool) -> bool:
    """Whether the pool requests it; an inline pool does with the headers of its cluster."""
    return any(specialized_image_headers(pool.owner))


def has_managed_gpus(pool: Pool) -> bool:
    """Whether AKS manages the driver and the device plugin."""
    return has_management_mode(pool) or is_true(pool.part("tags").get(nodes.MANAGED_GPU_TAG))


def has_management_mode(pool: Pool) -> bool:
    """Whether AKS manages them by the pool's GPU profile, not by the older tag."""
    return nodes.has_managed_gpus({"gpuProfile": pool.part("gpuProfile")})


def driver_is_left_out(pool: Pool) -> bool:
    return str(pool.part("gpuProfile").get("driver") or "").lower() == "none"


def driver_by_aks(pool: Pool) -> bool | None:
    """Whether AKS installs the driver; None if that is not known for the VM size."""
    if driver_is_left_out(pool):
        return False
    installs = {size and size.aks_driver for size in map(find, pool.gpu_sizes())}
    return True if True in installs else None if None in installs else False


def is_true(value: Any) -> bool:
    return str(value).lower() == "true"


def _names_the_image(features: str) -> bool:
    names = [feature.strip().rpartition("/")[2].lower() for feature in features.split(",")]
    return SPECIALIZED_IMAGE_FEATURE.lower() in names
