"""The node pools of a stack file: system pools and GPU pools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from aks_catalogue import valid_pools as rules
from aks_catalogue.aks_versions import MANAGED_GPUS, is_beyond_azure_native
from aks_catalogue.headers import SPECIALIZED_IMAGE, parse
from aks_catalogue.sizes import find, has_rdma, is_gpu_size
from aks_catalogue.valid import one_of
from components.aks_cluster import SystemPoolArgs
from components.gpu_capacity import GpuCapacityArgs
from components.gpu_node_pool import GpuNodePoolArgs
from components.node_pool import NodePoolArgs
from components.sharing import SharingArgs, TimeSlicingArgs
from components.system_node_pool import SystemNodePoolArgs
from stack_settings.section import Section, context_of, keys_of, must_be


def _parse_headers(value: Any) -> Any:
    if isinstance(value, str):
        return dict(parse(value))
    if isinstance(value, Mapping | None):
        return value
    raise ValueError(must_be("a map, or a string such as a=b,c=d", value))


# A map, or a string as the Azure CLI takes it: a=b,c=d.
CustomHeaders = Annotated[dict[str, str] | None, BeforeValidator(_parse_headers)]


def _default_to_the_clusters_version(version: Any, info: ValidationInfo) -> Any:
    context = context_of(info)
    if isinstance(version, str) and version:
        reason = rules.version_conflict(
            version, context.kubernetes_version, context.upgrade_channel
        )
        if reason:
            raise ValueError(reason)
    return version or context.kubernetes_version


class NamedPool(Section):
    """The keys of all node pools."""

    name: str
    """The name of the node pool: 1 to 12 lowercase letters and digits, starting with a letter."""
    os_sku: str = "Ubuntu"

    if TYPE_CHECKING:
        # Arguments of every pool that the code reads here.
        vm_size: str
        count: int
        min_count: int | None
        max_count: int | None
        zones: list[str]
        host_encryption: bool

    @field_validator("name")
    @classmethod
    def _is_unique(cls, name: str, info: ValidationInfo) -> str:
        if (pools := context_of(info).pool_names[name]) > 1:
            raise ValueError(f"{pools} pools are named {name!r}: give each pool its own name")
        return name


class Pool(NamedPool):
    """The keys of the first system pool and of GPU pools."""

    image: Annotated[str | None, one_of("regular", "specialized")] = None
    """The node image: `regular` or `specialized` (retired). Default: as `gpuStack` needs it."""
    gpu_stack: Annotated[str, rules.FITS_SPECIALIZED, rules.FITS_REGULAR] = None  # type: ignore[assignment]
    """What installs the GPU driver and the device plugin: `device-plugin`, `managed` and `operator`
    (only GPU pools), `specialized-image` or `none`. Default: `specialized-image` if `image` is
    `specialized`, else the stack's `gpuStack`. To or from `managed` replaces the pool."""
    custom_headers: CustomHeaders = None
    """HTTP headers to send with requests for the pool (for `systemPool`: for the cluster), as a map
    or as the string `a=b,c=d` of the Azure CLI. With headers, even an empty map,
    [aks-preview](../aks-preview.md) manages the resource instead of azure-native; an existing
    resource cannot move between the two."""

    @field_validator("gpu_stack", mode="before")
    @classmethod
    def _default_to_the_stacks(cls, own: Any, info: ValidationInfo) -> Any:
        by_image = info.data.get("image") == "specialized"
        by_stack = "specialized-image" if by_image else context_of(info).gpu_stack
        return own or by_stack

    @field_validator("custom_headers")
    @classmethod
    def _add_header_of_the_image(
        cls, headers: dict[str, str] | None, info: ValidationInfo
    ) -> dict[str, str] | None:
        is_set = any(name.lower() == SPECIALIZED_IMAGE.lower() for name in headers or {})
        if is_set or info.data.get("gpu_stack") != "specialized-image":
            return headers
        return {SPECIALIZED_IMAGE: "true", **(headers or {})}

    @classmethod
    def by_aks_preview(cls, known: Mapping[str, Any]) -> bool:
        owner = known.get("gpuStack")
        managed = owner == "managed" and is_beyond_azure_native(MANAGED_GPUS)
        return super().by_aks_preview(known) or owner == "specialized-image" or managed

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


@keys_of(SystemPoolArgs, named="pool_name")
class SystemPool(Pool):
    """The first system node pool, which AKS creates with the cluster. AKS does not change its name,
    size, zones or disks later."""

    name: str = "system"
    vm_size: str = "Standard_D4ds_v5"
    if TYPE_CHECKING:
        removed: bool


class _PoolWithoutGpus(NamedPool):
    """The keys of pools without GPUs that are separate from the cluster."""

    vm_size: str = "Standard_D4ds_v5"
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""
    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: up to three minor versions older than the cluster's.
    Default: `cluster.kubernetesVersion`."""

    _version = field_validator("kubernetes_version", mode="before")(
        _default_to_the_clusters_version
    )


@keys_of(
    SystemNodePoolArgs,
    named="pool_name",
    without=("resource_group_name", "cluster_name", "subnet_id", "tags"),
)
class SystemNodePool(_PoolWithoutGpus):
    """An additional system node pool, without GPUs."""


@keys_of(
    NodePoolArgs,
    named="pool_name",
    without=("resource_group_name", "cluster_name", "subnet_id", "tags"),
)
class NodePool(_PoolWithoutGpus):
    """A node pool without GPUs, for what runs beside them."""

    if TYPE_CHECKING:
        spot: bool
        spot_max_price: float


@keys_of(TimeSlicingArgs)
class TimeSlicing(Section):
    """How many pods use a GPU in turns. Nothing keeps them from each other's memory."""

    replicas: Annotated[int, Field(strict=True)]


@keys_of(SharingArgs)
class Sharing(Section):
    """How pods share the GPUs of a pool."""

    if TYPE_CHECKING:
        time_slicing: TimeSlicing | None


@keys_of(
    GpuNodePoolArgs,
    named="pool_name",
    without=(
        "resource_group_name",
        "cluster_name",
        "gpu_operator_driver",
        "gpu_taint",
        "subnet_id",
        "tags",
    ),
)
class GpuPool(Pool):
    """A GPU node pool."""

    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: up to three minor versions older than the cluster's.
    Default: `cluster.kubernetesVersion`."""
    os_type: Annotated[str, rules.ONLY_LINUX] = "Linux"
    """Only `Linux`: the key exists to refuse `Windows` with a reason."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""

    if TYPE_CHECKING:
        capacity_reservation_group_id: str | None
        labels: dict[str, str]
        max_surge: str | None
        max_unavailable: str | None
        mig_profile: str | None
        os_disk_size_gb: int | None
        os_disk_type: str | None
        replacement: str
        sharing: Sharing | None
        spot: bool
        spot_max_price: float

    @property
    def has_infiniband(self) -> bool:
        return has_rdma(self.vm_size)

    _version = field_validator("kubernetes_version", mode="before")(
        _default_to_the_clusters_version
    )

    @field_validator("capacity_reservation_group_id", check_fields=False)
    @classmethod
    def _require_identity(cls, group: str | None, info: ValidationInfo) -> str | None:
        if group and context_of(info).has_system_identity:
            raise ValueError(
                "requires a user-assigned identity, since AKS cannot use reservations with a "
                "system-assigned one: set cluster.userAssignedIdentityId"
            )
        return group

    @field_validator("vm_size", check_fields=False)
    @classmethod
    def _normalize_size(cls, vm_size: str) -> str:
        size = find(vm_size)
        return size.name if size else vm_size


@keys_of(GpuCapacityArgs, named="capacity_name", without=("prefix",))
class Capacity(Section):
    """GPUs that can be had: pools that stand in for each other ([capacity](../capacity.md))."""

    name: str
    """The name by which pods find the capacity: up to 40 lowercase letters, digits and `-`. Another
    name changes the labels and taints of the nodes: pods of the old one find none."""
    vm_size: str | None = None
    """The VM size that the pods are made for, and of each rung that names no other: no rung may
    have fewer GPUs, or less memory on each. Default: that of the first rung."""
    max_count: int | None = None
    """The highest number of nodes of each rung that names no other. Such rungs start without nodes,
    and go back to none."""
    rungs: list[GpuPool]
    """The pools, first the one to try first, each with the keys of `gpuPools`: a reservation, spot
    nodes, regular ones, other sizes, other zones. All cut and share GPUs alike."""

    @field_validator("name")
    @classmethod
    def _is_unique(cls, name: str, info: ValidationInfo) -> str:
        if (others := context_of(info).capacity_names[name]) > 1:
            raise ValueError(f"{others} capacities are named {name!r}: give each its own name")
        return name

    @field_validator("rungs", mode="before")
    @classmethod
    def _take_over_common_keys(cls, rungs: Any, info: ValidationInfo) -> Any:
        if not isinstance(rungs, list):
            return rungs
        common = {
            key: value
            for key, value in (
                ("vmSize", info.data.get("vm_size")),
                ("maxCount", info.data.get("max_count")),
            )
            if value is not None
        }
        return [_rung({**common, **each}) if isinstance(each, Mapping) else each for each in rungs]


def _rung(keys: Mapping[str, Any]) -> Mapping[str, Any]:
    """A rung that says nothing else has no nodes until it is needed."""
    if "maxCount" not in keys:
        return keys
    least = keys.get("minCount", 0)
    return {"minCount": least, "count": least, **keys}
