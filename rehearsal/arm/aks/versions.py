"""The list of Kubernetes versions on AKS, and the refusal of versions that are not in it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from catalogue.kubernetes import (
    DEFAULT,
    MOST_BEHIND,
    OFFICIAL,
    ON_AKS,
    ON_AKS_THEN,
    MinorVersion,
    full_version,
    is_newer_release,
)
from rehearsal.arm import errors
from rehearsal.arm.offer_script import at
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.control_planes.desired_state import Era

# The article's era has today's versions as well, since today's programs ask for them.
ARTICLE: Mapping[str, MinorVersion] = {
    **ON_AKS_THEN,
    **{minor: replace(version, plans=(OFFICIAL,)) for minor, version in ON_AKS.items()},
}
OF_ERA = {Era.TODAY: ON_AKS, Era.ARTICLE: ARTICLE}


def offered(offers: Offers, location: str) -> Mapping[str, MinorVersion]:
    """Returns the minor versions on offer in a location."""
    known = OF_ERA[offers.era]
    lines = at(offers.script.versions, location)
    if not lines:
        return known
    return {minor: known[minor] for minor in lines[0].offered if minor in known}


def admit(offers: Offers, location: str, cluster: str, version: str, plan: str) -> None:
    """Refuses a version that is not on offer, or not under the cluster's support plan."""
    minor = ".".join(version.split(".")[:2])
    known = offered(offers, location).get(minor)
    if known is None or version not in (minor, *known.patches):
        raise errors.ArmError(errors.NO_SUCH_KUBERNETES, cluster=cluster, version=version)
    if plan not in known.plans:
        refusal = errors.LONG_TERM_ONLY if plan == OFFICIAL else errors.NO_LONG_TERM
        raise errors.ArmError(refusal, cluster=cluster, version=full_version(version))


def admit_change(offers: Offers, location: str, before: str, after: str) -> None:
    """Refuses to go back, and to skip a minor version, from one release to another."""
    if _numbers(after) < _numbers(before):
        refusal = errors.DOWNGRADE
    elif _minor(after) > _minor(before) + 1 and _line(before) in offered(offers, location):
        refusal = errors.UPGRADE_TOO_FAR
    else:
        return
    known, minor = offered(offers, location), _line(before)
    there = minor in known and before in known[minor].patches
    upgrades = _upgrades(known, minor, before) if there else [*known]
    raise errors.ArmError(refusal, before=before, after=after, upgrades=",".join(upgrades))


def admit_pool(pool: str, cluster: str) -> None:
    """Refuses a pool whose release is newer than its cluster's, or much older."""
    behind = _minor(cluster) - _minor(pool)
    if behind == 0 and is_newer_release(pool, cluster):
        raise errors.ArmError(errors.POOL_RELEASE_TOO_NEW, pool=pool, cluster=cluster)
    if 0 <= behind <= MOST_BEHIND:
        return
    raise errors.ArmError(
        errors.POOL_TOO_NEW if behind < 0 else errors.POOL_TOO_OLD,
        pool=pool,
        cluster=cluster,
        pool_minor=_minor(pool),
        cluster_minor=_minor(cluster),
        most=MOST_BEHIND,
    )


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _minor(release: str) -> int:
    return _numbers(release)[1]


def _line(release: str) -> str:
    return release.rpartition(".")[0]


def list_all(request: Request) -> Answer:
    known = offered(request.offers, request.location("locations/kubernetesVersions"))
    return Answer(200, {"values": [_shown(known, minor) for minor in known]})


def _shown(known: Mapping[str, MinorVersion], minor: str) -> Json:
    return {
        "version": minor,
        "isDefault": minor == DEFAULT,
        "isPreview": False,
        "capabilities": {"supportPlan": list(known[minor].plans)},
        "patchVersions": {
            patch: {"upgrades": _upgrades(known, minor, patch)} for patch in known[minor].patches
        },
    }


def _upgrades(known: Mapping[str, MinorVersion], minor: str, patch: str) -> Sequence[str]:
    """Returns newer patches of the same minor version, and those of the next one."""
    major, _, number = minor.partition(".")
    here = known[minor].patches
    after = known.get(f"{major}.{int(number) + 1}")
    return [*here[: here.index(patch)], *(after.patches if after else ())]


PATH = "/providers/Microsoft.ContainerService/locations/{location}/kubernetesVersions"
ROUTES = (Route("GET", PATH, list_all),)
