"""Driver and device plugin of a GPU pool are brought by somebody, and by one only."""

from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, Severity

from policies.asks import driver_is_left_out, has_managed_gpus, has_specialised_image
from policies.gpu_nodes import GpuPool, can_land, nvidia_pools
from policies.gpu_software import Software, software_in
from policies.rule import About, Settings
from policies.stack_rule import Finding, Member, StackRule
from policies.unknowns import Unknowns

# With these labels on its nodes the GPU Operator leaves a pool alone, or its driver.
_NO_OPERANDS, _NO_DRIVER = "nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.driver"


def _judge(members: Sequence[Member], settings: Settings, unknowns: Unknowns) -> Iterator[Finding]:
    software = software_in(members, unknowns)
    some_are_unknown = unknowns.met
    for found in nvidia_pools(members, unknowns):
        with unknowns.put_off():
            there, ways = [], Unknowns()
            for one in software:
                with unknowns.put_off(), ways.put_off(again=True):
                    there += [one] if _reaches(found, one, members) else []
            for finding in _twice(found, there):
                yield f"{found.pool.label} {finding}", found.member.urn
            # What brings the driver may be among what is not known yet.
            unsure = some_are_unknown or ways.met
            if settings.get("owner") or unsure or not _has_no_driver(found, there):
                continue
            yield (
                f"{found.pool.label} is made without a driver, and nothing in this stack brings "
                "one: its GPUs cannot be used. Add NVIDIA's GPU Operator, let AKS install the "
                "driver, or name in the rule's owner who brings it.",
                found.member.urn,
            )


def _twice(found: GpuPool, there: Sequence[Software]) -> Iterator[str]:
    own = _own_stack(found)
    plugins = [*own, *dict.fromkeys(one.label for one in there if one.plugin)]
    if len(plugins) > 1:
        yield (
            f"gets the device plugin from {' and from '.join(plugins)}: two of them on a node make "
            "its GPUs disappear. Keep all but one away from it, by node affinity or taints."
        )
    by_aks = own or ([] if driver_is_left_out(found.pool) else ["AKS"])
    drivers = [*by_aks, *dict.fromkeys(one.label for one in there if _brings_driver(found, one))]
    if len(drivers) > 1:
        yield (
            f"gets its driver from {' and from '.join(drivers)}. Set gpuProfile.driver to None for "
            "the pool, or driver.enabled to false for the GPU Operator."
        )


def _own_stack(found: GpuPool) -> list[str]:
    """What the pool's nodes have without anything on the cluster."""
    if has_specialised_image(found.pool):
        return ["the specialised image"]
    return ["AKS, which manages its GPUs"] if has_managed_gpus(found.pool) else []


def _has_no_driver(found: GpuPool, there: Sequence[Software]) -> bool:
    if not driver_is_left_out(found.pool) or _own_stack(found):
        return False
    return not any(_brings_driver(found, one) for one in there)


def _reaches(found: GpuPool, software: Software, members: Sequence[Member]) -> bool:
    if software.is_operator and _is_off(found, _NO_OPERANDS):
        return False
    return can_land(found, software, members)


def _brings_driver(found: GpuPool, software: Software) -> bool:
    return software.driver and not _is_off(found, _NO_DRIVER)


def _is_off(found: GpuPool, label: str) -> bool:
    return str(found.pool.part("nodeLabels").get(label)).lower() == "false"


one_gpu_stack_owner = StackRule(
    About(
        name="one-gpu-stack-owner",
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
    ),
    _judge,
)
