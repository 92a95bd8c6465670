"""Node pools in a stack file: the system pool, and the GPU pools."""

import difflib
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from catalogue import mig, retirement
from catalogue.headers import GENERATION_2, SPECIALISED_IMAGE
from catalogue.images import SPECIALISED_IMAGE_RETIRED_ON
from catalogue.nodes import (
    ACCELERATOR_LABEL,
    LINUX_POOL_NAME,
    LINUX_POOL_NAME_RULE,
    RESERVED_LABEL_PREFIXES,
    TAINT,
    TAINT_RULE,
)
from catalogue.sizes import GpuSize, find, gpu_sizes, is_gpu_size
from settings.headers import CustomHeaders, is_set
from settings.section import SYSTEM_POOL, GpuStack, Section, context_of

Image = Literal["regular", "specialised"]
OsSku = Literal["Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3"]
Zone = Literal["1", "2", "3"]

_SMALLEST_WHOLE_GPU = "Standard_NC8as_T4_v3"


def _taint(taint: str) -> str:
    if not TAINT.fullmatch(taint):
        raise ValueError(f"{taint!r} is no taint: write {TAINT_RULE}")
    return taint


Taint = Annotated[str, AfterValidator(_taint)]


class Pool(Section):
    """What system pools and GPU pools have in common."""

    name: str
    image: Image | None = None
    # Who brings driver and device plugin to this pool's nodes: left out, what the image says, and
    # else what the stack says.
    gpu_stack: GpuStack = Field(default=None, validate_default=True)
    vm_size: str
    count: int = Field(default=1, ge=0, le=1000)
    min_count: int | None = Field(default=None, ge=0, le=1000)
    max_count: int | None = Field(default=None, ge=1, le=1000, validate_default=True)
    zones: list[Zone] = []
    os_sku: OsSku = "Ubuntu"
    custom_headers: CustomHeaders = Field(default={}, validate_default=True)

    @field_validator("name")
    @classmethod
    def _has_a_name_that_aks_takes(cls, name: str, info: ValidationInfo) -> str:
        if not LINUX_POOL_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a pool: AKS takes {LINUX_POOL_NAME_RULE}")
        if (pools := context_of(info).pool_names[name]) > 1:
            raise ValueError(f"{pools} pools are named {name!r}: name each once")
        return name

    @field_validator("gpu_stack", mode="before")
    @classmethod
    def _has_one_owner(cls, own: str | None, info: ValidationInfo) -> str:
        image, stacks = info.data.get("image"), context_of(info).gpu_stack
        if image == "specialised" and own not in (None, "specialised-image"):
            raise ValueError(
                f"is {own!r}, but image: specialised brings driver and device plugin itself: they "
                "would be there twice, or be nobody's; leave one of both out"
            )
        if image == "regular" and (own or stacks) == "specialised-image":
            raise ValueError(
                "is specialised-image, but image: regular brings neither driver nor device "
                "plugin; say gpuStack: device-plugin for this pool, or image: specialised"
            )
        return own or ("specialised-image" if image == "specialised" else stacks)

    @field_validator("vm_size")
    @classmethod
    def _has_a_size_of_today(cls, vm_size: str, info: ValidationInfo) -> str:
        size = find(vm_size)
        if size and size.retired_on and size.retired_on <= datetime.now(UTC).date():
            context_of(info).refuse_unless_allowed(
                f"{size.name} was retired on {size.retired_on}; "
                f"{retirement.SUCCESSORS[size.family]} takes its place."
            )
        return vm_size

    @field_validator("max_count")
    @classmethod
    def _scales_between_two_bounds(cls, largest: int | None, info: ValidationInfo) -> int | None:
        if "min_count" not in info.data:
            return largest
        smallest = info.data["min_count"]
        if (smallest is None) != (largest is None):
            raise ValueError("minCount and maxCount go together: say both, or neither")
        if smallest is not None and largest is not None and smallest > largest:
            raise ValueError(f"is {largest}, below minCount, which is {smallest}")
        return largest

    @field_validator("custom_headers")
    @classmethod
    def _asks_for_one_image(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        specialised = info.data.get("gpu_stack") == "specialised-image"
        if is_set(headers, SPECIALISED_IMAGE) and not specialised:
            raise ValueError(
                f"{SPECIALISED_IMAGE}=true asks for the specialised image, which this pool has "
                "not: say image: specialised, which sends the header by itself"
            )
        if not specialised:
            return headers
        context_of(info).refuse_unless_allowed(
            f"The specialised GPU image was retired on {SPECIALISED_IMAGE_RETIRED_ON}; the regular "
            "image, with gpuStack: device-plugin, takes its place."
        )
        size = find(info.data.get("vm_size", ""))
        if size and size.generations == {"Gen2"} and not is_set(headers, GENERATION_2):
            raise ValueError(
                f"{size.name} is of generation 2 only, which the specialised image has to be "
                f"asked for: add {GENERATION_2}=true"
            )
        if any(name.lower() == SPECIALISED_IMAGE.lower() for name in headers):
            return headers
        return {SPECIALISED_IMAGE: "true", **headers}

    def arguments(self) -> dict[str, Any]:
        """What a component takes for this pool."""
        said = self.model_dump(exclude={"image", "name", "os_type"})
        return {**said, "pool_name": self.name}

    @property
    def has_gpus(self) -> bool:
        return is_gpu_size(self.vm_size)


class SystemPool(Pool):
    """The pool that the cluster's own pods run on."""

    name: str = SYSTEM_POOL
    vm_size: str = "Standard_D4ds_v5"
    count: int = Field(default=1, ge=1, le=1000)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "gpu_stack": self.gpu_stack if self.has_gpus else None}


class GpuPool(Pool):
    """One pool of GPU nodes."""

    # Linux is all there is; the key stands here for what Windows is told.
    os_type: str = "Linux"
    spot: bool = False
    # The most to pay for an hour of a node, in US dollars; -1: as much as on demand.
    spot_max_price: float = Field(default=-1, validate_default=True)
    max_surge: str | None = None
    mig_profile: str | None = None
    os_disk_size_gb: int | None = Field(default=None, ge=30, le=2048)
    os_disk_type: Literal["Managed", "Ephemeral"] | None = None
    # On top of the conventional ones.
    taints: list[Taint] = []
    labels: dict[str, str] = {}
    # Without the conventional taint, any pod may land on the pool's nodes.
    tainted: bool = True
    # Headers that are sent again when they change, where others would replace the pool.
    updatable_headers: list[str] = []

    @field_validator("vm_size")
    @classmethod
    def _has_nvidia_gpus(cls, vm_size: str, info: ValidationInfo) -> str:
        size = find(vm_size)
        if not is_gpu_size(vm_size):
            raise ValueError(f"{vm_size!r} is no GPU size: take one such as {_SMALLEST_WHOLE_GPU}")
        if size is None:
            raise ValueError(f"{vm_size!r} is not known: {_nearest(vm_size)}")
        if size.gpu_vendor != "NVIDIA" and info.data.get("gpu_stack") != "none":
            raise ValueError(
                f"{size.name} has {size.gpu_vendor} GPUs, which NVIDIA's driver and plugin cannot "
                f"serve: {_nearest(vm_size)}, or say gpuStack: none"
            )
        return size.name

    @field_validator("os_type")
    @classmethod
    def _runs_linux(cls, os_type: str) -> str:
        if os_type != "Linux":
            raise ValueError(f"is {os_type!r}: GPU pools are for Linux only")
        return os_type

    @field_validator("spot_max_price")
    @classmethod
    def _pays_for_spot_alone(cls, price: float, info: ValidationInfo) -> float:
        if price != -1 and not info.data.get("spot", True):
            raise ValueError("has a meaning for spot pools alone: say spot: true as well")
        if price != -1 and price <= 0:
            raise ValueError(f"is {price}: say a price above 0, or -1 for that on demand")
        return price

    @field_validator("max_surge")
    @classmethod
    def _has_no_surge_on_spot(cls, surge: str | None, info: ValidationInfo) -> str | None:
        if surge is not None and info.data.get("spot"):
            raise ValueError("AKS upgrades spot pools without a surge: leave it out, or spot")
        return surge

    @field_validator("mig_profile")
    @classmethod
    def _divides_what_can_be_divided(cls, profile: str | None, info: ValidationInfo) -> str | None:
        if profile is None:
            return None
        if profile not in mig.PROFILES:
            raise ValueError(f"{profile!r} is no profile: take one of {', '.join(mig.PROFILES)}")
        size = find(info.data.get("vm_size", ""))
        if size and size.mig is False:
            raise ValueError(
                f"{size.name} cannot be divided: MIG is for A100, H100 and H200, such as "
                "Standard_NC24ads_A100_v4"
            )
        return profile

    @field_validator("labels")
    @classmethod
    def _leaves_reserved_labels_alone(cls, labels: dict[str, str]) -> dict[str, str]:
        reserved = sorted(name for name in labels if _is_reserved(name))
        if reserved:
            raise ValueError(
                f"{', '.join(reserved)}: set by AKS and Kubernetes themselves; take a name of "
                "your own"
            )
        return labels


def _is_reserved(label: str) -> bool:
    return label.startswith(RESERVED_LABEL_PREFIXES) or label == ACCELERATOR_LABEL[0]


def _nearest(vm_size: str) -> str:
    """The sizes that are written most like this one and can be had."""
    names = [size.name for size in gpu_sizes().values() if _can_be_had(size)]
    near = difflib.get_close_matches(vm_size, names, n=3, cutoff=0)
    return f"take one such as {', '.join(near)}"


def _can_be_had(size: GpuSize) -> bool:
    return size.gpu_vendor == "NVIDIA" and size.retired_on is None
