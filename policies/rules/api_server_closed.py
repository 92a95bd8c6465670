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
        private = access.get("enablePrivateCluster") or args.props.get("privateClusterEnabled")
        # The classic provider has two names.
        names = ("authorizedIPRanges", "authorizedIpRanges")
        listed = [*map(access.get, names), args.props.get("apiServerAuthorizedIpRanges")]
        ranges = [one for each in listed for one in sequence(each)]
        if not is_true(private) and (not ranges or "0.0.0.0/0" in ranges):
            yield "The API server of this cluster is open to all addresses."
