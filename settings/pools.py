"""Node pools in a stack file: the system pool, and the GPU pools."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, field_validator

from catalogue.headers import SPECIALISED_IMAGE, parse
from catalogue.sizes import find, is_gpu_size
from catalogue.valid_pools import GPU_POOL, RETIRED, SYSTEM_POOL
from settings.section import Section, context_of


def _from_text(value: Any) -> Any:
    return dict(parse(value)) if isinstance(value, str) else value


# A map, or the Azure CLI's own form: a=b,c=d.
CustomHeaders = Annotated[dict[str, str], BeforeValidator(_from_text)]


class Pool(Section):
    """What system pools and GPU pools have in common."""

    _retired = RETIRED

    name: str
    """The pool's name in AKS."""
    image: str | None = None
    """`regular`, or `specialised` for the image of the article's days."""
    gpu_stack: str = None  # type: ignore[assignment]
    """Who brings driver and device plugin to the pool's nodes. Default: what the image says, and
    else what the stack says."""
    vm_size: str
    """The size of the nodes."""
    count: int = 1
    """How many nodes there are, or are at first."""
    min_count: int | None = None
    """With maxCount: AKS scales the pool between them."""
    max_count: int | None = None
    """With minCount: AKS scales the pool between them."""
    zones: list[str] = []
    """The availability zones of the nodes."""
    os_sku: str = "Ubuntu"
    """The nodes' Linux."""
    custom_headers: CustomHeaders = {}
    """HTTP headers of the requests for the pool."""

    @field_validator("name")
    @classmethod
    def _stands_alone(cls, name: str, info: ValidationInfo) -> str:
        if (pools := context_of(info).pool_names[name]) > 1:
            raise ValueError(f"{pools} pools are named {name!r}: name each once")
        return name

    @field_validator("gpu_stack", mode="before")
    @classmethod
    def _follows_the_image_and_the_stack(cls, own: Any, info: ValidationInfo) -> Any:
        by_image = info.data.get("image") == "specialised"
        return own or ("specialised-image" if by_image else context_of(info).gpu_stack)

    @field_validator("custom_headers")
    @classmethod
    def _asks_for_the_image(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        asks = any(name.lower() == SPECIALISED_IMAGE.lower() for name in headers)
        if asks or info.data.get("gpu_stack") != "specialised-image":
            return headers
        return {SPECIALISED_IMAGE: "true", **headers}

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


class SystemPool(Pool):
    """The pool that the cluster's own pods run on."""

    _rules = SYSTEM_POOL

    name: str = "system"
    vm_size: str = "Standard_D4ds_v5"


class GpuPool(Pool):
    """One pool of GPU nodes."""

    _rules = GPU_POOL

    os_type: str = "Linux"
    """Linux is all there is; the key stands here for what Windows is told."""
    spot: bool = False
    """Whether the nodes are spot machines, which Azure may take back."""
    spot_max_price: float = -1
    """The most to pay for an hour of a spot node, in US dollars; -1: as much as on demand."""
    max_surge: str | None = None
    """How many more nodes there may be during an upgrade."""
    mig_profile: str | None = None
    """How each GPU is partitioned."""
    os_disk_size_gb: int | None = None
    """The size of the nodes' disks."""
    os_disk_type: str | None = None
    """The kind of the nodes' disks: Managed or Ephemeral."""
    taints: list[str] = []
    """Taints on top of the conventional ones."""
    labels: dict[str, str] = {}
    """Labels on top of the conventional ones."""
    tainted: bool = True
    """False leaves the conventional taint out: then any pod may land on the nodes."""
    updatable_headers: list[str] = []
    """Headers that are sent again when they change, where others would replace the pool."""

    @field_validator("vm_size")
    @classmethod
    def _as_azure_writes_it(cls, vm_size: str) -> str:
        size = find(vm_size)
        return size.name if size else vm_size
