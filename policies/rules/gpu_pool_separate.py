"""GPU pools are separate resources in mode User.

A change of an inline pool is a change of the cluster. A pool of mode System runs the cluster's own
pods and cannot scale to zero. A refresh adds separate pools to the cluster's list; they do not
count as inline.
"""

from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackPool, StackRule, judge_pools, pools_in
from policies.unknowns import Unknowns


@StackRule(
    remedy="Give the cluster a system pool without GPUs, and add the GPU pool as a separate "
    "resource in mode User.",
    tags=("gpu", "aks"),
)
def gpu_pool_separate(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return judge_pools(pools_in(members, unknowns), unknowns, _judge_pool)


def _judge_pool(found: StackPool) -> StackFindings:
    pool = found.pool
    sizes = pool.gpu_sizes()
    if not sizes:
        return
    has = f"{pool.label} has the GPU size {sizes[0]}"
    if pool.inline:
        yield (
            f"{has} and is inline: a change of it updates the whole cluster. Make it a separate "
            "resource.",
            found.member.urn,
        )
    if pool.text("mode").lower() == "system":
        yield (
            f"{has} and is a system pool: system pods use its nodes, and it cannot scale to zero. "
            "Set mode to User, and use another system pool without GPUs.",
            found.member.urn,
        )
