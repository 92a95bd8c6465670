from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.device_plugin_tolerates_pools import (
    device_plugin_tolerates_pools,
    device_plugin_toleration_unclear,
)
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
)
from tests.policies.policy_harness import Resource, findings, findings_by_name
from tests.policies.pool_variants import CLUSTER, changed


def repelled(taints: str, by: str = "the DaemonSet plugin") -> str:
    return (
        f"This pool has the taints {taints}, which {by} does not tolerate, so Kubernetes cannot "
        "schedule its GPUs. Add tolerations for them to the device plugin."
    )


def tolerated(*resources: Resource) -> list[str]:
    """What both rules say, the one of what is certain before the one of what is possible."""
    rules = device_plugin_tolerates_pools, device_plugin_toleration_unclear
    said = (findings(rule, *together(*resources)) for rule in rules)
    return [*dict.fromkeys(text for texts in said for text in texts)]


def test_a_plugin_that_tolerates_everything_passes() -> None:
    assert tolerated(pool(), daemon_set(TOLERATION)) == []
    assert tolerated(pool(nodeTaints=None), daemon_set()) == []
    assert tolerated(pool(nodeTaints=["a:PreferNoSchedule"]), daemon_set()) == []


def test_a_plugin_that_does_not() -> None:
    taints = ["sku=gpu:NoSchedule", "team=a:NoExecute"]
    found = tolerated(pool(nodeTaints=taints), daemon_set(TOLERATION))
    assert found == [repelled("team=a:NoExecute")]


@pytest.mark.parametrize(
    ("changes", "taints"),
    [
        ({"nodeTaints": None, "scaleSetPriority": "Spot"},
         "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"),
        ({"nodeTaints": ["a=b:NoSchedule", "c:NoExecute"]}, "a=b:NoSchedule, c:NoExecute"),
    ],
)  # fmt: skip
def test_all_taints_are_told(changes: dict[str, Any], taints: str) -> None:
    assert tolerated(pool(**changes), daemon_set(TOLERATION)) == [repelled(taints)]


def test_pools_that_the_plugin_does_not_select_pass() -> None:
    elsewhere = required([asks(POOL_LABEL, "NotIn", "gpu")])
    assert tolerated(pool(), daemon_set(affinity=elsewhere)) == []
    assert tolerated(pool(**SPECIALIZED), daemon_set()) == []
    assert tolerated(pool(**MANAGED), daemon_set()) == []
    assert tolerated(pool(vmSize="Standard_ND96isr_MI300X_v5"), daemon_set()) == []
    assert tolerated(pool()) == []


def test_of_a_pool_that_it_may_not_be_for_an_advisory_rule_speaks() -> None:
    discovered = required([asks("nvidia.com/gpu.present", "In", "true")])
    stack = together(pool(), daemon_set(affinity=discovered))
    assert findings(device_plugin_tolerates_pools, *stack) == []
    assert findings(device_plugin_toleration_unclear, *stack) == [repelled("sku=gpu:NoSchedule")]


@pytest.mark.parametrize("changes", [NO_DRIVER, {"vmSize": "Standard_NCC40ads_H100_v5"}])
def test_a_pool_without_a_driver_may_be_anothers(changes: dict[str, Any]) -> None:
    """An operator from another stack serves it; its taint, which keeps the plugin away on purpose,
    was refused."""
    stack = together(pool(**changes), daemon_set())
    assert findings(device_plugin_tolerates_pools, *stack) == []
    assert findings(device_plugin_toleration_unclear, *stack) == [repelled("sku=gpu:NoSchedule")]


def test_one_plugin_that_lands_is_enough() -> None:
    first, second = daemon_set(name="a"), daemon_set(name="b")
    assert tolerated(pool(), first, daemon_set(TOLERATION, name="c")) == []
    assert tolerated(pool(), first, second) == [
        repelled("sku=gpu:NoSchedule", "the DaemonSet a"),
        repelled("sku=gpu:NoSchedule", "the DaemonSet b"),
    ]


def test_charts_are_looked_at_as_well() -> None:
    for chart, by in (
        ("nvidia-device-plugin", "the Helm release release"),
        ("gpu-operator", "the GPU Operator"),
    ):
        assert tolerated(pool(), release(chart)) == [repelled("sku=gpu:NoSchedule", by)]
        assert tolerated(pool(nodeTaints=["nvidia.com/gpu:NoSchedule"]), release(chart)) == []
    served = release("gpu-operator", daemonsets={"tolerations": [TOLERATION]})
    assert tolerated(pool(), served) == []


@pytest.mark.parametrize(
    "label", ["nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.device-plugin"]
)
def test_a_switched_off_part_of_the_operator_needs_no_toleration(label: str) -> None:
    switched_off, operator = pool(nodeLabels={label: "false"}), release("gpu-operator")
    assert tolerated(switched_off, operator) == []
    switched_on = pool(nodeLabels={label: "true"})
    assert tolerated(switched_on, operator) == [repelled("sku=gpu:NoSchedule", "the GPU Operator")]
    # Nor does the plugin land that it leaves out.
    lands = release("gpu-operator", daemonsets={"tolerations": [TOLERATION]})
    assert tolerated(switched_on, daemon_set(), lands) == []
    assert tolerated(switched_off, daemon_set(), lands) == [repelled("sku=gpu:NoSchedule")]


def test_only_the_operators_plugin_matters() -> None:
    labels = {"nvidia.com/gpu.deploy.driver": "false"}
    assert tolerated(pool(nodeLabels=labels), release("gpu-operator")) == [
        repelled("sku=gpu:NoSchedule", "the GPU Operator")
    ]


def test_windows_pools_pass() -> None:
    for system, expected in (("Windows", 0), ("windows", 0), ("linux", 1), (None, 1)):
        found = tolerated(pool(osType=system), daemon_set())
        assert len(found) == expected


def test_the_os_is_read_only_if_a_toleration_is_missing() -> None:
    unknown = pool(osType=UNKNOWN_STRING_VALUE)
    assert tolerated(unknown, daemon_set(TOLERATION)) == []
    assert tolerated(unknown, daemon_set()) == [not_known("string value at .osType", "gpu")]


def test_findings_name_their_pool() -> None:
    pools = pool("a"), pool("b", nodeTaints=["x:NoSchedule"])
    found = findings_by_name(
        device_plugin_tolerates_pools, *together(*pools, daemon_set(TOLERATION))
    )
    assert [name for name, _ in found] == ["b"]


def test_unknown_values_hide_no_findings() -> None:
    unknown = pool("a", vmSize=UNKNOWN_STRING_VALUE)
    assert tolerated(unknown, pool("b"), daemon_set()) == [
        repelled("sku=gpu:NoSchedule"),
        not_known("string value at .vmSize", "a"),
    ]
    other = daemon_set(image=UNKNOWN_STRING_VALUE, name="other")
    (found,) = tolerated(pool(), daemon_set(), other)
    assert found.startswith("can't run: ")


def test_inline_pools_are_reported_by_their_name_and_path() -> None:
    (found,) = tolerated(CLUSTER.resource(changed({})), daemon_set())
    assert found.startswith(
        "The inline pool gpu (agentPoolProfiles[0]) has the taints sku=gpu:NoSchedule"
    )
