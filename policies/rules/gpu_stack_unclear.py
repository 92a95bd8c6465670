"""It is certain what brings GPU drivers and device plugins to the pools of the stack.

The rule reports what `one-gpu-stack-owner`, `device-plugin-tolerates-pools`,
`device-plugin-on-gpu-nodes` and `device-plugin-mig-strategy` refuse, where it is only possible: it
is not certain that the software is for the pool or is the only one there, or what it does. That
includes device plugins that nothing binds to GPU pools, which exit on nodes outside this stack; and
taints of pools without AKS's driver, since whoever installs the driver may bring the plugin too.

Also reports pools without a driver (driver None, or a size on which AKS installs none) if nothing
in the stack installs one; and what is not seen before its cluster exists.
"""

from collections.abc import Iterator
from itertools import chain

from aks_pools.gpus import driver_by_aks, driver_is_left_out
from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack, built_in
from policies.gpu_stack_rule import FINDERS
from policies.rule import Settings
from policies.software import DRIVER
from policies.stack_rule import Members, StackFindings, StackPool, StackRule
from policies.unknowns import Unknowns


@StackRule(
    remedy="Bind the device plugin to the names of its pools by node affinity, with a toleration "
    "for each taint. Install a driver on pools without one, or set owner to who installs it.",
    tags=("gpu", "aks", "driver", "device-plugin"),
    settings={
        "owner": {
            "type": "string",
            "description": "Who installs the driver on pools without one, if nothing in this stack "
            "does.",
        }
    },
)
def gpu_stack_unclear(members: Members, settings: Settings, unknowns: Unknowns) -> StackFindings:
    stack = GpuStack(members, unknowns)
    found = [find(stack, unknowns) for find in FINDERS]
    if not settings.get("owner"):
        found.append(stack.each_pool(lambda pool: _without_driver(stack, pool), unknowns))
    for certainty, message, urn in chain.from_iterable(found):
        if certainty is Certainty.POSSIBLE:
            yield message, urn
    for member in stack.unseen if stack.gpu_pools(unknowns) else ():
        yield (
            f"What {member.name} ({member.type}) installs is not seen, so whether it brings a "
            "driver or a device plugin is not certain.",
            member.urn,
        )


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
