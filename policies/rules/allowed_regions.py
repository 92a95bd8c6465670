"""Clusters are in one of the regions that are allowed."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Severity

from policies.pools import is_cluster
from policies.rule import PolicyInfo, Settings, resource_rule
from policies.unknowns import Unknowns


def _judge(args: ResourceValidationArgs, settings: Settings, _unknowns: Unknowns) -> Iterator[str]:
    regions = settings.get("regions")
    if not regions or not is_cluster(args.resource_type):
        return
    location = str(args.props.get("location") or "")
    if location and _plain(location) not in map(_plain, regions):
        yield f"This cluster is in {location}. Allowed are {', '.join(regions)}."


def _plain(region: str) -> str:
    """A region as Azure writes it in requests: westeurope, not West Europe."""
    return region.replace(" ", "").lower()


allowed_regions = resource_rule(
    PolicyInfo(
        name="allowed-regions",
        title="Regions are allowed ones",
        description="Clusters are in one of the regions that are allowed.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.MEDIUM,
        remedy="Take one of the regions that the finding lists.",
        tags=("aks", "region"),
        settings={
            "regions": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The regions that are allowed, as westeurope.",
            }
        },
    ),
    _judge,
)
