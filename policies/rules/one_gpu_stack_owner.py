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

Pools with AMD GPUs are not judged. Whether the values of the GPU Operator fit together, the pack
does not judge.
"""

from collections.abc import Callable, Iterator, Sequence

from pulumi_policy import EnforcementLevel, Severity

from aks_pools.gpus import are_nvidias, driver_by_aks, driver_is_left_out
from policies.certainty import Certainty, StackFinding, with_certainty
from policies.gpu_stack import GpuStack, built_in
from policies.rule import Settings
from policies.software import DRA, DRIVER, PLUGIN, Software
from policies.stack_rule import Members, StackFindings, StackPool, StackRule
from policies.unknowns import Unknowns

# What brings something to a pool, and how certain that is.
_Owners = Sequence[tuple[Certainty, str]]


@StackRule(
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Choose one owner for the pool: AKS (driver) with a DaemonSet (device plugin), the "
    "specialized image, AKS-managed GPUs, or the GPU Operator. Keep the others off the pool.",
    tags=("gpu", "aks", "driver", "device-plugin"),
)
def one_gpu_stack_owner(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    stack = GpuStack(members, unknowns)
    twice = stack.each_pool(lambda found: _twice(stack, found, unknowns), unknowns)
    return with_certainty(Certainty.CERTAIN, twice)


@StackRule(
    title="GPU driver and device plugin clearly have one owner",
    description="Reports what one-gpu-stack-owner refuses, where it is not certain; pools without "
    "a driver (driver None, or a size on which AKS installs none) if nothing in the stack installs "
    "one; and what is not seen before its cluster exists.",
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
    stack = GpuStack(members, unknowns)

    def unclear(found: StackPool) -> Iterator[StackFinding]:
        yield from _twice(stack, found, unknowns)
        if not settings.get("owner"):
            yield from _without_driver(stack, found)

    yield from with_certainty(Certainty.POSSIBLE, stack.each_pool(unclear, unknowns))
    for member in stack.unseen if stack.gpu_pools(unknowns) else ():
        yield (
            f"What {member.name} ({member.type}) installs is not seen, so whether it brings a "
            "driver or a device plugin is not certain.",
            member.urn,
        )


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


def _twice(stack: GpuStack, found: StackPool, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields a finding if several owners bring the device plugin, or the driver."""
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


def _without_driver(stack: GpuStack, found: StackPool) -> Iterator[StackFinding]:
    pool, unread = found.pool, Unknowns()
    drivers = stack.running(found, DRIVER, unread)
    may_have_one = drivers or unread.met or not stack.is_whole or built_in(found)
    if may_have_one or driver_by_aks(pool) is not False:
        return
    why = f"uses {' and '.join(pool.gpu_sizes())}, on which AKS installs no driver"
    left_out = driver_is_left_out(pool)
    yield (
        Certainty.POSSIBLE,
        f"{pool.label} {'has gpuProfile.driver None' if left_out else why}, and nothing in this "
        "stack installs one, so pods cannot use its GPUs. Add the NVIDIA GPU Operator, "
        f"{'let AKS install the driver, ' if left_out else ''}or set the rule's owner to who "
        "installs it.",
        found.member.urn,
    )
