"""Clusters are in one of the regions that are allowed."""

from pulumi_policy import ResourceValidationArgs

from policies.pools import is_cluster
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Regions are allowed ones",
    description="Clusters are in one of the regions that are allowed.",
    remedy="Take one of the regions that the finding lists.",
    tags=("aks", "region"),
    settings={"regions": strings("The regions that are allowed, as westeurope.")},
)
def allowed_regions(args: ResourceValidationArgs, settings: Settings, _: Unknowns) -> Findings:
    regions = settings.get("regions")
    if not regions or not is_cluster(args.resource_type):
        return
    location = str(args.props.get("location") or "")
    if location and _plain(location) not in map(_plain, regions):
        yield f"This cluster is in {location}. Allowed are {', '.join(regions)}."


def _plain(region: str) -> str:
    """A region as Azure writes it in requests: westeurope, not West Europe."""
    return region.replace(" ", "").lower()
