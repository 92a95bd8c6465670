"""Outside of production, GPU pools have no nodes while nobody uses them."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Severity

from policies.pools import Pool, pools_of
from policies.production import PRODUCTION_STACKS, is_production
from policies.rule import About, Settings, resource_rule
from policies.unknowns import Unknowns


def _judge(args: ResourceValidationArgs, settings: Settings) -> Iterator[str]:
    if is_production(args.urn, settings["productionStacks"]):
        return
    unknowns = Unknowns()
    for pool in pools_of(args.resource_type, args.props):
        with unknowns.put_off():
            if least := _least_of_autoscaled(pool):
                yield (
                    f"{pool.label} has GPUs and never fewer than {least} nodes, in a stack that is "
                    "not production. Set minCount to 0."
                )
    unknowns.raise_now()


def _least_of_autoscaled(pool: Pool) -> int:
    # AKS scales no system pool to zero; that it has GPUs is another rule's business.
    machines = pool.gpu_machines()
    if not machines or pool.get("mode").lower() == "system":
        return 0
    return max(one.least or 0 if one.autoscaled else 0 for one in machines)


gpu_pool_scale_to_zero = resource_rule(
    About(
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
