"""Clusters are in allowed regions.

The rule does nothing until `regions` is set.
"""

from pulumi_policy import ResourceValidationArgs

from aks_catalogue.regions import plain
from policies.pools import is_cluster
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Regions are allowed",
    description="Clusters are only in allowed regions.",
    remedy="Use one of the allowed regions that the finding lists.",
    tags=("aks", "region"),
    settings={"regions": strings("The allowed regions, such as westeurope.")},
)
def allowed_regions(args: ResourceValidationArgs, settings: Settings, _: Unknowns) -> Findings:
    regions = settings.get("regions")
    if not regions or not is_cluster(args.resource_type):
        return
    location = str(args.props.get("location") or "")
    if location and plain(location) not in map(plain, regions):
        yield f"This cluster is in {location}, which is not allowed. Use {', '.join(regions)}."
