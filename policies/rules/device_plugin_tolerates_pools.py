"""The device plugin tolerates what the pools that it is for are tainted with."""

from pulumi_policy import EnforcementLevel, Severity

from policies.gpu_nodes import brings_plugin, can_be_for, nvidia_pools
from policies.gpu_requests import has_managed_gpus, has_specialised_image
from policies.gpu_software import software_in
from policies.rule import Settings
from policies.scheduling import untolerated
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="The device plugin tolerates the pools' taints",
    description="The device plugin lands on the GPU node pools that it is for.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Add to the device plugin's tolerations one for each taint of the pools.",
    tags=("gpu", "aks", "device-plugin", "scheduling"),
)
def device_plugin_tolerates_pools(
    members: Members, _: Settings, unknowns: Unknowns
) -> StackFindings:
    software = software_in(members, unknowns)
    some_are_unknown = unknowns.met
    for found in nvidia_pools(members, unknowns):
        with unknowns.deferred():
            # Pools that have the plugin already do well without.
            if has_specialised_image(found.pool) or has_managed_gpus(found.pool):
                continue
            plugins = [one for one in software if brings_plugin(found, one)]
            meant = [one for one in plugins if can_be_for(found, one, members)]
            repelled = [(one, untolerated(found.pool, one.pods)) for one in meant]
            # One that lands is enough, and may be among what is not known yet.
            if some_are_unknown or not all(taints for _, taints in repelled):
                continue
            # Of other systems gpu-pool-linux-only speaks: no toleration would help them.
            if not found.runs_linux():
                continue
            for one, taints in repelled:
                yield (
                    f"{found.pool.label} has the taints {', '.join(taints)}, which {one.label} "
                    "does not tolerate: its GPUs will not be schedulable. Add tolerations of them "
                    "to the device plugin.",
                    found.member.urn,
                )
