"""A stack has no more GPUs than allowed, with all pools at their maximum.

Autoscaled pools count with `maxCount`, the others with `count`. Sizes that `gpu-size-unknown`
reports are not counted. The rule does nothing until `gpus` is set.
"""

from fractions import Fraction

from aks_catalogue.sizes import find
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackPool, StackRule, judge_pools, pools_in
from policies.unknowns import Unknowns


@StackRule(
    remedy="Lower count or maxCount of the pools in the finding, or use smaller sizes.",
    tags=("gpu", "aks", "cost"),
    settings={
        "gpus": {
            "type": "integer",
            "minimum": 0,
            "description": "The maximum number of GPUs of all pools of the stack together.",
        }
    },
)
def gpu_count_cap(members: Members, settings: Settings, unknowns: Unknowns) -> StackFindings:
    if "gpus" not in settings:
        return
    cap = int(settings["gpus"])
    counts: list[tuple[str, Fraction]] = []

    def count(found: StackPool) -> StackFindings:
        # Reads the number of machines only for pools with GPUs.
        for machines in found.pool.gpu_machines():
            size = find(machines.vm_size)
            if size and size.gpus:
                most = machines.most
                counts.append((found.member.name, size.gpus * (1 if most is None else most)))
        yield from ()

    yield from judge_pools(pools_in(members, unknowns), unknowns, count)
    total = sum((found for _, found in counts), Fraction(0))
    if total > cap:
        largest_first = sorted(counts, key=lambda each: (-each[1], each[0]))
        pools = ", ".join(f"{name} ({found})" for name, found in largest_first if found)
        yield f"The stack can have {total} GPUs, but only {cap} are allowed: {pools}.", ""
