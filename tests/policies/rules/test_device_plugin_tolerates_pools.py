from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from tests.policies.gpu_stacks import (
    MANAGED,
    NO_DRIVER,
    POOL_LABEL,
    SPECIALIZED,
    TOLERATION,
    asks,
    daemon_set,
    not_known,
    pool,
    release,
    required,
    together,
    unclear,
)
from tests.policies.policy_harness import Resource, findings


def repelled(taints: str, by: str = "the DaemonSet plugin") -> str:
    return (
        f"This pool has the taints {taints}, which {by} does not tolerate, so Kubernetes cannot "
        "schedule its GPUs. Add tolerations for them to the device plugin."
    )


SKU = repelled("sku=gpu:NoSchedule")
BY_OPERATOR = repelled("sku=gpu:NoSchedule", "the GPU Operator")


def tolerated(*resources: Resource) -> list[str]:
    """What both rules say, the one of what is certain before the one of what is possible."""
    stack, rule = together(*resources), device_plugin_tolerates_pools
    return [*dict.fromkeys([*findings(rule, *stack), *unclear(rule, *stack)])]


@pytest.mark.parametrize(
    ("gpu", "plugin", "expected"),
    [
        (pool(), daemon_set(TOLERATION), []),
        (pool(nodeTaints=None), daemon_set(), []),
        (
            pool(nodeTaints=["sku=gpu:NoSchedule", "team=a:NoExecute"], scaleSetPriority="Spot"),
            daemon_set(TOLERATION),
            [repelled(
                "team=a:NoExecute, kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
            )],
        ),
        # Pools that the plugin does not select, or that have one.
        (pool(), daemon_set(affinity=required([asks(POOL_LABEL, "NotIn", "gpu")])), []),
        (pool(**SPECIALIZED), daemon_set(), []),
        (pool(**MANAGED), daemon_set(), []),
        (pool(vmSize="Standard_ND96isr_MI300X_v5"), daemon_set(), []),
        # gpu-pool-linux-only has them.
        (pool(osType="windows"), daemon_set(), []),
        # The system is read only if a toleration is missing.
        (pool(osType=UNKNOWN_STRING_VALUE), daemon_set(TOLERATION), []),
        (
            pool(osType=UNKNOWN_STRING_VALUE),
            daemon_set(),
            [not_known("string value at .osType", "gpu")],
        ),
    ],
)  # fmt: skip
def test_pools(gpu: Resource, plugin: Resource, expected: list[str]) -> None:
    assert tolerated(gpu, plugin) == expected
    assert tolerated(gpu) == []


@pytest.mark.parametrize(
    ("changes", "pods"),
    [
        ({}, {"affinity": required([asks("nvidia.com/gpu.present", "In", "true")])}),
        # An operator from another stack serves it; its taint, which keeps the plugin away on
        # purpose, was refused.
        (NO_DRIVER, {}),
        ({"vmSize": "Standard_NCC40ads_H100_v5"}, {}),
        ({"vmSize": "Standard_NC9_v9"}, {}),
    ],
)
def test_of_a_pool_that_it_may_not_be_for_an_advisory_rule_speaks(
    changes: dict[str, Any], pods: dict[str, Any]
) -> None:
    stack = together(pool(**changes), daemon_set(**pods))
    assert findings(device_plugin_tolerates_pools, *stack) == []
    assert unclear(device_plugin_tolerates_pools, *stack) == [SKU]


def test_one_plugin_that_lands_is_enough() -> None:
    first, second = daemon_set(name="a"), daemon_set(name="b")
    assert tolerated(pool(), first, daemon_set(TOLERATION, name="c")) == []
    assert tolerated(pool(), first, second) == [
        repelled("sku=gpu:NoSchedule", "the DaemonSet a"),
        repelled("sku=gpu:NoSchedule", "the DaemonSet b"),
    ]
    dra: dict[str, Any] = {"tolerations": [TOLERATION], "affinity": {}}
    driver = release("nvidia-dra-driver-gpu", gpuResourcesEnabledOverride=True, kubeletPlugin=dra)
    assert tolerated(pool(), first, driver) == []
    # What cannot be read may be one, too.
    (found,) = tolerated(pool(), first, daemon_set(image=UNKNOWN_STRING_VALUE, name="other"))
    assert found.startswith("can't run: ")


@pytest.mark.parametrize(
    ("chart", "by"),
    [("nvidia-device-plugin", "the Helm release release"), ("gpu-operator", "the GPU Operator")],
)
def test_charts_are_looked_at_as_well(chart: str, by: str) -> None:
    assert tolerated(pool(), release(chart)) == [repelled("sku=gpu:NoSchedule", by)]
    assert tolerated(pool(nodeTaints=["nvidia.com/gpu:NoSchedule"]), release(chart)) == []


@pytest.mark.parametrize("part", ["operands", "device-plugin", "driver"])
def test_a_switched_off_part_of_the_operator_needs_no_toleration(part: str) -> None:
    labelled, operator = pool(nodeLabels={f"nvidia.com/gpu.deploy.{part}": "false"}), "gpu-operator"
    assert tolerated(labelled, release(operator)) == [BY_OPERATOR] * (part == "driver")
    # Nor does the plugin land that it leaves out.
    lands = release(operator, daemonsets={"tolerations": [TOLERATION]})
    assert tolerated(labelled, daemon_set(), lands) == [SKU] * (part != "driver")
