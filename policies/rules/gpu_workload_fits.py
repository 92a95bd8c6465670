"""Each workload of the program that asks for GPUs fits a pool of its cluster.

A pod that fits none stays pending, and an update that waits for it fails half an hour later. The
rule compares taints, labels, the names and numbers of GPUs, vCPUs and memory, and names the nearest
pool with what does not fit. A pool with Arm CPUs (GB200, GB300) fits no pod that selects amd64 by
`kubernetes.io/arch`, and not the sample job of AKS's pages; which CPUs other images are for, the
rule does not know. It is silent where it cannot be certain: for a cluster of another
stack, where Karpenter or KAITO make nodes, for jobs in queues of Kueue, for GPUs that settings in a
file may share, and for values that are not known yet. It does not see pools of other stacks.
"""

from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns
from policies.workloads import unfitting


@StackRule(
    remedy="Let the pod tolerate the pool's taints, select its labels, and ask for what one of its "
    "nodes offers; or give the cluster a pool that fits.",
    tags=("gpu", "aks", "scheduling"),
)
def gpu_workload_fits(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return unfitting(members, unknowns)
