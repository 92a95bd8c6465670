"""One owner installs the GPU driver and the device plugin of a pool.

The device plugin comes from the specialized image, from AKS-managed GPUs, from a DaemonSet, from
the chart `nvidia-device-plugin`, or from the GPU Operator. The driver comes from AKS (except on the
few sizes on which it installs none), from the specialized image, or from the GPU Operator. Two
device plugins on a node make its GPUs disappear.

A DaemonSet is a device plugin by its image. Whether it can run on a pool depends on its node
selector, its required node affinity and its tolerations. The GPU Operator leaves out what a pool's
`nodeLabels` set to `"false"`: everything by `nvidia.com/gpu.deploy.operands`, the device plugin by
`nvidia.com/gpu.deploy.device-plugin`, the driver by `nvidia.com/gpu.deploy.driver`.

A DRA driver (Dynamic Resource Allocation) gives GPUs to pods that claim them, and a device plugin
to pods that request them: on one pool, both give away the same GPU. DRA drivers are known by the
charts `nvidia-dra-driver-gpu` and `dra-driver-nvidia-gpu`, and by `gpuCluster.deployCR` of the GPU
Operator's chart. With `resources.gpus.enabled: false` they leave GPUs to the device plugin.

Pools with AMD GPUs are not judged.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.certainty import Certainty, StackFinding, with_certainty
from policies.owners import Owners, owners
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="GPU driver and device plugin have one owner",
    description="Each GPU node pool gets its driver and its device plugin from one source only.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Choose one owner for the pool: AKS (driver) with a DaemonSet (device plugin), the "
    "specialized image, AKS-managed GPUs, or the GPU Operator. Keep the others off the pool.",
    tags=("gpu", "aks", "driver", "device-plugin"),
)
def one_gpu_stack_owner(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    twice = unknowns.each(owners(members, unknowns), lambda pool: pool.twice())
    return with_certainty(Certainty.CERTAIN, twice)


@StackRule(
    title="GPU driver and device plugin clearly have one owner",
    description="Reports what one-gpu-stack-owner refuses, where it is not certain; and pools "
    "without a driver (driver None, or a size on which AKS installs none) if nothing in the stack "
    "installs one.",
    severity=Severity.HIGH,
    remedy="Bind the device plugin to the names of its pools by node affinity. Install a driver on "
    "pools without one, or set the rule's owner to who installs it.",
    tags=("gpu", "aks", "driver", "device-plugin"),
    settings={
        "owner": {
            "type": "string",
            "description": "Who installs the driver on pools without one, if nothing in this stack "
            "does.",
        }
    },
)
def gpu_stack_owner_unclear(
    members: Members, settings: Settings, unknowns: Unknowns
) -> StackFindings:
    def unclear(pool: Owners) -> list[StackFinding]:
        weighed = [*pool.twice()]
        if pool.without_driver and not settings.get("owner"):
            message = (
                f"{pool.label} {pool.why_without_driver}, and nothing in this stack installs "
                "one, so pods cannot use its GPUs. Add the NVIDIA GPU Operator, "
                f"{pool.instead}or set the rule's owner to who installs it."
            )
            weighed.append((Certainty.POSSIBLE, message, pool.urn))
        return weighed

    weighed = unknowns.each(owners(members, unknowns), unclear)
    return with_certainty(Certainty.POSSIBLE, weighed)
