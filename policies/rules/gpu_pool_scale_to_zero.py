"""Outside of production, GPU pools scale to zero when nobody uses them.

The rule finds autoscaled pools with a `minCount` above 0.
"""

from pulumi_policy import ResourceValidationArgs, Severity

from policies.pools import Pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


@ResourceRule(
    title="GPU pools scale to zero outside of production",
    description="Autoscaled GPU node pools outside of production can scale to zero.",
    severity=Severity.LOW,
    remedy="Set minCount of the pool to 0, or add the stack to productionStacks.",
    tags=("gpu", "aks", "cost"),
    settings={"productionStacks": PRODUCTION_STACKS},
)
def gpu_pool_scale_to_zero(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    if not is_production(args.urn, settings["productionStacks"]):
        yield from unknowns.each(pools_of(args.resource_type, args.props), _judge_pool)


def _judge_pool(pool: Pool) -> Findings:
    # AKS does not scale system pools to zero; gpu-pool-separate reports GPUs in them.
    machines = pool.gpu_machines()
    if not machines or pool.get("mode").lower() == "system":
        return
    if least := max(one.least or 0 if one.autoscaled else 0 for one in machines):
        yield (
            f"{pool.label} has GPUs and always at least {least} nodes, in a stack that is not "
            "production. Set minCount to 0."
        )
