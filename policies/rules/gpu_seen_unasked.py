"""No workload of the program has GPUs that it did not ask for.

Where AKS installs the driver, a container of an image with CUDA has all GPUs of its node if it asks
for none, and so does one that sets NVIDIA_VISIBLE_DEVICES by hand. The rule knows such images by
their names. It says nothing of a cluster with a policy that takes GPUs from whoever did not ask, as
`gpuIsolation` has it, nor of device plugins and DCGM's exporter, which need all GPUs.
"""

from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns
from policies.workloads import seeing_unasked


@StackRule(
    remedy="Ask for nvidia.com/gpu in resources.limits; or set NVIDIA_VISIBLE_DEVICES to void; or "
    "close it for the cluster with gpuIsolation.",
    tags=("gpu", "aks", "isolation", "security"),
)
def gpu_seen_unasked(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return seeing_unasked(members, unknowns)
