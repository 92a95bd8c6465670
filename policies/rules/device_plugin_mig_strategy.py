"""The device plugin of a MIG pool advertises the partitions of its GPUs.

Without a MIG strategy the device plugin advertises whole GPUs, not partitions: pods get one GPU
where they could have seven. That is so for a DaemonSet, for the charts of NVIDIA, and for AKS's own
plugin on a pool whose GPUs it manages, whose `migStrategy` is `None` by default. The rule does not
see settings in a configuration file.
"""

import re
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from aks_catalogue.device_plugin import NO_STRATEGY
from aks_catalogue.shapes import at
from aks_pools.gpus import are_nvidias, has_management_mode
from policies.certainty import Certainty, StackFinding, with_certainty
from policies.gpu_stack import GpuStack
from policies.rule import Settings
from policies.software import PLUGIN, mig_strategy
from policies.stack_rule import Members, StackFindings, StackPool, StackRule
from policies.unknowns import Unknowns

# What can change pods without a change of their resource in the program.
_CHANGES_OTHERS = re.compile(r"command:.*|pulumi-\w+:dynamic.*|kubernetes:.*:DaemonSetPatch")


@StackRule(
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools; where AKS "
    "manages the GPUs, set gpuProfile.nvidia.migStrategy; or remove the profile.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_strategy(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.CERTAIN, _without_strategy(members, unknowns))


@StackRule(
    title="The device plugin clearly advertises MIG partitions",
    description="Reports what device-plugin-mig-strategy refuses, where it is not certain that the "
    "plugin is for the pool, or that it is the only one there.",
    remedy="Set MIG_STRATEGY of the device plugin to single or mixed on the MIG pools.",
    tags=("gpu", "aks", "device-plugin", "mig"),
)
def device_plugin_mig_unclear(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
    return with_certainty(Certainty.POSSIBLE, _without_strategy(members, unknowns))


def _without_strategy(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields pools with a MIG profile whose device plugin advertises whole GPUs."""
    stack = GpuStack(members, unknowns)
    # What is not seen may be a plugin with a strategy, and a patch may give it one.
    is_sure = stack.is_whole and not any(_CHANGES_OTHERS.fullmatch(one.type) for one in members)

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
                min(most, certainty, Certainty.of(is_sure or None)),
                f"{has} {labels} has no MIG strategy, and so advertises whole GPUs. Set "
                "MIG_STRATEGY of the plugin to single or mixed, or remove the profile.",
                found.member.urn,
            )

    return stack.each_pool(judge, unknowns)
