"""What Azure accepts for a new pool in each era: sizes, and the specialised GPU image."""

import datetime
from collections.abc import Mapping

from catalogue import headers, images, retirement, sizes
from rehearsal.arm import errors
from rehearsal.arm.request import Json
from rehearsal.control_planes.desired_state import Era

# AKS supports no other GPUs.


def asks_for_specialised_image(sent: Mapping[str, str]) -> bool:
    """Returns whether a request's header asks for the image with driver and plugin in it."""
    return sent.get(headers.SPECIALISED_IMAGE, "").strip().lower() == "true"


def admit(era: Era, pool: Json, sent: Mapping[str, str], location: str) -> None:
    """Refuses a new pool that Azure does not offer in this era."""
    if era is Era.ARTICLE:
        _admit_system(pool)
        return
    _admit_size(str(pool["vmSize"]), location)
    if asks_for_specialised_image(sent):
        raise errors.ArmError(
            errors.NO_SPECIALISED_IMAGE,
            header=headers.SPECIALISED_IMAGE,
            feature=images.SPECIALISED_IMAGE_FEATURE,
            date=images.SPECIALISED_IMAGE_RETIRED_ON,
        )


def _admit_system(pool: Json) -> None:
    """Refuses GPU pools for Windows: in the article's days there were none."""
    if pool["osType"] != "Linux" and sizes.is_gpu_size(str(pool["vmSize"])):
        parameter = "agentPoolProfile.osType"
        raise errors.ArmError(
            errors.INVALID_PARAMETER,
            parameter,
            parameter=parameter,
            reason="GPU-enabled node pools are available for Linux node pools only.",
        )


def _admit_size(vm_size: str, location: str) -> None:
    size = sizes.find(vm_size)
    if size is None:
        return
    today = datetime.datetime.now(datetime.UTC).date()
    if size.retired_on is not None and size.retired_on <= today:
        successor = retirement.SUCCESSORS.get(size.family)
        raise errors.ArmError(
            errors.RETIRED_SIZE,
            "agentPoolProfile.vmSize",
            size=size.name,
            location=location,
            family=size.family,
            date=size.retired_on,
            advice=f" A size to move to: {successor}." if successor else "",
        )
    if not size.is_nvidia:
        raise errors.ArmError(
            errors.FOREIGN_GPU,
            "agentPoolProfile.vmSize",
            size=size.name,
            location=location,
            model=f"{size.gpu_vendor} {size.gpu_model}",
        )
