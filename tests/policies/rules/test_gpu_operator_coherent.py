"""Driver, container toolkit and runtime of the GPU Operator, on pools with and without a driver."""

from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue import gpu_operator
from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from policies.rules.gpu_operator_coherent import gpu_operator_coherent
from policies.rules.one_gpu_stack_owner import gpu_stack_owner_unclear, one_gpu_stack_owner
from tests.policies.gpu_stacks import MANAGED, NO_DRIVER, not_known, pool, release, together
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import CPU

LANDS: dict[str, Any] = {"daemonsets": {"tolerations": [{"operator": "Exists"}]}}
OFF, ON = {"enabled": False}, {"enabled": True}
AKS = {
    "driver": OFF,
    "toolkit": OFF,
    "operator": {"runtimeClass": "nvidia-container-runtime"},
}
NO_TOOLKIT = "gets its driver from the GPU Operator, but no container toolkit"
NO_DRIVERS = "gets the container toolkit from the GPU Operator, but not its driver"
RUNTIME = "has AKS's container runtime, nvidia-container-runtime, and the GPU Operator asks for"


def found(gpu: Resource, **values: Any) -> list[str]:
    chart = release("gpu-operator", **{**LANDS, **values})
    return findings(gpu_operator_coherent, *together(gpu, chart))


def label(part: str) -> dict[str, Any]:
    return {"nodeLabels": {f"nvidia.com/gpu.deploy.{part}": "false"}}


@pytest.mark.parametrize(
    ("properties", "values", "told"),
    [
        # The two coherent profiles.
        ({}, AKS, None),
        (NO_DRIVER, {}, None),
        (NO_DRIVER, {"driver": ON, "toolkit": ON}, None),
        # Two drivers, which one-gpu-stack-owner tells.
        ({}, {}, None),
        # The broken hybrids.
        (NO_DRIVER, {"toolkit": OFF}, NO_TOOLKIT),
        ({}, {"toolkit": OFF}, NO_TOOLKIT),
        ({}, {"driver": OFF}, NO_DRIVERS),
        (NO_DRIVER, {"driver": OFF}, NO_DRIVERS),
        ({}, {"driver": {"enabled": "false"}}, NO_DRIVERS),
        ({}, {"driver": OFF, "toolkit": OFF}, RUNTIME),
        ({}, {**AKS, "operator": {"runtimeClass": "nvidia"}}, RUNTIME),
        # Nobody installs a driver, which gpu-stack-owner-unclear tells.
        (NO_DRIVER, AKS, None),
        # What a pool's labels switch off.
        (label("operands"), {"driver": OFF}, None),
        (label("container-toolkit"), {**AKS, "toolkit": ON}, None),
        ({**NO_DRIVER, **label("container-toolkit")}, {}, NO_TOOLKIT),
        ({**NO_DRIVER, **label("driver")}, {}, NO_DRIVERS),
        # Pools on which it does not land, or that have no NVIDIA GPUs.
        ({"nodeTaints": ["a=b:NoSchedule"]}, {"driver": OFF, "daemonsets": {}}, None),
        ({"vmSize": CPU}, {"driver": OFF}, None),
        ({"vmSize": "Standard_ND96isr_MI300X_v5"}, {"driver": OFF}, None),
    ],
)
def test_driver_and_toolkit_have_one_owner(
    properties: dict[str, Any], values: dict[str, Any], told: str | None
) -> None:
    messages = found(pool(**properties), **values)
    assert len(messages) == (told is not None)
    assert told is None or told in messages[0]


@pytest.mark.parametrize("has_mig", [False, True])
@pytest.mark.parametrize("driver", gpu_operator.PROFILES)
def test_the_values_of_this_project_are_coherent(driver: str, has_mig: bool) -> None:
    taints = ["sku=gpu:NoSchedule"]
    gpu = pool(nodeTaints=taints, gpuProfile={"driver": gpu_operator.PROFILES[driver].pools_driver})
    chart = release("gpu-operator", **gpu_operator.values(driver, taints, {}, has_mig=has_mig))
    for rule in (gpu_operator_coherent, one_gpu_stack_owner, device_plugin_tolerates_pools):
        assert findings(rule, *together(gpu, chart)) == []


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (AKS, None),
        ({"driver": OFF}, NO_DRIVERS),
        ({"toolkit": OFF}, NO_TOOLKIT),
        ({**AKS, "operator": {"runtimeClass": "nvidia"}}, RUNTIME),
    ],
)
def test_what_is_only_possible_is_told(values: dict[str, Any], told: str | None) -> None:
    """On a cluster that the stack does not make, the operator broke containers without a word."""
    of_another_stack = (pool(), release("gpu-operator", **LANDS, **values))
    files = {"chart": "gpu-operator", "valueYamlFiles": ["a"], "values": {**LANDS, **values}}
    by_files = Resource(type="kubernetes:helm.sh/v3:Release", name="r", properties=files)
    for stack in (of_another_stack, together(pool(), by_files)):
        assert findings(gpu_operator_coherent, *stack) == []
        messages = findings(gpu_stack_owner_unclear, *stack)
        about_parts = [text for text in messages if "is not certain" in text]
        assert len(about_parts) == (told is not None)
        assert told is None or told in about_parts[0]


def test_what_is_certain_is_told_once() -> None:
    stack = together(pool(), release("gpu-operator", **LANDS, driver=OFF))
    assert len(findings(gpu_operator_coherent, *stack)) == 1
    assert findings(gpu_stack_owner_unclear, *stack) == []


def test_an_unknown_value_hides_only_what_it_is_of() -> None:
    unknown = {**LANDS, "toolkit": {"enabled": UNKNOWN_STRING_VALUE}}
    messages = findings(
        gpu_operator_coherent,
        *together(pool(), release("gpu-operator", **unknown)),
    )
    kind = "kubernetes:helm.sh/v3:Release"
    assert messages == [not_known("string value at .values.toolkit.enabled", "release", kind)]


def test_managed_pools_are_left_to_the_rule_of_owners() -> None:
    assert found(pool(**MANAGED), **AKS) == []


def cluster_policy(**values: Any) -> Resource:
    return Resource(
        type="kubernetes:nvidia.com/v1:ClusterPolicy",
        name="policy",
        properties={"spec": {**LANDS, **values}},
    )


SETTINGS: list[dict[str, Any]] = [
    {**driver, **toolkit, **runtime}
    for driver in ({}, {"driver": OFF}, {"driver": ON})
    for toolkit in ({}, {"toolkit": OFF}, {"toolkit": ON})
    for runtime in ({}, {"operator": {"runtimeClass": "nvidia"}}, {"operator": AKS["operator"]})
]


@pytest.mark.parametrize("gpu", [pool(), pool(**NO_DRIVER)])
@pytest.mark.parametrize("off", [False, "false"])
@pytest.mark.parametrize("policy", [[], [cluster_policy(**AKS)], [cluster_policy(driver=OFF)]])
def test_a_release_without_a_cluster_policy_makes_no_operands(
    gpu: Resource, off: Any, policy: list[Resource]
) -> None:
    """A stack with a ClusterPolicy of its own was refused for the release's unused values."""
    expected = findings(gpu_operator_coherent, *together(gpu, *policy))
    for values in SETTINGS:
        chart = release("gpu-operator", **LANDS, **values, clusterPolicy={"deployCR": off})
        assert findings(gpu_operator_coherent, *together(gpu, chart, *policy)) == expected
