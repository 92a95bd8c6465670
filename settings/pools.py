"""The node pools of a stack file: system pools and GPU pools."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from catalogue.headers import SPECIALIZED_IMAGE, parse
from catalogue.sizes import find, is_gpu_size
from catalogue.valid_pools import (
    GPU_POOL,
    SHARING,
    SYSTEM_NODE_POOL,
    SYSTEM_POOL,
    TIME_SLICING,
    WARNINGS,
    version_conflict,
)
from settings.section import Section, context_of, must_be


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
        reason = version_conflict(version, context.kubernetes_version, context.upgrade_channel)
        if reason:
            raise ValueError(reason)
    return version or context.kubernetes_version


class NamedPool(Section):
    """The keys of all node pools."""

    name: str
    """The name of the node pool: 1 to 12 lowercase letters and digits, starting with a letter."""
    host_encryption: bool = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. AKS does not change it on an existing pool."""

    @field_validator("name")
    @classmethod
    def _is_unique(cls, name: str, info: ValidationInfo) -> str:
        if (pools := context_of(info).pool_names[name]) > 1:
            raise ValueError(f"{pools} pools are named {name!r}: give each pool its own name")
        return name


class Pool(NamedPool):
    """The keys of the first system pool and of GPU pools."""

    _warnings = WARNINGS

    image: str | None = None
    """The node image: `regular` or `specialized` (retired). Default: as `gpuStack` needs it."""
    gpu_stack: str = None  # type: ignore[assignment]
    """What installs the GPU driver and the device plugin: `device-plugin`, `managed` and `operator`
    (only GPU pools), `specialized-image` or `none`. Default: `specialized-image` if `image` is
    `specialized`, else the stack's `gpuStack`. To or from `managed` replaces the pool."""
    vm_size: str
    """The VM size of the nodes, such as `Standard_NC8as_T4_v3`. Another size replaces a GPU
    pool."""
    count: int = 1
    """The number of nodes, up to 1000. If AKS scales the pool, the initial number, between
    `minCount` and `maxCount`."""
    min_count: int | None = None
    """The lowest number of nodes; a GPU pool can have 0. Set it together with `maxCount` to turn on
    the cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: int | None = None
    """The highest number of nodes, up to 1000. Set it together with `minCount` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: list[str] = []
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace a GPU pool."""
    os_sku: str = "Ubuntu"
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`."""
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

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


class SystemPool(Pool):
    """The first system node pool, which AKS creates with the cluster. AKS does not change its name,
    size, zones or disks later."""

    _rules = SYSTEM_POOL

    name: str = "system"
    """The name of the node pool: 1 to 12 lowercase letters and digits, starting with a letter."""
    vm_size: str = "Standard_D4ds_v5"
    """The VM size of the nodes, with at least 2 vCPUs and 4 GiB of memory."""
    removed: bool = False
    """Whether other system pools (`systemPools`) have replaced this one. Requests for the cluster
    then leave it out, so that you can delete it in AKS. Keep `customHeaders`: they are the
    cluster's."""


class SystemNodePool(NamedPool):
    """An additional system node pool, without GPUs."""

    _rules = SYSTEM_NODE_POOL

    vm_size: str = "Standard_D4ds_v5"
    """The VM size of the nodes, without GPUs and with at least 2 vCPUs and 4 GiB of memory. Another
    size replaces the pool."""
    count: int = 1
    """The number of nodes, 1 to 1000. If AKS scales the pool, the initial number, between
    `minCount` and `maxCount`."""
    min_count: int | None = None
    """The lowest number of nodes, at least 1. Set it together with `maxCount` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: int | None = None
    """The highest number of nodes, up to 1000. Set it together with `minCount` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: list[str] = []
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the pool."""
    os_sku: str = "Ubuntu"
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""
    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: up to three minor versions older than the cluster's.
    Default: `cluster.kubernetesVersion`."""

    _version = field_validator("kubernetes_version", mode="before")(
        _default_to_the_clusters_version
    )


class TimeSlicing(Section):
    """How many pods use a GPU in turns. Nothing keeps them from each other's memory."""

    _rules = TIME_SLICING

    replicas: Annotated[int, Field(strict=True)]
    """How many pods get each GPU, at least 2."""
    rename: bool = False
    """Whether pods ask for `nvidia.com/gpu.shared` instead of `nvidia.com/gpu`."""
    fail_requests_greater_than_one: bool = True
    """Whether a container that asks for more than one fails: two replicas are no more of a GPU than
    one."""


class Sharing(Section):
    """How pods share the GPUs of a pool."""

    _rules = SHARING

    mps: Any = None
    """Not supported: it is here to be refused with a reason."""
    time_slicing: TimeSlicing | None = None
    """Pods use a GPU in turns. Required."""


class GpuPool(Pool):
    """A GPU node pool."""

    _rules = GPU_POOL

    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: up to three minor versions older than the cluster's.
    Default: `cluster.kubernetesVersion`."""
    os_type: str = "Linux"
    """Only `Linux`: the key exists to refuse `Windows` with a reason."""
    spot: bool = False
    """Whether the nodes are Azure Spot VMs, which are cheaper and which Azure can evict. A change
    replaces the pool."""
    spot_max_price: float = -1
    """The maximum price of a spot node in US dollars per hour, with up to 5 decimals. `-1` means up
    to the on-demand price. Another price replaces the pool."""
    max_unavailable: str | None = None
    """How many nodes AKS upgrades at once without extra nodes, and so without spare quota, as a
    number (`1`) or percentage (`33%`). Pods must fit on the other nodes meanwhile. Default: `0`. It
    takes the place of `maxSurge`. Not for spot pools."""
    max_surge: str | None = None
    """How many extra nodes AKS adds during an upgrade, as a number (`1`) or percentage (`33%`).
    Default: `10%`, or `0` with `maxUnavailable`. Not for spot pools."""
    drain_timeout_minutes: int | None = None
    """How many minutes an upgrade waits for the pods of a node to leave, 5 to 1440. Default: `30`.
    Long jobs and disruption budgets can need more."""
    node_soak_minutes: int | None = None
    """How many minutes an upgrade waits after it has drained a node, 0 to 30. Default: `0`."""
    undrainable_node_behavior: str | None = None
    """What an upgrade does with a node that it cannot drain: `Schedule` (the node can be deleted)
    or `Cordon` (the node stays, cordoned). Default: `Schedule`."""
    mig_profile: str | None = None
    """The MIG profile that partitions each GPU: `MIG1g`, `MIG2g`, `MIG3g`, `MIG4g` or `MIG7g`, on
    A100, H100 and H200 GPUs. Default: no partitions. Another profile replaces the pool."""
    mig_strategy: str | None = None
    """By which name pods ask for a partition: `single` (`nvidia.com/gpu`) or `mixed` (a name like
    `nvidia.com/mig-1g.10gb`). Only with the GPU stack `device-plugin`. Default: `single` if
    `migProfile` is set."""
    sharing: Sharing | None = None
    """How several pods [share a GPU](../sharing.md). Only with the GPU stack `device-plugin`.
    Default: each GPU is for one pod."""
    capacity_reservation_group_id: str | None = None
    """The resource ID of a capacity reservation group that holds machines for the pool. Requires
    `cluster.userAssignedIdentityId`, an identity with the role Contributor on the group's resource
    group. Another group replaces the pool."""
    max_pods: int | None = None
    """The highest number of pods on a node, 10 to 250. Default: 250, or 30 in the network mode
    `subnet`, where each node takes an address of the subnet for each of them. Another number
    replaces the pool. So does the number that AKS has chosen: the state does not have it."""
    os_disk_size_gb: int | None = None
    """The size of each node's OS disk in GB, 30 to 2048. Default: AKS chooses by VM size. Another
    size replaces the pool. So does the size that AKS has chosen: the state does not have it."""
    os_disk_type: str | None = None
    """The type of the OS disks: `Managed` or `Ephemeral`. Default: AKS chooses by VM size. Another
    type replaces the pool. So does the type that AKS has chosen: the state does not have it."""
    taints: list[str] = []
    """Taints of the nodes, each as `key=value:effect`, in addition to that of `gpuTaint` and, on
    spot nodes, the taint that AKS adds."""
    labels: dict[str, str] = {}
    """Labels of the nodes, in addition to those that AKS sets."""
    tainted: bool = True
    """Whether the nodes have the taint for GPU pools (`gpuTaint`), which keeps away pods
    that do not need a GPU."""
    artifact_streaming: bool | None = None
    """Whether nodes start containers before their whole image is there, for images that Azure
    Container Registry has prepared. Set, even to false, it makes [aks-preview](../aks-preview.md)
    manage the pool. On an existing pool of azure-native, use `az aks nodepool update
    --enable-artifact-streaming` instead."""
    replace_on_header_change: bool = False
    """Whether any change of `customHeaders` replaces the pool. By default the next request sends
    the new headers and the nodes stay. Required to give an existing pool the specialized image, or
    to take it away."""
    replacement: str = "in-place"
    """What a change does that needs a new pool. `in-place`: Pulumi deletes the pool and creates it
    again. `rotate`: Pulumi creates the new pool first and then deletes the old one, which AKS
    drains by the pods' disruption budgets. Then `name` has at most 9 characters, and pods find the
    pool by the label `aks-gpu/pool` ([guide](../rotate.md))."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""

    _version = field_validator("kubernetes_version", mode="before")(
        _default_to_the_clusters_version
    )

    @field_validator("capacity_reservation_group_id")
    @classmethod
    def _require_identity(cls, group: str | None, info: ValidationInfo) -> str | None:
        if group and context_of(info).has_system_identity:
            raise ValueError(
                "requires a user-assigned identity, since AKS cannot use reservations with a "
                "system-assigned one: set cluster.userAssignedIdentityId"
            )
        return group

    @field_validator("vm_size")
    @classmethod
    def _normalize_size(cls, vm_size: str) -> str:
        size = find(vm_size)
        return size.name if size else vm_size
