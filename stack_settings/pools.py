"""The node pools of a stack file: system pools, pools without GPUs, GPU pools, and capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from aks_catalogue import valid_pools as rules
from aks_catalogue.headers import parse
from aks_catalogue.sizes import has_rdma, is_gpu_size
from aks_catalogue.valid import one_of
from components.aks_cluster import SystemPoolArgs
from components.declared import checked
from components.gpu_capacity import GpuCapacityArgs
from components.gpu_node_pool import GpuNodePoolArgs
from components.node_pool import NodePoolArgs
from components.system_node_pool import SystemNodePoolArgs
from stack_settings.section import Section, must_be

# The arguments of pools that they have from the stack.
_OF_THE_STACK = ("resource_group_name", "cluster_name", "subnet_id", "tags")


def headers(value: Any) -> Any:
    """Returns headers as a map. Raises ValueError for a text that is none of the Azure CLI's."""
    if isinstance(value, str):
        return dict(parse(value))
    if isinstance(value, Mapping | None):
        return value
    raise ValueError(must_be("a map, or a string such as a=b,c=d", value))


@dataclass(frozen=True, kw_only=True)
class AnyPool(Section):
    """The keys of all node pools."""

    named = "pool_name"
    os_sku: str = "Ubuntu"
    if TYPE_CHECKING:
        vm_size: str


@dataclass(frozen=True, kw_only=True)
class Pool(AnyPool):
    """The keys of the first system pool and of GPU pools."""

    reads = MappingProxyType({"customHeaders": headers})
    image: str | None = checked(one_of("regular", "specialized"), default=None)
    """The node image: `regular` or `specialized` (retired). Default: as `gpuStack` needs it."""
    gpu_stack: str = checked(rules.FITS_SPECIALIZED, rules.FITS_REGULAR, default="device-plugin")
    """What installs the GPU driver and the device plugin: `device-plugin`, `managed` and `operator`
    (only GPU pools), `specialized-image` or `none`. Default: `specialized-image` if `image` is
    `specialized`, else the stack's `gpuStack`. To or from `managed` replaces the pool."""
    custom_headers: Mapping[str, str] | None = None
    """HTTP headers to send with requests for the pool (for `systemPool`: for the cluster), as a map
    or as the string `a=b,c=d` of the Azure CLI. With headers, even an empty map,
    [aks-preview](../aks-preview.md) manages the resource instead of azure-native; an existing
    resource cannot move between the two."""

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


@dataclass(frozen=True, kw_only=True)
class SeparatePool(AnyPool):
    """The keys of pools that are separate from the cluster."""

    without: ClassVar[Sequence[str]] = _OF_THE_STACK
    kubernetes_version: str | None = None
    """The Kubernetes version of the nodes: up to three minor versions older than the cluster's.
    Default: `cluster.kubernetesVersion`."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""


@dataclass(frozen=True, kw_only=True)
class SystemPool(Pool, SystemPoolArgs):
    """The first system node pool, which AKS creates with the cluster. AKS does not change its name,
    size, zones or disks later."""

    vm_size: str = "Standard_D4ds_v5"


@dataclass(frozen=True, kw_only=True)
class SystemNodePool(SeparatePool, SystemNodePoolArgs):
    """An additional system node pool, without GPUs."""

    vm_size: str = "Standard_D4ds_v5"


@dataclass(frozen=True, kw_only=True)
class NodePool(SeparatePool, NodePoolArgs):
    """A node pool without GPUs, for what runs beside them."""

    vm_size: str = "Standard_D4ds_v5"


@dataclass(frozen=True, kw_only=True)
class GpuPool(Pool, SeparatePool, GpuNodePoolArgs):
    """A GPU node pool."""

    without = (*_OF_THE_STACK, "gpu_operator_driver", "gpu_taint")
    os_type: str = checked(rules.ONLY_LINUX, default="Linux")
    """Only `Linux`: the key exists to refuse `Windows` with a reason."""

    @property
    def has_infiniband(self) -> bool:
        return has_rdma(self.vm_size)


@dataclass(frozen=True, kw_only=True)
class Capacity(Section, GpuCapacityArgs):
    """GPUs that can be had: pools that stand in for each other ([capacity](../capacity.md))."""

    named = "capacity_name"
    without = ("prefix",)
    vm_size: str | None = None
    """The VM size that the pods are made for, and of each rung that names no other: no rung may
    have fewer GPUs, or less memory on each. Default: that of the first rung."""
    max_count: int | None = None
    """The highest number of nodes of each rung that names no other. Such rungs start without nodes,
    and go back to none."""
    rungs: Sequence[GpuPool] = checked()
    """The pools, first the one to try first, each with the keys of `gpuPools`: a reservation, spot
    nodes, regular ones, other sizes, other zones. All cut and share GPUs alike."""
