"""Node pools in a stack file: the system pool, and the GPU pools."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, field_validator

from catalogue.headers import SPECIALIZED_IMAGE, parse
from catalogue.sizes import find, is_gpu_size
from catalogue.valid_pools import (
    DOUBTS,
    GPU_POOL,
    SYSTEM_NODE_POOL,
    SYSTEM_POOL,
    version_beside,
)
from settings.section import Section, as_azure_spells_it, context_of


def _from_text(value: Any) -> Any:
    return dict(parse(value)) if isinstance(value, str) else value


# A map, or the Azure CLI's own form: a=b,c=d.
CustomHeaders = Annotated[dict[str, str] | None, BeforeValidator(_from_text)]


def _follows_the_cluster(own: Any, info: ValidationInfo) -> Any:
    context = context_of(info)
    if isinstance(own, str) and own:
        beside = version_beside(own, context.kubernetes_version, context.upgrade_channel)
        if beside:
            raise ValueError(beside)
    return own or context.kubernetes_version


class NamedPool(Section):
    """What all pools have in common."""

    name: str
    """The pool's name: 1 to 12 lowercase letters and digits, starting with a letter."""
    encryption_at_host: bool = False
    """Whether temporary disks and caches are encrypted. Fixed at creation. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`."""

    @field_validator("name")
    @classmethod
    def _stands_alone(cls, name: str, info: ValidationInfo) -> str:
        if (pools := context_of(info).pool_names[name]) > 1:
            raise ValueError(f"{pools} pools are named {name!r}: name each once")
        return name


class Pool(NamedPool):
    """What the cluster's first pool and GPU pools have in common."""

    _doubts = DOUBTS

    image: Annotated[str | None, BeforeValidator(as_azure_spells_it)] = None
    """`regular`, or `specialized` for the retired GPU image. Default: what `gpuStack` needs."""
    # Left out: what the image says, and else what the stack says.
    gpu_stack: str = None  # type: ignore[assignment]
    """Who installs driver and device plugin on this pool. Default: the stack's `gpuStack`."""
    vm_size: str
    """The VM size of the nodes."""
    count: int = 1
    """The number of nodes. With `minCount` and `maxCount`, only the number at creation, between the
    two."""
    min_count: int | None = None
    """The fewest nodes that AKS scales the pool to. Set `maxCount` too."""
    max_count: int | None = None
    """The most nodes that AKS scales the pool to. Set `minCount` too."""
    zones: list[str] = []
    """The availability zones of the nodes: `"1"`, `"2"`, `"3"`."""
    os_sku: str = "Ubuntu"
    """The nodes' Linux: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or `AzureLinux3`."""
    custom_headers: CustomHeaders = None
    """HTTP headers of the requests to Azure: a map, or `a=b,c=d` as in the Azure CLI. With headers,
    even an empty map, [aks-preview](../aks-preview.md) manages the pool instead of azure-native; an
    existing pool cannot move from one to the other. Changed headers are sent with the next
    request."""

    @field_validator("gpu_stack", mode="before")
    @classmethod
    def _follows_the_image_and_the_stack(cls, own: Any, info: ValidationInfo) -> Any:
        by_image = info.data.get("image") == "specialized"
        by_stack = "specialized-image" if by_image else context_of(info).gpu_stack
        return as_azure_spells_it(own or by_stack, info)

    @field_validator("custom_headers")
    @classmethod
    def _asks_for_the_image(
        cls, headers: dict[str, str] | None, info: ValidationInfo
    ) -> dict[str, str] | None:
        asks = any(name.lower() == SPECIALIZED_IMAGE.lower() for name in headers or {})
        if asks or info.data.get("gpu_stack") != "specialized-image":
            return headers
        return {SPECIALIZED_IMAGE: "true", **(headers or {})}

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


class SystemPool(Pool):
    """The pool that the cluster's own pods run on."""

    _rules = SYSTEM_POOL

    name: str = "system"
    """The pool's name: 1 to 12 lowercase letters and digits, starting with a letter."""
    vm_size: str = "Standard_D4ds_v5"
    """The VM size of the nodes."""
    removed: bool = False
    """Whether other system pools have replaced this one. Keep `customHeaders`: they are the
    cluster's."""


class SystemNodePool(NamedPool):
    """One further system pool."""

    _rules = SYSTEM_NODE_POOL

    vm_size: str = "Standard_D4ds_v5"
    """The VM size of the nodes, without GPUs."""
    count: int = 1
    """The number of nodes. With `minCount` and `maxCount`, only the number at creation, between the
    two."""
    min_count: int | None = None
    """The fewest nodes that AKS scales the pool to. Set `maxCount` too."""
    max_count: int | None = None
    """The most nodes that AKS scales the pool to. Set `minCount` too."""
    zones: list[str] = []
    """The availability zones of the nodes: `"1"`, `"2"`, `"3"`."""
    os_sku: str = "Ubuntu"
    """The nodes' Linux: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or `AzureLinux3`."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""
    # Left out: the cluster's, where the stack has one.
    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: at most three minor versions older than the cluster's.
    Default: the cluster's `kubernetesVersion`."""

    _version = field_validator("kubernetes_version", mode="before")(_follows_the_cluster)


class GpuPool(Pool):
    """One pool of GPU nodes."""

    _rules = GPU_POOL

    # Left out: the cluster's, where the stack has one.
    kubernetes_version: str = None  # type: ignore[assignment]
    """The Kubernetes version of the nodes: at most three minor versions older than the cluster's.
    Default: the cluster's `kubernetesVersion`."""
    # Linux is all there is; the key stands here for what Windows is told.
    os_type: str = "Linux"
    """Only `Linux` is supported."""
    spot: bool = False
    """Whether the nodes are spot VMs, which Azure can evict."""
    spot_max_price: float = -1
    """The maximum price of a spot node per hour, in US dollars. `-1` is the on-demand price."""
    max_surge: str | None = None
    """How many nodes, or what share of the pool (`33%`), an upgrade adds at a time. Default: AKS's
    own."""
    mig_profile: str | None = None
    """How each GPU is partitioned: `MIG1g`, `MIG2g`, `MIG3g`, `MIG4g` or `MIG7g`. Fixed at
    creation. For A100, H100 and H200."""
    os_disk_size_gb: int | None = None
    """The size of the nodes' OS disks, in GB. Default: AKS's own."""
    os_disk_type: str | None = None
    """`Managed` or `Ephemeral`. Default: AKS's own."""
    taints: list[str] = []
    """Taints, as `key=value:effect`, in addition to `sku=gpu:NoSchedule`."""
    labels: dict[str, str] = {}
    """Labels of the nodes."""
    tainted: bool = True
    """Whether the nodes have the taint `sku=gpu:NoSchedule`, which keeps pods without a toleration
    away."""
    replace_on_header_change: bool = False
    """Whether a change of `customHeaders` replaces the pool, including the first and the last
    header. Only so does an existing pool get or lose the specialized image."""
    # It stands here for what it is told: no header replaces a pool by itself any more.
    updatable_headers: list[str] = []
    """No longer supported: remove it, and see `replaceOnHeaderChange`."""
    protect: bool = False
    """Whether Pulumi refuses to delete or replace the pool."""

    _version = field_validator("kubernetes_version", mode="before")(_follows_the_cluster)

    @field_validator("vm_size")
    @classmethod
    def _as_azure_writes_it(cls, vm_size: str) -> str:
        size = find(vm_size)
        return size.name if size else vm_size
