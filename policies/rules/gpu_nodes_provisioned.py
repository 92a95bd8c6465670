"""GPU nodes that Karpenter makes have a limit, and sizes that the rules on sizes can judge.

Karpenter's `NodePool` is how node auto-provisioning and AKS Automatic create nodes. Named sizes and
taints of a `NodePool`, and the size of a KAITO `Workspace`, are also judged by `gpu-size-unknown`,
`gpu-size-retired`, `gpu-pool-tainted` and `allowed-gpu-sizes`. The NodePools that AKS itself
creates are not seen; they have no GPUs.
"""

from pulumi_policy import ResourceValidationArgs

from catalogue.device_plugin import GPU
from catalogue.shapes import mapping
from policies.provisioned import can_have_gpus, is_node_pool, sizes_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Provisioned GPU nodes have limits",
    description="Karpenter's NodePools that can make GPU nodes name the sizes and limit the GPUs.",
    remedy=f"Set spec.limits of the NodePool for {GPU}, and name its sizes by "
    "karpenter.azure.com/sku-name; or leave GPUs out by karpenter.azure.com/sku-family.",
    tags=("gpu", "aks", "karpenter", "cost"),
)
def gpu_nodes_provisioned(
    args: ResourceValidationArgs, _: Settings, unknowns: Unknowns
) -> Findings:
    with unknowns.deferred():
        if not is_node_pool(args.resource_type) or not can_have_gpus(args.props):
            return
        spec = mapping(args.props.get("spec"))
        if GPU not in mapping(spec.get("limits")):
            yield (
                f"This NodePool can make GPU nodes, as many as pods ask for: it has no limit for "
                f"{GPU}. Set one in spec.limits, or leave GPUs out by its requirements."
            )
        if not sizes_of(args.props):
            yield (
                "This NodePool can make GPU nodes of any size: the rules on sizes judge none. Name "
                "the sizes by karpenter.azure.com/sku-name."
            )
