"""The API server of a cluster is private, or only some addresses reach it.

The rule is off until the configuration gives it a level. A cluster whose API server is open to all
addresses is protected by its sign-in alone.
"""

from pulumi_policy import EnforcementLevel, ResourceValidationArgs

from aks_catalogue.shapes import mapping, sequence
from aks_pools.gpus import is_true
from aks_pools.pools import is_cluster
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    level=EnforcementLevel.DISABLED,
    remedy="Make the cluster private (a new cluster), or set its authorized IP ranges.",
    tags=("aks", "network", "security"),
)
def api_server_closed(args: ResourceValidationArgs, _: Settings, unknowns: Unknowns) -> Findings:
    if not is_cluster(args.resource_type):
        return
    with unknowns.deferred():
        access = mapping(args.props.get("apiServerAccessProfile"))
        is_private = is_true(access.get("enablePrivateCluster")) or is_true(
            args.props.get("privateClusterEnabled")
        )
        ranges = [
            *sequence(access.get("authorizedIPRanges")),
            *sequence(access.get("authorizedIpRanges")),
            *sequence(args.props.get("apiServerAuthorizedIpRanges")),
        ]
        if not is_private and (not ranges or "0.0.0.0/0" in ranges):
            yield "The API server of this cluster is open to all addresses."
