"""Checks of new pools that depend on the era: retired sizes, and the specialized GPU image."""

from collections.abc import Mapping
from datetime import date

from catalogue import headers, images, retirement, sizes
from rehearsal.arm import errors
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Json
from rehearsal.control_planes.desired_state import Era


def asks_for_specialized_image(sent: Mapping[str, str]) -> bool:
    """Returns whether a request's header asks for the image with driver and device plugin."""
    return sent.get(headers.SPECIALIZED_IMAGE, "").strip().lower() == "true"


def admit(offers: Offers, pool: Json, sent: Mapping[str, str], location: str) -> None:
    """Refuses a new pool that Azure does not accept in this era."""
    if offers.era is Era.ARTICLE:
        _admit_system(pool)
        return
    _admit_size(str(pool["vmSize"]), location, offers.today)
    is_gone = offers.today >= images.SPECIALIZED_IMAGE_RETIRED_ON
    if is_gone and asks_for_specialized_image(sent):
        raise errors.ArmError(
            errors.NO_SPECIALIZED_IMAGE,
            header=headers.SPECIALIZED_IMAGE,
            feature=images.SPECIALIZED_IMAGE_FEATURE,
            date=images.SPECIALIZED_IMAGE_RETIRED_ON,
        )


def _admit_system(pool: Json) -> None:
    """Refuses GPU pools for Windows: in the article's days there were none."""
    if pool["osType"] != "Linux" and sizes.is_gpu_size(str(pool["vmSize"])):
        reason = "GPU-enabled node pools are available for Linux node pools only."
        target = "agentPoolProfile.osType"
        raise errors.ArmError(errors.INVALID_PARAMETER, target, parameter=target, reason=reason)


def _admit_size(vm_size: str, location: str, today: date) -> None:
    size = sizes.find(vm_size)
    if size is None:
        return
    if size.retired_on is not None and size.retired_on <= today:
        successor = retirement.SUCCESSORS.get(size.family)
        advice = f" Use {successor} instead." if successor else ""
        reason = f": the {size.family} sizes were retired on {size.retired_on}.{advice}"
        words = {"size": size.name, "location": location, "reason": reason}
        raise errors.ArmError(errors.SIZE_NOT_ALLOWED, "agentPoolProfile.vmSize", **words)
