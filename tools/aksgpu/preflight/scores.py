"""Placement scores: how likely Azure thinks it that spot machines come, at this moment."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from azure.core.rest import HttpRequest

from aks_catalogue.regions import plain
from aksgpu.preflight.access import Clients
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.pages import pages
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row

# As of 2026-11-28, from learn.microsoft.com/azure/virtual-machine-scale-sets/spot-placement-score.
_VERSION = "2025-06-05"
_GOOD, _BAD = frozenset(["High", "Medium"]), frozenset(["Low", "RestrictedSkuNotAvailable"])
_ROLE = "whoever asks needs the role `Compute Recommendations Role` on the subscription"
_LATER = "try again later; Azure answers only a few requests an hour"
_PLAN = "more sizes, zones, or a pool that is not spot, can take its place"


async def ask(
    clients: Clients, facts: Facts, planned: Sequence[PlannedPool]
) -> dict[tuple[str, str], str]:
    """The scores of the spot pools, by plain size and zone; the zone is empty for the region.

    One request for the pools in zones, and one for the others: Azure answers few in an hour.
    """
    scores: dict[tuple[str, str], str] = {}
    where = (
        f"/subscriptions/{quote(clients.subscription)}/providers/Microsoft.Compute"
        f"/locations/{facts.location}/placementScores/spot/generate"
    )
    for in_zones in (False, True):
        spot = [pool for pool in _asked(planned, facts) if bool(pool.zones) == in_zones]
        if not spot:
            continue
        body = {
            "desiredLocations": [facts.location],
            "desiredSizes": [{"sku": size} for size in sorted({pool.vm_size for pool in spot})],
            # The most nodes in a zone, over which AKS spreads them.
            "desiredCount": max(1, *(-(-pool.most // len(pool.zones or " ")) for pool in spot)),
            "availabilityZones": in_zones,
        }
        request = HttpRequest("POST", where, params={"api-version": _VERSION}, json=body)
        # Whoever asked too often would wait for an hour.
        async for page in pages(clients.compute, request, "nextLink", retry_total=0):
            for each in page["placementScores"]:
                place = (plain(each["sku"]), each.get("availabilityZone") or "")
                scores[place] = each["score"]
    return scores


def _asked(planned: Sequence[PlannedPool], facts: Facts) -> list[PlannedPool]:
    """The spot pools of known sizes: with another size, Azure refuses the whole request."""
    return [pool for pool in planned if pool.spot and facts.size(pool.vm_size)]


def judge(planned: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers for the spot pools. None of them is a problem: a score promises nothing."""
    spot, scores = _asked(planned, facts), facts.scores
    if spot and isinstance(scores, Unanswered):
        what = f"the placement scores of spot pools are not known: {scores.reason}"
        advice = _ROLE if scores.is_forbidden else _LATER
        yield About("score").unknown(what, advice, cause=None)
    elif not isinstance(scores, Unanswered):
        yield from (_of_pool(pool, scores) for pool in spot)


def _of_pool(pool: PlannedPool, scores: Mapping[tuple[str, str], str]) -> Row:
    about = About("score", pool.name, f"{pool.key}.spot")
    words = {
        zone: scores.get((plain(pool.vm_size), zone), "not told") for zone in pool.zones or [""]
    }
    said = ", ".join(f"{word} in zone {zone}" for zone, word in words.items())
    if len(set(words.values())) == 1:
        said = next(iter(words.values()))
    what = f"the placement score of {pool.vm_size} as spot is {said}"
    if _GOOD.intersection(words.values()):
        return about.ok(what, score=said)
    if _BAD.intersection(words.values()):
        return about.warning(f"{what}: at this moment machines may not come", _PLAN, score=said)
    return about.unknown(f"Azure has no score for {pool.vm_size} ({said})", _LATER, cause=None)
