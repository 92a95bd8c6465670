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
    encryption_at_host: bool = False

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
    # Left out: what the image says, and else what the stack says.
    gpu_stack: str = None  # type: ignore[assignment]
    vm_size: str
    count: int = 1
    min_count: int | None = None
    max_count: int | None = None
    zones: list[str] = []
    os_sku: str = "Ubuntu"
    custom_headers: CustomHeaders = None

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
    vm_size: str = "Standard_D4ds_v5"
    removed: bool = False


class SystemNodePool(NamedPool):
    """One further system pool."""

    _rules = SYSTEM_NODE_POOL

    vm_size: str = "Standard_D4ds_v5"
    count: int = 1
    min_count: int | None = None
    max_count: int | None = None
    zones: list[str] = []
    os_sku: str = "Ubuntu"
    protect: bool = False
    # Left out: the cluster's, where the stack has one.
    kubernetes_version: str = None  # type: ignore[assignment]

    _version = field_validator("kubernetes_version", mode="before")(_follows_the_cluster)


class GpuPool(Pool):
    """One pool of GPU nodes."""

    _rules = GPU_POOL

    # Left out: the cluster's, where the stack has one.
    kubernetes_version: str = None  # type: ignore[assignment]
    # Linux is all there is; the key stands here for what Windows is told.
    os_type: str = "Linux"
    spot: bool = False
    spot_max_price: float = -1
    max_surge: str | None = None
    mig_profile: str | None = None
    os_disk_size_gb: int | None = None
    os_disk_type: str | None = None
    taints: list[str] = []
    labels: dict[str, str] = {}
    tainted: bool = True
    replace_on_header_change: bool = False
    # It stands here for what it is told: no header replaces a pool by itself any more.
    updatable_headers: list[str] = []
    protect: bool = False

    _version = field_validator("kubernetes_version", mode="before")(_follows_the_cluster)

    @field_validator("vm_size")
    @classmethod
    def _as_azure_writes_it(cls, vm_size: str) -> str:
        size = find(vm_size)
        return size.name if size else vm_size
