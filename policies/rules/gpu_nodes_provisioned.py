"""GPU nodes that Karpenter creates have a limit, and sizes that other rules can check.

The rule is off until the configuration gives it a level.

Karpenter's `NodePool` is how node auto-provisioning and AKS Automatic create nodes. Its named sizes
and its taints are also judged by `gpu-size-unknown`, `gpu-size-retired`, `gpu-pool-tainted` and
`allowed-gpu-sizes`. NodePools of other clouds, by their `nodeClassRef`, pass. The NodePools that
AKS itself creates are not seen; they have no GPUs.
"""

from pulumi_policy import EnforcementLevel, ResourceValidationArgs

from aks_catalogue.device_plugin import GPU
from aks_catalogue.shapes import mapping
from policies.provisioned import can_have_gpus, is_node_pool, sizes_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    level=EnforcementLevel.DISABLED,
    remedy=f"Set {GPU} in spec.limits of the NodePool, and list its sizes with "
    "karpenter.azure.com/sku-name; or exclude GPUs with karpenter.azure.com/sku-family.",
    tags=("gpu", "aks", "karpenter", "cost"),
)
def gpu_nodes_provisioned(
    args: ResourceValidationArgs, _: Settings, unknowns: Unknowns
) -> Findings:
    with unknowns.deferred():
        if not is_node_pool(args.resource_type, args.props) or not can_have_gpus(args.props):
            return
        spec = mapping(args.props.get("spec"))
        if GPU not in mapping(spec.get("limits")):
            yield (
                f"This NodePool can create any number of GPU nodes: it has no limit for {GPU}. Set "
                "one in spec.limits, or exclude GPUs in its requirements."
            )
        if not sizes_of(args.props):
            yield (
                "This NodePool can create GPU nodes of any size, which the rules on sizes cannot "
                "check. List the sizes with karpenter.azure.com/sku-name."
            )
