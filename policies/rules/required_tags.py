"""Clusters and node pools have the required tags.

The rule judges clusters and separate pools. It does nothing until `tags` is set.
"""

from pulumi_policy import ResourceValidationArgs, Severity

from policies.pools import is_cluster, is_pool
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Required tags are set",
    description="Clusters and node pools have the required tags.",
    severity=Severity.LOW,
    remedy="Add the tags that the finding lists.",
    tags=("aks", "cost"),
    settings={"tags": strings("The names of the required tags.")},
)
def required_tags(args: ResourceValidationArgs, settings: Settings, _: Unknowns) -> Findings:
    required = settings.get("tags")
    if not required or not (is_cluster(args.resource_type) or is_pool(args.resource_type)):
        return
    # The name of a tag is known even if its value is not.
    names = {name.lower() for name in args.props.get("tags") or {}}
    if missing := [tag for tag in required if tag.lower() not in names]:
        kind = "pool" if is_pool(args.resource_type) else "cluster"
        yield f"This {kind} lacks the tags {', '.join(missing)}. Add them."
