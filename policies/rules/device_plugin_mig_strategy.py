"""The device plugin of a MIG pool advertises the partitions of its GPUs.

Without a MIG strategy the device plugin advertises whole GPUs, not partitions: pods get one GPU
where they could have seven. That is so for a DaemonSet, for the charts of NVIDIA, and for AKS's own
plugin on a pool whose GPUs it manages, whose `migStrategy` is `None` by default. The rule does not
see settings in a configuration file.
"""

import re
from collections.abc import Iterator

from aks_catalogue.device_plugin import NO_STRATEGY
from aks_catalogue.shapes import at
from aks_pools.gpus import are_nvidias, has_management_mode
from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack
from policies.gpu_stack_rule import GpuStackRule
from policies.software import PLUGIN, mig_strategy
from policies.stack_rule import StackPool
from policies.unknowns import Unknowns

# What can change pods without a change of their resource in the program.
_CHANGES_OTHERS = re.compile(r"command:.*|pulumi-\w+:dynamic.*|kubernetes:.*:DaemonSetPatch")


@GpuStackRule(
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools; where AKS "
    "manages the GPUs, set gpuProfile.nvidia.migStrategy; or remove the profile.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_strategy(stack: GpuStack, unknowns: Unknowns) -> Iterator[StackFinding]:
    # What is not seen may be a plugin with a strategy, and a patch may give it one.
    is_patched = any(_CHANGES_OTHERS.fullmatch(one.type) for one in stack.members)

    def judge(found: StackPool) -> Iterator[StackFinding]:
        pool = found.pool
        profile = pool.text("gpuInstanceProfile")
        if profile.lower() in ("", "none"):
            return
        has = f"{pool.label} has {pool.name_of('gpuInstanceProfile')} {profile}, but"
        most = Certainty.of(are_nvidias(pool))
        if has_management_mode(pool):
            strategy = at(pool.part("gpuProfile"), "nvidia.migStrategy")
            if str(strategy or NO_STRATEGY).lower() == NO_STRATEGY:
                yield (
                    most,
                    f"{has} AKS manages its GPUs without a MIG strategy, and so advertises whole "
                    "GPUs. Set gpuProfile.nvidia.migStrategy to Single or Mixed, or remove the "
                    "profile.",
                    found.member.urn,
                )
            return
        running = stack.running(found, PLUGIN, unknowns)
        if running and all(mig_strategy(plugin) == NO_STRATEGY for _, plugin in running):
            labels = " and ".join(plugin.label for _, plugin in running)
            certainty = max(certainty for certainty, _ in running)
            yield (
                min(most, certainty, Certainty.of((stack.is_whole and not is_patched) or None)),
                f"{has} {labels} has no MIG strategy, and so advertises whole GPUs. Set "
                "MIG_STRATEGY of the plugin to single or mixed, or remove the profile.",
                found.member.urn,
            )

    return stack.each_pool(judge, unknowns)
