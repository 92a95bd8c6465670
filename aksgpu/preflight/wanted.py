"""What a stack wants of Azure, as its settings have it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalogue.headers import CUSTOM_FEATURES
from catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE
from catalogue.nodes import (
    ENCRYPTION_AT_HOST_FEATURE,
    ENCRYPTION_AT_HOST_NAMESPACE,
    surge_nodes,
)
from settings import GpuPool, Settings, SystemNodePool, SystemPool

# AKS itself, and those in whose name it makes machines and networks in the subscription.
PROVIDERS = ("Microsoft.ContainerService", "Microsoft.Compute", "Microsoft.Network")


@dataclass(frozen=True, kw_only=True)
class WantedPool:
    """A pool that the stack makes."""

    name: str
    # Where it stands in the stack file.
    key: str
    vm_size: str
    # How many nodes it begins with, and between how many it may scale.
    first: int
    fewest: int
    most: int
    zones: Sequence[str] = ()
    spot: bool = False
    spot_max_price: float = -1
    max_surge: str | None = None
    is_divided: bool = False
    gpu_stack: str = "device-plugin"

    @property
    def has_specialized_image(self) -> bool:
        return self.gpu_stack == "specialized-image"

    @property
    def surge(self) -> int | None:
        """How many nodes an upgrade adds to the most; None where maxSurge says nothing legible."""
        return surge_nodes(self.most, self.max_surge, is_spot=self.spot)


def pools(settings: Settings) -> list[WantedPool]:
    """The pools that the stack makes: the system pool belongs to its cluster."""
    keyed: list[tuple[SystemPool | SystemNodePool | GpuPool, str]] = [
        *((pool, "systemPool") for pool in settings.first_pool),
        *((pool, f"systemPools[{number}]") for number, pool in enumerate(settings.system_pools)),
        *((pool, f"gpuPools[{number}]") for number, pool in enumerate(settings.gpu_pools)),
    ]
    return [_pool(pool, key) for pool, key in keyed]


def features(settings: Settings) -> Mapping[str, bool]:
    """The preview features it needs, as namespace/name, and whether it registers them by itself."""
    needed: dict[str, bool] = {}
    for pool in (*settings.first_pool, *settings.gpu_pools):
        for name, value in (pool.custom_headers or {}).items():
            if name.lower() == CUSTOM_FEATURES.lower():
                needed |= dict.fromkeys(filter(None, map(str.strip, value.split(","))), False)
    every = (*settings.first_pool, *settings.system_pools, *settings.gpu_pools)
    if any(pool.encryption_at_host for pool in every):
        needed[f"{ENCRYPTION_AT_HOST_NAMESPACE}/{ENCRYPTION_AT_HOST_FEATURE}"] = False
    if settings.pools_of("specialized-image"):
        needed[f"{SPECIALIZED_IMAGE_NAMESPACE}/{SPECIALIZED_IMAGE_FEATURE}"] = True
    return needed


def _pool(pool: SystemPool | SystemNodePool | GpuPool, key: str) -> WantedPool:
    fewest = pool.count if pool.min_count is None else pool.min_count
    most = pool.count if pool.max_count is None else pool.max_count
    gpu = pool if isinstance(pool, GpuPool) else None
    return WantedPool(
        name=pool.name,
        key=key,
        vm_size=pool.vm_size,
        # AKS brings a pool that it scales to where its bounds are.
        first=min(max(pool.count, fewest), most),
        fewest=fewest,
        most=most,
        zones=pool.zones,
        gpu_stack="none" if isinstance(pool, SystemNodePool) else pool.gpu_stack,
        spot=gpu is not None and gpu.spot,
        spot_max_price=gpu.spot_max_price if gpu else -1,
        max_surge=gpu.max_surge if gpu else None,
        is_divided=gpu is not None and gpu.mig_profile is not None,
    )
