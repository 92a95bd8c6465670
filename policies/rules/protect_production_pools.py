"""GPU pools in production are protected: their capacity may not be there when they come back.

A deleted pool gives back GPUs that may not be available again. For an inline pool, protect its
cluster.
"""

from fnmatch import fnmatchcase

from pulumi_policy import ResourceValidationArgs

from aks_pools.pools import Pool, pools_of
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns

# Such a word alone and among others, as in gpu-prd-weu.
_PRODUCTION = [
    form
    for word in ("prod", "prd", "production")
    for form in (word, f"{word}-*", f"*-{word}", f"*-{word}-*")
]


@ResourceRule(
    remedy="Set the resource option protect on the pool, or on the cluster of an inline pool.",
    tags=("gpu", "aks", "production"),
    settings={
        "productionStacks": strings(
            "The names of production stacks; * matches any characters.", default=_PRODUCTION
        )
    },
)
def protect_production_pools(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    stack = args.urn.removeprefix("urn:pulumi:").partition("::")[0].lower()
    names = [name.lower() for name in settings["productionStacks"]]
    if any(fnmatchcase(stack, name) for name in names) and not args.opts.protect:
        yield from unknowns.each(pools_of(args.resource_type, args.props), _judge_pool)


def _judge_pool(pool: Pool) -> Findings:
    if pool.gpu_sizes():
        resource = "the cluster" if pool.inline else "it"
        yield (
            f"{pool.label} has GPUs in production and is not protected. If it is deleted, its GPUs "
            f"may not be available again. Set the resource option protect on {resource}."
        )
