"""GPU pools in production are protected: their capacity may not be there when they come back.

A deleted pool gives back GPUs that may not be available again. For an inline pool, protect its
cluster.
"""

from pulumi_policy import ResourceValidationArgs

from aks_pools.pools import Pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    remedy="Set the resource option protect on the pool, or on the cluster of an inline pool.",
    tags=("gpu", "aks", "production"),
    settings={"productionStacks": PRODUCTION_STACKS},
)
def protect_production_pools(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    if args.opts.protect or not is_production(args.urn, settings["productionStacks"]):
        return
    yield from unknowns.each(pools_of(args.resource_type, args.props), _judge_pool)


def _judge_pool(pool: Pool) -> Findings:
    if pool.gpu_sizes():
        resource = "the cluster" if pool.inline else "it"
        yield (
            f"{pool.label} has GPUs in production and is not protected. If it is deleted, its GPUs "
            f"may not be available again. Set the resource option protect on {resource}."
        )
