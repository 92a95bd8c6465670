"""A stack can have no more GPUs than it may, counted as if every pool were scaled to its most.

Autoscaled pools count with `maxCount`, the others with `count`. Sizes with an unknown number of
GPUs are reported and not counted. The rule does nothing until `gpus` is set.
"""

from fractions import Fraction

from catalogue.sizes import find
from policies.gpu_nodes import StackPool, pools_in
from policies.pools import Pool
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The stack's GPUs have a cap",
    description="The stack can have no more GPUs than are allowed, all pools at their most.",
    remedy="Lower count or maxCount of the pools in the finding, or take smaller sizes.",
    tags=("gpu", "aks", "cost"),
    settings={
        "gpus": {
            "type": "integer",
            "minimum": 0,
            "description": "The most GPUs that the stack's pools can have together.",
        }
    },
)
def gpu_count_cap(members: Members, settings: Settings, unknowns: Unknowns) -> StackFindings:
    if "gpus" not in settings:
        return
    cap = int(settings["gpus"])
    counts: list[tuple[str, Fraction]] = []

    def count(found: StackPool) -> StackFindings:
        gpus, not_counted = _count(found.pool)
        if gpus:
            counts.append((found.member.name, gpus))
        for vm_size in not_counted:
            yield (
                f"{found.pool.label} has the GPU size {vm_size}, of which the pack's table "
                "does not know how many GPUs it has: they are not counted.",
                found.member.urn,
            )

    yield from unknowns.each(pools_in(members, unknowns), count)
    total = sum((found for _, found in counts), Fraction(0))
    if total > cap:
        said = ", ".join(f"{name} ({found})" for name, found in counts)
        yield f"The stack can have {total} GPUs where {cap} are allowed: {said}.", ""


def _count(pool: Pool) -> tuple[Fraction, list[str]]:
    """The most GPUs that a pool can have, and sizes of which nobody knows how many they have."""
    total, not_counted = Fraction(0), []
    # How many machines there are is read of pools with GPUs alone.
    for machines in pool.gpu_machines():
        size = find(machines.vm_size)
        if size and size.gpus:
            most = machines.most
            total += size.gpus * (1 if most is None else most)
        else:
            not_counted.append(machines.vm_size)
    return total, not_counted
