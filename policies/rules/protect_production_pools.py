"""GPU pools in production are protected: their capacity may not be there when they come back."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Severity

from policies.pools import is_pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import PolicyInfo, Settings, resource_rule
from policies.unknowns import Unknowns


def _judge(args: ResourceValidationArgs, settings: Settings, _unknowns: Unknowns) -> Iterator[str]:
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


protect_production_pools = resource_rule(
    PolicyInfo(
        name="protect-production-pools",
        title="GPU pools in production are protected",
        description="GPU node pools of production stacks have Pulumi's option protect.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.MEDIUM,
        remedy="Give the pool the resource option protect.",
        tags=("gpu", "aks", "production"),
        settings={"productionStacks": PRODUCTION_STACKS},
    ),
    _judge,
)
