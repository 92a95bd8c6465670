"""The placement scores of spot machines: how likely it is that they come, at this moment.

The path, the members and the limits are those of the API version 2025-06-05. Azure estimates the
score; here it follows from offers.json.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from aks_catalogue import regions
from aks_catalogue.regions import plain
from rehearsal.arm import errors
from rehearsal.arm.compute import usages
from rehearsal.arm.offers import Offer, known_sizes
from rehearsal.arm.request import Answer, Json, Request, Route


@dataclass(frozen=True, kw_only=True)
class _Desired:
    sizes: Annotated[
        list[dict[str, str]], Field(validation_alias="desiredSizes", min_length=1, max_length=5)
    ]
    locations: Annotated[list[str], Field(validation_alias="desiredLocations", max_length=8)]
    count: Annotated[int, Field(validation_alias="desiredCount", ge=1)]
    in_zones: Annotated[bool, Field(validation_alias="availabilityZones")] = False


def generate(request: Request) -> Answer:
    try:
        desired = TypeAdapter(_Desired).validate_python(request.body)
    except ValidationError as error:
        raise errors.ArmError(errors.BAD_CONTENT, reason=error) from error
    scores, here = list[Json](), regions.regions()
    for place in map(plain, desired.locations):
        _refuse_unknown("desiredLocations", place, here)
        for name in (size.get("sku", "") for size in desired.sizes):
            _refuse_unknown("desiredSizes", name.lower(), known_sizes())
            for zone in here[place].zones if desired.in_zones else ("",):
                scores.append(_score(request, name, place, zone, desired.count))
    return Answer(200, {**request.body, "placementScores": scores})


def _refuse_unknown(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise errors.ArmError(errors.BAD_PARAMETER, name, name=name, value=value)


def _score(request: Request, name: str, place: str, zone: str, count: int) -> Json:
    offer, quota = request.offers.find(name, place), usages.SPOT_QUOTA
    cores = count * known_sizes()[name.lower()].vcpus
    used = usages.in_use(request.store, place).cores[quota]
    return {
        "sku": name,
        "region": place,
        "availabilityZone": zone,
        "score": _word(offer, zone),
        "isQuotaAvailable": used + cores <= request.offers.limit(quota, place),
    }


def _word(offer: Offer | None, zone: str) -> str:
    if offer is None or offer.is_restricted or zone in offer.restricted_zones:
        return "RestrictedSkuNotAvailable"
    return "Low" if offer.is_sold_out else "High"


PATH = "/providers/Microsoft.Compute/locations/{location}/placementScores/spot/generate"
ROUTES = (Route("POST", PATH, generate),)
