"""One owner installs the GPU driver and the device plugin of a pool.

The device plugin comes from the specialized image, from AKS-managed GPUs, from a DaemonSet, from
the chart `nvidia-device-plugin`, or from the GPU Operator. The driver comes from AKS (except on the
few sizes on which it installs none), from the specialized image, or from the GPU Operator. Two
device plugins on a node make its GPUs disappear.

A DaemonSet is a device plugin by its image. It is refused if it selects a pool of its cluster,
by the pool's name, its labels or NVIDIA's, and tolerates its taints. The GPU Operator leaves out
what a pool's `nodeLabels` set to `"false"`: everything by `nvidia.com/gpu.deploy.operands`, the
device plugin by `nvidia.com/gpu.deploy.device-plugin`, and the driver by
`nvidia.com/gpu.deploy.driver`.

A DRA driver (Dynamic Resource Allocation) gives GPUs to pods that claim them, and a device plugin
to pods that request them: on one pool, both give away the same GPU. DRA drivers are known by the
charts `nvidia-dra-driver-gpu` and `dra-driver-nvidia-gpu`, and by `gpuCluster.deployCR` of the GPU
Operator's chart. With `resources.gpus.enabled: false` they leave GPUs to the device plugin.

Pools with AMD GPUs are not judged, nor whether the values of the GPU Operator fit together.
"""

from collections.abc import Callable, Iterator, Sequence

from aks_pools.gpus import are_nvidias, driver_by_aks
from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack, built_in
from policies.gpu_stack_rule import GpuStackRule
from policies.software import DRA, DRIVER, PLUGIN, Software
from policies.stack_rule import StackPool
from policies.unknowns import Unknowns

# What brings something to a pool, and how certain that is.
_Owners = Sequence[tuple[Certainty, str]]

_TWO_PLUGINS = (
    "the device plugin from {}. Two device plugins on a node make its GPUs disappear: keep all but "
    "one off the pool, with node affinity or taints."
)
_TWO_DRIVERS = (
    "its driver from {}. Set gpuProfile.driver of the pool to None, or driver.enabled of the GPU "
    "Operator to false."
)
_BOTH_WAYS = (
    "the device plugin from {}, and a DRA driver from {}. Each gives the same GPUs to pods: keep "
    "one of them off the pool, or set resources.gpus.enabled of the DRA driver to false."
)


@GpuStackRule(
    remedy="Choose one owner for the pool: AKS (driver) with a DaemonSet (device plugin), the "
    "specialized image, AKS-managed GPUs, or the GPU Operator. Keep the others off the pool.",
    tags=("gpu", "aks", "driver", "device-plugin"),
)
def one_gpu_stack_owner(stack: GpuStack, unknowns: Unknowns) -> Iterator[StackFinding]:
    def judge(found: StackPool) -> Iterator[StackFinding]:
        own = [(Certainty.CERTAIN, label) for label in built_in(found)]
        plugins = [*own, *_labelled(stack.running(found, PLUGIN, unknowns))]
        yield from _several(found, plugins, lambda names: _TWO_PLUGINS.format(_and(names)))
        if dra := _labelled(stack.running(found, DRA, unknowns)):
            beside = [max(each, key=lambda one: one[0]) for each in (plugins, dra) if each]
            yield from _several(found, beside, lambda names: _BOTH_WAYS.format(*names))
        if drivers := _labelled(stack.running(found, DRIVER, unknowns)):
            by_azure = own or [(Certainty.of(driver_by_aks(found.pool)), "AKS")]
            owners = [*by_azure, *drivers]
            yield from _several(found, owners, lambda names: _TWO_DRIVERS.format(_and(names)))

    return stack.each_pool(judge, unknowns)


def _several(
    found: StackPool, owners: _Owners, text: Callable[[list[str]], str]
) -> Iterator[StackFinding]:
    for least in (Certainty.CERTAIN, Certainty.POSSIBLE):
        names = [name for certainty, name in owners if certainty >= least]
        if len(names) > 1:
            certainty = min(least, Certainty.of(are_nvidias(found.pool)))
            gets = "gets" if certainty is Certainty.CERTAIN else "can get"
            yield certainty, f"{found.pool.label} {gets} {text(names)}", found.member.urn
            return


def _labelled(running: Sequence[tuple[Certainty, Software]]) -> _Owners:
    """Returns the labels, with the resource's name where two labels are the same."""
    labels = [software.label for _, software in running]
    return [
        (certainty, one.label if labels.count(one.label) == 1 else f"{one.label} {one.member.name}")
        for certainty, one in running
    ]


def _and(names: list[str]) -> str:
    return " and from ".join(names)
