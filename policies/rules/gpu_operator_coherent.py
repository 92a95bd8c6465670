"""The GPU Operator installs driver and container toolkit both, or neither.

Where AKS installs the driver, its node image has the container runtime too, by the name
`nvidia-container-runtime`: the operator needs `driver.enabled: false`, `toolkit.enabled: false` and
`operator.runtimeClass: nvidia-container-runtime`. Where the pool has `gpuProfile.driver: None`, the
operator needs both enabled. Anything between leaves the pool's nodes without GPUs, or breaks their
container runtime. Labels of a pool that switch a part of the operator off count (see
`one-gpu-stack-owner`). What is only possible, as on a cluster that the stack does not create,
`gpu-stack-owner-unclear` reports.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, with_certainty
from policies.operators import incoherent_operators
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The parts of the GPU Operator fit together",
    description="The GPU Operator installs both the driver and the container toolkit of a GPU node "
    "pool, or AKS does.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Set driver.enabled and toolkit.enabled of the GPU Operator both to false, and "
    "operator.runtimeClass to nvidia-container-runtime; or set gpuProfile.driver of its pools to "
    "None, and both to true.",
    tags=("gpu", "aks", "driver", "gpu-operator"),
)
def gpu_operator_coherent(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, incoherent_operators(members, unknowns))
