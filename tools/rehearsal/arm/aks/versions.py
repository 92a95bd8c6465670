"""The list of Kubernetes versions on AKS, and the checks of versions in requests."""

from collections.abc import Mapping
from dataclasses import replace

from aks_catalogue.kubernetes import (
    DEFAULT,
    LONG_TERM,
    MOST_BEHIND,
    OFFICIAL,
    ON_AKS,
    ON_AKS_IN_2021,
    MinorVersion,
    full_version,
    is_newer_release,
)
from rehearsal.arm import errors
from rehearsal.arm.offer_script import at
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.control_planes.desired_state import Era

# How many minor versions a cluster on a long-term-support-only version can skip to at once.
REACH_IN_LONG_TERM = 3

# The article's era has today's versions too, since today's programs ask for them.
ARTICLE: Mapping[str, MinorVersion] = {
    **ON_AKS_IN_2021,
    **{minor: replace(version, plans=(OFFICIAL,)) for minor, version in ON_AKS.items()},
}
Offered = Mapping[str, MinorVersion]
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
    """Refuses downgrades, and upgrades that skip a minor version."""
    known = offered(offers, location)
    if _numbers(after) < _numbers(before):
        refusal = errors.DOWNGRADE
    elif _minor(after) > _minor(before) + _reach(known, before) and _line(before) in known:
        refusal = errors.UPGRADE_TOO_FAR
    else:
        return
    there = before in known[_line(before)].patches if _line(before) in known else False
    named = upgrades(known, before) if there else [*known]
    raise errors.ArmError(refusal, before=before, after=after, upgrades=",".join(named))


def admit_pool(pool: str, cluster: str) -> None:
    """Refuses a pool whose release is newer than its cluster's or too old for it."""
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
    newest_first = sorted(known, key=_numbers, reverse=True)
    return Answer(200, {"values": [_entry(known, minor) for minor in newest_first]})


def _entry(known: Offered, minor: str) -> Json:
    return {
        "version": minor,
        **({"isDefault": True} if minor == DEFAULT else {}),
        "capabilities": {"supportPlan": list(known[minor].plans)},
        # In the order of text: 1.32.10 comes before 1.32.2.
        "patchVersions": {
            patch: {"upgrades": upgrades(known, patch)} for patch in sorted(known[minor].patches)
        },
    }


def upgrades(known: Offered, release: str) -> list[str]:
    """Returns the newer patch releases of the minor version, and those of the next ones."""
    minor = known.get(_line(release), MinorVersion(()))
    major, number = _numbers(release)[:2]
    lines = [f"{major}.{number + step + 1}" for step in range(_reach(known, release))]
    newer = [patch for patch in minor.patches if _numbers(patch) > _numbers(release)]
    return [*newer, *(patch for line in lines if line in known for patch in known[line].patches)]


def _reach(known: Offered, release: str) -> int:
    """Returns how many minor versions a cluster can be upgraded at once."""
    minor = known.get(_line(release))
    return REACH_IN_LONG_TERM if minor and minor.plans == (LONG_TERM,) else 1


PATH = "/providers/Microsoft.ContainerService/locations/{location}/kubernetesVersions"
ROUTES = (Route("GET", PATH, list_all),)
