"""The nodes of a pool with InfiniBand are on one network.

AKS puts the nodes of a new pool into one placement group if the subscription has the feature
`Microsoft.ContainerService/AKSInfinibandSupport`. Without it they may be on several InfiniBand
networks, and jobs over several nodes reach each other by Ethernet alone. The rule reports pools of
several nodes in a program that does not register the feature. It cannot see what somebody else has
registered: `aksgpu preflight` can. Then except the pools, with the day as `reason`.
"""

from aks_catalogue.nodes import INFINIBAND_FEATURE, INFINIBAND_NAMESPACE
from aks_catalogue.sizes import has_rdma
from policies.features import registered
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackPool, StackRule, judge_pools, pools_in
from policies.unknowns import Unknowns


@StackRule(
    remedy="Register Microsoft.ContainerService/AKSInfinibandSupport before the pool is made: in a "
    "stack file infinibandFeature: register, in a program the component InfinibandFeature.",
    tags=("gpu", "aks", "network"),
)
def gpu_pool_one_fabric(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    def judge(found: StackPool) -> StackFindings:
        for machines in found.pool.gpu_machines():
            if has_rdma(machines.vm_size) and (machines.most is None or machines.most > 1):
                yield (
                    f"{found.pool.label} has {machines.vm_size}, which has InfiniBand, and the "
                    f"program does not register {INFINIBAND_NAMESPACE}/{INFINIBAND_FEATURE}. "
                    "Unless the subscription has it, the nodes may be on several InfiniBand "
                    "networks.",
                    found.member.urn,
                )

    if not any(registered(one.type, one.properties, INFINIBAND_FEATURE) for one in members):
        yield from judge_pools(pools_in(members, unknowns), unknowns, judge)
