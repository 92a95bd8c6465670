"""What a stack requires of Azure: the requests for its pools, as its components make them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aks_catalogue import rotation
from aks_catalogue.aks_properties import POOL
from aks_catalogue.headers import CUSTOM_FEATURES
from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE
from aks_catalogue.nodes import (
    ENCRYPTION_AT_HOST_FEATURE,
    ENCRYPTION_AT_HOST_NAMESPACE,
    INFINIBAND_FEATURE,
    INFINIBAND_NAMESPACE,
    MANAGED_GPU_FEATURE,
    MANAGED_GPU_NAMESPACE,
    surge_nodes,
)
from aks_catalogue.shapes import at
from aks_catalogue.sizes import has_rdma
from aks_pools.pools import Machines, Pool, pools_of
from components.aks_cluster import SystemPoolArgs
from components.extra_properties import with_extra
from components.gpu_node_pool import GpuNodePoolArgs, gpu_pool_properties
from components.node_pool import NodePoolArgs
from components.pool_args import sent_of_pool, sent_of_user_pool
from components.system_node_pool import SystemNodePoolArgs
from stack_settings.model import Settings
from stack_settings.pools import GpuPool, NodePool, SystemNodePool

# AKS, and the providers of the machines and networks that AKS creates in the subscription.
PROVIDERS = ("Microsoft.ContainerService", "Microsoft.Compute", "Microsoft.Network")
# What AKS takes for a fixed property that a request or an answer leaves out.
_DEFAULTS = {"gpuProfile.driver": "Install", "scaleSetPriority": "Regular"}


def providers(settings: Settings) -> Sequence[str]:
    """The resource providers that the subscription has to have."""
    return (*PROVIDERS, *(["Microsoft.ContainerRegistry"] if settings.registry.name else []))


@dataclass(frozen=True)
class PlannedPool:
    """A pool that the stack creates."""

    name: str
    # Its key in the stack file.
    key: str
    # What the request for it has, with its custom headers.
    request: Mapping[str, Any]

    @cached_property
    def pool(self) -> Pool:
        (pool,) = pools_of("azure-native:containerservice:AgentPool", self.request)
        return pool

    @cached_property
    def _machines(self) -> Machines:
        return next(self.pool.machines())

    @property
    def vm_size(self) -> str:
        return self._machines.vm_size

    @property
    def fewest(self) -> int:
        return self._machines.least or 0

    @property
    def most(self) -> int:
        return self._machines.most or 0

    @property
    def first(self) -> int:
        """How many nodes it starts with: AKS brings a scaled pool within its bounds."""
        return min(max(self._machines.initial or 0, self.fewest), self.most)

    @property
    def surge(self) -> int:
        """How many nodes an upgrade adds to the most."""
        upgrades = self.pool.part("upgradeSettings")
        surge, unavailable = upgrades.get("maxSurge"), upgrades.get("maxUnavailable")
        return surge_nodes(self.most, surge, unavailable, is_spot=self.spot) or 0

    @cached_property
    def zones(self) -> Sequence[str]:
        return self.pool.texts("availabilityZones")

    @property
    def spot(self) -> bool:
        return self.pool.is_spot()

    @property
    def is_rung(self) -> bool:
        return ".rungs[" in self.key

    @property
    def slot(self) -> str:
        """What it shares with the pools that stand in for it: the rungs of a capacity."""
        return self.key.partition(".rungs[")[0]

    def rotates(self, live: Pool) -> bool:
        """Whether a new pool takes the place of the present one, which stays until then."""
        if rotation.LABEL not in self.pool.part("nodeLabels"):
            return False
        asked, present = self.pool.properties, live.properties
        # What a request leaves out, AKS has chosen.
        given = (path for path in POOL.fixed if _value(asked, path) is not None)
        return any(_value(asked, path) != _value(present, path) for path in given)


def _value(properties: Mapping[str, Any], path: str) -> Any:
    """A value as Azure compares it."""
    value = at(properties, path)
    if isinstance(value, list):
        return sorted(map(str, value))
    return value.casefold() if isinstance(value, str) else value or _DEFAULTS.get(path)


def pools(settings: Settings) -> list[PlannedPool]:
    """The pools that the stack creates; the system pool only if the stack creates the cluster."""
    return [
        PlannedPool(pool.name, key, _request(pool, settings))
        for key, pool in [
            *(("systemPool", pool) for pool in settings.first_pool),
            *settings.separate_pools,
        ]
    ]


def _request(pool: Any, settings: Settings) -> dict[str, Any]:
    """The request for a pool, as its component makes it."""
    shared: dict[str, Any] = {
        "resource_group_name": settings.resource_group.name,
        "cluster_name": settings.cluster.name,
        "subnet_id": settings.network.subnet_id or None,
        "tags": settings.tags,
    }
    if isinstance(pool, GpuPool):
        driver = settings.gpu_operator.driver
        args = pool.as_args(
            GpuNodePoolArgs,
            gpu_operator_driver=driver,
            gpu_taint=settings.gpu_taint,
            labels=settings.labels_of(pool),
            **shared,
        )
        request = with_extra(gpu_pool_properties(args, []), args.extra)
        return {**request, "customHeaders": args.custom_headers or {}}
    if isinstance(pool, NodePool):
        user = pool.as_args(NodePoolArgs, **shared)
        return with_extra(sent_of_user_pool(user), user.extra)
    if isinstance(pool, SystemNodePool):
        system = pool.as_args(SystemNodePoolArgs, **shared)
        return with_extra(sent_of_pool(system, "System"), system.extra)
    first = pool.as_args(SystemPoolArgs)
    request = with_extra(sent_of_pool(first, "System"), first.extra)
    return {**request, "customHeaders": first.custom_headers or {}}


def features(settings: Settings, planned: Sequence[PlannedPool]) -> Mapping[str, bool]:
    """The preview features it needs, as namespace/name, and whether the stack registers them."""
    needed = dict.fromkeys(_named_in_headers(planned), False)
    if any(each.pool.flag("enableEncryptionAtHost") for each in planned):
        needed[f"{ENCRYPTION_AT_HOST_NAMESPACE}/{ENCRYPTION_AT_HOST_FEATURE}"] = False
    if settings.pools_of("specialized-image"):
        needed[f"{SPECIALIZED_IMAGE_NAMESPACE}/{SPECIALIZED_IMAGE_FEATURE}"] = True
    if settings.pools_of("managed"):
        registers = settings.managed_gpu_feature == "register"
        needed[f"{MANAGED_GPU_NAMESPACE}/{MANAGED_GPU_FEATURE}"] = registers
    if any(has_rdma(each.vm_size) and each.most > 1 for each in planned):
        registers = settings.infiniband_feature == "register"
        needed[f"{INFINIBAND_NAMESPACE}/{INFINIBAND_FEATURE}"] = registers
    return needed


def _named_in_headers(planned: Sequence[PlannedPool]) -> Iterator[str]:
    for each in planned:
        for name, value in each.pool.part("customHeaders").items():
            if name.lower() == CUSTOM_FEATURES.lower():
                yield from filter(None, map(str.strip, value.split(",")))
