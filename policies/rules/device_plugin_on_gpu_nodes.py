"""The device plugin does not run on nodes of the stack without NVIDIA GPUs.

On a node without an NVIDIA GPU the device plugin exits, unless `FAIL_ON_INIT_ERROR` is `"false"` or
the plugin is of 2018; on Windows its image does not start. Its pods restart forever, and an update
that waits for them fails after ten minutes. A value that a shell sets, or that an init container
waits for, is not known: `gpu-stack-unclear` reports it.
"""

from collections.abc import Iterator

from aks_pools.gpus import are_nvidias
from aks_pools.pools import Pool
from aks_pools.vocabulary import AZURE_NATIVE
from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack
from policies.gpu_stack_rule import GpuStackRule
from policies.scheduling import is_selected
from policies.software import PLUGIN, Software, fails_without_gpus
from policies.stack_rule import StackPool
from policies.unknowns import Unknowns

# A node without GPUs, in a pool outside the stack that no pod selects by name.
_PLAIN_POOL = Pool(AZURE_NATIVE, {}, lambda: {"vmSize": "Standard_D4ds_v5", "mode": "System"})


@GpuStackRule(
    remedy="Bind the device plugin to the GPU pools by node affinity, for example to the pools' "
    'names; or set its FAIL_ON_INIT_ERROR to "false", so that it waits on other nodes.',
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_on_gpu_nodes(stack: GpuStack, unknowns: Unknowns) -> Iterator[StackFinding]:
    def judge(software: Software) -> Iterator[StackFinding]:
        if software.is_operator or PLUGIN not in software.brings:
            return
        found = list(unknowns.each(stack.pools, lambda pool: _failing_on(stack, software, pool)))
        yield from found
        # Other nodes of the cluster are unknown; those of the stack are reported above.
        is_told = any(certainty for certainty, _, _ in found)
        is_open = is_selected(_PLAIN_POOL, software.pods) is Certainty.CERTAIN
        if not is_told and is_open and fails_without_gpus(software):
            where = "nodes without GPUs, because nothing binds it to GPU pools"
            yield Certainty.POSSIBLE, _message(Certainty.POSSIBLE, where), software.member.urn

    return unknowns.each(stack.software, judge)


def _failing_on(stack: GpuStack, software: Software, found: StackPool) -> Iterator[StackFinding]:
    pool = found.pool
    # A pool whose size is not known may have NVIDIA GPUs.
    certainty = Certainty.NO if are_nvidias(pool) is not False else stack.lands(software, found)
    if certainty and pool.runs_linux():
        certainty = min(certainty, fails_without_gpus(software))
    if certainty:
        label = f"t{pool.label[1:]}" if pool.inline else f"the pool {found.member.name}"
        reason = "has no NVIDIA GPUs" if pool.runs_linux() else "runs Windows"
        message = _message(certainty, f"{label}, which {reason}")
        yield certainty, message, software.member.urn


def _message(certainty: Certainty, where: str) -> str:
    runs_on = "runs on" if certainty is Certainty.CERTAIN else "can run on"
    return (
        f"This device plugin {runs_on} {where}: it crashes there repeatedly, and an update that "
        "waits for it fails. Bind it to the GPU pools by node affinity."
    )
