"""Outside of production, GPU pools have no nodes while nobody uses them."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Severity

from policies.pools import Pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import PolicyInfo, Settings, resource_rule
from policies.unknowns import Unknowns


def _judge(args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns) -> Iterator[str]:
    if not is_production(args.urn, settings["productionStacks"]):
        yield from unknowns.each(pools_of(args.resource_type, args.props), _judge_pool)


def _judge_pool(pool: Pool) -> Iterator[str]:
    # AKS scales no system pool to zero; that it has GPUs is another rule's business.
    machines = pool.gpu_machines()
    if not machines or pool.get("mode").lower() == "system":
        return
    if least := max(one.least or 0 if one.autoscaled else 0 for one in machines):
        yield (
            f"{pool.label} has GPUs and never fewer than {least} nodes, in a stack that is "
            "not production. Set minCount to 0."
        )


gpu_pool_scale_to_zero = resource_rule(
    PolicyInfo(
        name="gpu-pool-scale-to-zero",
        title="GPU pools scale to zero outside of production",
        description="Autoscaled GPU node pools of other stacks than production can have no nodes.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.LOW,
        remedy="Set the pool's minCount to 0, or name the stack in productionStacks.",
        tags=("gpu", "aks", "cost"),
        settings={"productionStacks": PRODUCTION_STACKS},
    ),
    _judge,
)
