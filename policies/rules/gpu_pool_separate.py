"""GPU pools stand by themselves: not inline in the cluster, and not for the system's own pods.

A change of an inline pool is a change of the cluster. A pool of mode System runs the cluster's own
pods and cannot scale to zero. A refresh adds separate pools to the cluster's list; they do not
count as inline.
"""

from policies.gpu_nodes import StackPool, pools_in
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="GPU pools stand by themselves",
    description="GPU node pools are resources of their own, in mode User.",
    remedy="Give the cluster a system pool without GPUs, and add the GPU pool beside it, as a "
    "resource of its own in mode User.",
    tags=("gpu", "aks"),
)
def gpu_pool_separate(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return unknowns.each(pools_in(members, unknowns), _judge_pool)


def _judge_pool(found: StackPool) -> StackFindings:
    pool = found.pool
    sizes = pool.gpu_sizes()
    if not sizes:
        return
    said = f"{pool.label} has the GPU size {sizes[0]}"
    if pool.inline:
        yield (
            f"{said}. Make it a resource of its own: to change one inline pool is to change the "
            "cluster, with all of its pools.",
            found.member.urn,
        )
    if pool.get("mode").lower() == "system":
        yield (
            f"{said} and is a system pool: the cluster's own pods take up its nodes, and it cannot "
            "be scaled to zero. Set mode to User, and have a system pool without GPUs.",
            found.member.urn,
        )
