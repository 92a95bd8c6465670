"""Clusters and pools say whose they are, by the tags that are required.

The rule judges clusters and separate pools. It does nothing until `tags` is set.
"""

from pulumi_policy import ResourceValidationArgs, Severity

from policies.pools import is_cluster, is_pool
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Required tags are there",
    description="Clusters and node pools have the tags that are required.",
    severity=Severity.LOW,
    remedy="Add the tags that the finding lists.",
    tags=("aks", "cost"),
    settings={"tags": strings("The tags that are required, by name.")},
)
def required_tags(args: ResourceValidationArgs, settings: Settings, _: Unknowns) -> Findings:
    required = settings.get("tags")
    if not required or not (is_cluster(args.resource_type) or is_pool(args.resource_type)):
        return
    # That a tag is there is known even where its value is not.
    names = {name.lower() for name in args.props.get("tags") or {}}
    if missing := [tag for tag in required if tag.lower() not in names]:
        kind = "pool" if is_pool(args.resource_type) else "cluster"
        yield f"This {kind} lacks the tags {', '.join(missing)}."
