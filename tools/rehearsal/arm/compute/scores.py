"""The placement scores of spot machines: how likely it is that they come, at this moment.

The path and the members are those of the API version 2025-06-05. Azure estimates the score; here it
follows from offers.json.
"""

from aks_catalogue import regions
from aks_catalogue.regions import plain
from aks_catalogue.shapes import mappings, sequence
from rehearsal.arm import errors
from rehearsal.arm.offers import NO_ZONE, Offer, known_sizes
from rehearsal.arm.request import Answer, Json, Request, Route


def generate(request: Request) -> Answer:
    desired, scores = request.body, list[Json]()
    for place in (plain(str(each)) for each in sequence(desired.get("desiredLocations"))):
        region = regions.regions().get(place)
        zones = region.zones if region and desired.get("availabilityZones") else ("",)
        for name in (str(size.get("sku")) for size in mappings(desired.get("desiredSizes"))):
            offer = request.offers.find(name, place)
            if offer is None and name.lower() not in known_sizes():
                where = "desiredSizes"
                raise errors.ArmError(errors.BAD_PARAMETER, where, name=where, value=name)
            scores += [
                {
                    "sku": name,
                    "region": place,
                    "availabilityZone": zone,
                    "score": _word(offer, zone),
                }
                for zone in zones
            ]
    return Answer(200, {**desired, "placementScores": scores})


def _word(offer: Offer | None, zone: str) -> str:
    if offer is None or offer.is_restricted or zone in offer.restricted_zones:
        return "RestrictedSkuNotAvailable"
    return "Low" if offer.is_sold_out(zone or NO_ZONE, is_spot=True) else "High"


PATH = "/providers/Microsoft.Compute/locations/{location}/placementScores/spot/generate"
ROUTES = (Route("POST", PATH, generate),)
