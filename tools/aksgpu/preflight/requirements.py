"""What a stack requires of Azure, according to its settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aks_catalogue import rotation
from aks_catalogue.headers import CUSTOM_FEATURES
from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE
from aks_catalogue.nodes import (
    DRIVERS,
    ENCRYPTION_AT_HOST_FEATURE,
    ENCRYPTION_AT_HOST_NAMESPACE,
    INFINIBAND_FEATURE,
    INFINIBAND_NAMESPACE,
    MANAGED_GPU_FEATURE,
    MANAGED_GPU_NAMESPACE,
    surge_nodes,
)
from aks_catalogue.regions import plain
from aks_catalogue.valid_pools import OPERATOR
from stack_settings.model import Settings
from stack_settings.pools import GpuPool, NodePool, SystemNodePool

# AKS, and the providers of the machines and networks that AKS creates in the subscription.
PROVIDERS = ("Microsoft.ContainerService", "Microsoft.Compute", "Microsoft.Network")


def providers(settings: Settings) -> Sequence[str]:
    """The resource providers that the subscription has to have."""
    return (*PROVIDERS, *(["Microsoft.ContainerRegistry"] if settings.registry.name else []))


@dataclass(frozen=True, kw_only=True)
class PlannedPool:
    """A pool that the stack creates."""

    name: str
    # Its key in the stack file.
    key: str
    vm_size: str
    # How many nodes it starts with, and the bounds of its scaling.
    first: int
    fewest: int
    most: int
    zones: Sequence[str] = ()
    spot: bool = False
    spot_max_price: float = -1
    max_surge: str | None = None
    max_unavailable: str | None = None
    reservation_group: str = ""
    is_divided: bool = False
    gpu_stack: str = "device-plugin"
    rotates: bool = False
    # What replaces the pool, by path; without what is left to AKS.
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_rung(self) -> bool:
        return ".rungs[" in self.key

    @property
    def slot(self) -> str:
        """What it shares with the pools that stand in for it: the rungs of a capacity."""
        return self.key.partition(".rungs[")[0]

    @property
    def has_specialized_image(self) -> bool:
        return self.gpu_stack == "specialized-image"

    @property
    def surge(self) -> int | None:
        """How many nodes an upgrade adds to the most; None if maxSurge is not valid."""
        return surge_nodes(self.most, self.max_surge, self.max_unavailable, is_spot=self.spot)


def pools(settings: Settings) -> list[PlannedPool]:
    """The pools that the stack creates; the system pool only if the stack creates the cluster."""
    first = [_pool(pool, "systemPool") for pool in settings.first_pool]
    return first + [_pool(pool, key) for key, pool in settings.separate_pools]


def features(settings: Settings) -> Mapping[str, bool]:
    """The preview features it needs, as namespace/name, and whether the stack registers them."""
    needed: dict[str, bool] = {}
    for pool in (*settings.first_pool, *settings.all_gpu_pools):
        for name, value in (pool.custom_headers or {}).items():
            if name.lower() == CUSTOM_FEATURES.lower():
                needed |= dict.fromkeys(filter(None, map(str.strip, value.split(","))), False)
    every = [*settings.first_pool, *(pool for _, pool in settings.separate_pools)]
    if any(pool.host_encryption for pool in every):
        needed[f"{ENCRYPTION_AT_HOST_NAMESPACE}/{ENCRYPTION_AT_HOST_FEATURE}"] = False
    if settings.pools_of("specialized-image"):
        needed[f"{SPECIALIZED_IMAGE_NAMESPACE}/{SPECIALIZED_IMAGE_FEATURE}"] = True
    if settings.pools_of("managed"):
        registers = settings.managed_gpu_feature == "register"
        needed[f"{MANAGED_GPU_NAMESPACE}/{MANAGED_GPU_FEATURE}"] = registers
    with_infiniband: list[Any] = [pool for pool in settings.all_gpu_pools if pool.has_infiniband]
    if any((pool.max_count or pool.count) > 1 for pool in with_infiniband):
        registers = settings.infiniband_feature == "register"
        needed[f"{INFINIBAND_NAMESPACE}/{INFINIBAND_FEATURE}"] = registers
    return needed


def _pool(pool: Any, key: str) -> PlannedPool:
    fewest = pool.count if pool.min_count is None else pool.min_count
    most = pool.count if pool.max_count is None else pool.max_count
    gpu: Any = pool if isinstance(pool, GpuPool) else None
    of_users: Any = pool if isinstance(pool, GpuPool | NodePool) else None
    return PlannedPool(
        name=pool.name,
        key=key,
        vm_size=pool.vm_size,
        # AKS brings a scaled pool within its bounds.
        first=min(max(pool.count, fewest), most),
        fewest=fewest,
        most=most,
        zones=pool.zones,
        gpu_stack="none" if isinstance(pool, SystemNodePool | NodePool) else pool.gpu_stack,
        spot=of_users is not None and of_users.spot,
        spot_max_price=of_users.spot_max_price if of_users else -1,
        max_surge=gpu.max_surge if gpu else None,
        max_unavailable=gpu.max_unavailable if gpu else None,
        reservation_group=(gpu.capacity_reservation_group_id or "") if gpu else "",
        is_divided=gpu is not None and gpu.mig_profile is not None,
        rotates=gpu is not None and gpu.replacement == rotation.ROTATE,
        fixed=_fixed(gpu) if gpu else {},
    )


def _fixed(pool: Any) -> dict[str, Any]:
    fixed = {
        "vmSize": plain(pool.vm_size),
        "scaleSetPriority": "Spot" if pool.spot else "Regular",
        "gpuInstanceProfile": pool.mig_profile or "",
        "availabilityZones": sorted(pool.zones),
    }
    left_open = {
        # With the GPU Operator, the stack decides about it.
        "gpuProfile.driver": None if pool.gpu_stack == OPERATOR else DRIVERS[pool.gpu_stack],
        "osDiskSizeGB": pool.os_disk_size_gb,
        "osDiskType": pool.os_disk_type,
        "enableEncryptionAtHost": pool.host_encryption or None,
    }
    return fixed | {path: value for path, value in left_open.items() if value is not None}
