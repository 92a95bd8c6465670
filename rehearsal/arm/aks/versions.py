"""The versions of Kubernetes on AKS: the list of them, and what is refused for not being in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalogue import regions
from rehearsal.arm import errors
from rehearsal.arm.compute.offers import Offers
from rehearsal.arm.offer_script import at, plain
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.control_planes.wanted import Era

OFFICIAL, LONG_TERM = "KubernetesOfficial", "AKSLongTermSupport"
FULL_VERSION = re.compile(r"(\d+\.\d+)\.\d+")
DEFAULT = "1.35"


@dataclass(frozen=True)
class Version:
    """A minor version: its patch releases, the newest first, and who may have it."""

    patches: tuple[str, ...]
    plans: tuple[str, ...] = (OFFICIAL, LONG_TERM)


TODAY: Mapping[str, Version] = {
    "1.31": Version(("1.31.14", "1.31.13"), (LONG_TERM,)),
    "1.32": Version(("1.32.13", "1.32.12"), (LONG_TERM,)),
    "1.33": Version(("1.33.9", "1.33.8"), (LONG_TERM,)),
    "1.34": Version(("1.34.5", "1.34.4")),
    "1.35": Version(("1.35.2", "1.35.1")),
    "1.36": Version(("1.36.1", "1.36.0")),
}
# The article's days had versions of their own, and one plan for all. Today's are there as well,
# since today's programs ask for them.
ARTICLE: Mapping[str, Version] = {
    "1.18": Version(("1.18.19", "1.18.17"), (OFFICIAL,)),
    "1.19": Version(("1.19.11", "1.19.9"), (OFFICIAL,)),
    "1.20": Version(("1.20.7", "1.20.5"), (OFFICIAL,)),
} | {minor: Version(version.patches, (OFFICIAL,)) for minor, version in TODAY.items()}
OF_ERA = {Era.TODAY: TODAY, Era.ARTICLE: ARTICLE}


def full(version: str) -> str:
    """The patch release that a minor version stands for; a full version stands for itself."""
    known = ARTICLE.get(version)
    return known.patches[0] if known else version


def offered(offers: Offers, location: str) -> Mapping[str, Version]:
    """The minor versions on offer in a location."""
    known = OF_ERA[offers.era]
    lines = at(offers.script.versions, location)
    if not lines:
        return known
    return {minor: known[minor] for minor in lines[0].offered if minor in known}


def admit(offers: Offers, location: str, cluster: str, version: str, plan: str) -> None:
    """Refuses a version that is not on offer, or not under the cluster's support plan."""
    found = FULL_VERSION.fullmatch(version)
    known = offered(offers, location).get(found[1] if found else version)
    if known is None or (found and version not in known.patches):
        raise errors.ArmError(errors.NO_SUCH_KUBERNETES, cluster=cluster, version=version)
    if plan not in known.plans:
        fault = errors.LONG_TERM_ONLY if plan == OFFICIAL else errors.NO_LONG_TERM
        raise errors.ArmError(fault, cluster=cluster, version=full(version))


def list_all(request: Request) -> Answer:
    location = plain(request.names["location"])
    if location not in regions.regions():
        kind = "locations/kubernetesVersions"
        raise errors.ArmError(errors.NO_LOCATION_HERE, location=location, type=kind)
    known = offered(Offers.of(request), location)
    return Answer(200, {"values": [_shown(known, minor) for minor in known]})


def _shown(known: Mapping[str, Version], minor: str) -> Json:
    return {
        "version": minor,
        "isDefault": minor == DEFAULT,
        "isPreview": False,
        "capabilities": {"supportPlan": list(known[minor].plans)},
        "patchVersions": {
            patch: {"upgrades": _upgrades(known, minor, patch)} for patch in known[minor].patches
        },
    }


def _upgrades(known: Mapping[str, Version], minor: str, patch: str) -> Sequence[str]:
    """Newer patches of the same minor version, and those of the next one."""
    major, _, number = minor.partition(".")
    here = known[minor].patches
    after = known.get(f"{major}.{int(number) + 1}")
    return [*here[: here.index(patch)], *(after.patches if after else ())]


PATH = "/providers/Microsoft.ContainerService/locations/{location}/kubernetesVersions"
ROUTES = (Route("GET", PATH, list_all),)
