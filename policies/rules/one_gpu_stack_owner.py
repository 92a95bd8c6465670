"""Driver and device plugin of a GPU pool are brought by somebody, and by one only."""

from collections.abc import Sequence

from pulumi_policy import EnforcementLevel, Severity

from policies.gpu_nodes import StackPool, brings_driver, brings_plugin, can_land, nvidia_pools
from policies.gpu_requests import driver_is_left_out, has_managed_gpus, has_specialised_image
from policies.gpu_software import Software, software_in
from policies.pools import Pool
from policies.rule import Findings, Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="Driver and device plugin have one owner",
    description="Each GPU node pool has its driver and its device plugin from one source.",
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    remedy="Decide who brings driver and device plugin to the pool: AKS and a DaemonSet, the "
    "image, AKS alone (managed GPUs), or the GPU Operator; and keep the others away.",
    tags=("gpu", "aks", "driver", "device-plugin"),
    settings={
        "owner": {
            "type": "string",
            "description": "Who brings the driver to pools that are made without one, where "
            "it is nothing in this stack.",
        }
    },
)
def one_gpu_stack_owner(members: Members, settings: Settings, unknowns: Unknowns) -> StackFindings:
    software = software_in(members, unknowns)
    some_are_unknown = unknowns.met
    for found in nvidia_pools(members, unknowns):
        with unknowns.deferred():
            plugins, drivers, ways = [], [], Unknowns()
            for one in software:
                with unknowns.deferred():
                    plugins += _label(one, brings_plugin(found, one), found, members)
                with unknowns.deferred(), ways.deferred(again=True):
                    drivers += _label(one, brings_driver(found, one), found, members)
            for finding in _twice(found.pool, plugins, drivers):
                yield f"{found.pool.label} {finding}", found.member.urn
            # What brings the driver may be among what is not known yet.
            unsure = some_are_unknown or ways.met
            if settings.get("owner") or unsure or drivers or not _is_without_driver(found.pool):
                continue
            yield (
                f"{found.pool.label} is made without a driver, and nothing in this stack brings "
                "one: its GPUs cannot be used. Add NVIDIA's GPU Operator, let AKS install the "
                "driver, or name in the rule's owner who brings it.",
                found.member.urn,
            )


def _label(software: Software, brings: bool, found: StackPool, members: Members) -> list[str]:
    """The software's name, where it brings what is asked for and lands on the pool."""
    return [software.label] if brings and can_land(found, software, members) else []


def _twice(pool: Pool, plugins: Sequence[str], drivers: Sequence[str]) -> Findings:
    own = _own_stack(pool)
    plugins = [*own, *dict.fromkeys(plugins)]
    if len(plugins) > 1:
        yield (
            f"gets the device plugin from {' and from '.join(plugins)}: two of them on a node make "
            "its GPUs disappear. Keep all but one away from it, by node affinity or taints."
        )
    by_aks = own or ([] if driver_is_left_out(pool) else ["AKS"])
    drivers = [*by_aks, *dict.fromkeys(drivers)]
    if len(drivers) > 1:
        yield (
            f"gets its driver from {' and from '.join(drivers)}. Set gpuProfile.driver to None for "
            "the pool, or driver.enabled to false for the GPU Operator."
        )


def _own_stack(pool: Pool) -> list[str]:
    """What the pool's nodes have without anything on the cluster."""
    if has_specialised_image(pool):
        return ["the specialised image"]
    return ["AKS, which manages its GPUs"] if has_managed_gpus(pool) else []


def _is_without_driver(pool: Pool) -> bool:
    return driver_is_left_out(pool) and not _own_stack(pool)
