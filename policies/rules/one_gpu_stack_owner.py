"""Driver and device plugin of a GPU pool are brought by one only."""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, that_are
from policies.owners import owners
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="Driver and device plugin have one owner",
    description="Each GPU node pool has its driver and its device plugin from one source.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Decide who brings driver and device plugin to the pool: AKS and a DaemonSet, the "
    "image, AKS alone (managed GPUs), or the GPU Operator; and keep the others away.",
    tags=("gpu", "aks", "driver", "device-plugin"),
)
def one_gpu_stack_owner(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    twice = unknowns.each(owners(members, unknowns), lambda found: found.twice())
    return that_are(Certainty.CERTAIN, twice)
