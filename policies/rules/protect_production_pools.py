"""GPU pools in production are protected: their capacity may not be there when they come back."""

from pulumi_policy import ResourceValidationArgs

from policies.pools import is_pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    title="GPU pools in production are protected",
    description="GPU node pools of production stacks have Pulumi's option protect.",
    remedy="Give the pool the resource option protect.",
    tags=("gpu", "aks", "production"),
    settings={"productionStacks": PRODUCTION_STACKS},
)
def protect_production_pools(
    args: ResourceValidationArgs, settings: Settings, _: Unknowns
) -> Findings:
    if args.opts.protect or not is_pool(args.resource_type):
        return
    if not is_production(args.urn, settings["productionStacks"]):
        return
    for pool in pools_of(args.resource_type, args.props):
        if pool.gpu_sizes():
            yield (
                f"{pool.label} has GPUs, is production's, and is not protected: one deletion gives "
                "back GPUs that may not be had again. Give the resource the option protect."
            )
