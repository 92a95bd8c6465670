"""Device plugins where they would fail, and those that leave the partitions of MIG out."""

from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.device_plugin_mig_strategy import device_plugin_mig_strategy
from policies.rules.device_plugin_on_gpu_nodes import device_plugin_on_gpu_nodes
from tests.policies.gpu_stacks import (
    POOL_LABEL,
    TOLERATION,
    asks,
    daemon_set,
    pool,
    release,
    required,
    together,
    unclear,
)
from tests.policies.policy_harness import Resource, findings, findings_by_name
from tests.policies.pool_variants import CPU

SYSTEM: dict[str, Any] = {"vmSize": CPU, "mode": "System", "nodeTaints": []}
BOUND = required([asks(POOL_LABEL, "In", "gpu")])
WAITS = {"env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}]}


def shell(script: str) -> dict[str, Any]:
    return {"command": ["sh", "-c", script]}


AMD: dict[str, Any] = {"vmSize": "Standard_ND96isr_MI300X_v5", "nodeTaints": []}
WINDOWS: dict[str, Any] = {"vmSize": CPU, "osType": "Windows", "nodeTaints": []}


def certain(*resources: Resource) -> list[str]:
    return findings(device_plugin_on_gpu_nodes, *together(*resources))


def possible(*resources: Resource) -> list[str]:
    return unclear(device_plugin_on_gpu_nodes, *together(*resources))


def fails_on(where: str, runs: str = "runs") -> str:
    return (
        f"This device plugin {runs} on {where}: it crashes there repeatedly, and an update that "
        "waits for it fails. Bind it to the GPU pools by node affinity."
    )


@pytest.mark.parametrize(
    ("other", "pods", "reason"),
    [
        (SYSTEM, {}, "has no NVIDIA GPUs"),
        (AMD, {}, "has no NVIDIA GPUs"),
        (WINDOWS, {}, "runs Windows"),
        # On Windows its image does not start, whatever its settings are.
        (WINDOWS, {"container": WAITS}, "runs Windows"),
        (WINDOWS, {"nodeSelector": {"kubernetes.io/os": "linux"}}, None),
        (SYSTEM, {"affinity": BOUND}, None),
        (SYSTEM, {"nodeSelector": {"accelerator": "nvidia"}}, None),
        (SYSTEM, {"container": WAITS}, None),
        (SYSTEM, {"container": {"args": ["--fail-on-init-error=false"]}}, None),
        (SYSTEM, {"container": {"args": ["--fail-on-init-error"]}}, "has no NVIDIA GPUs"),
        # Of 2018: it waits for ever.
        (SYSTEM, {"image": "nvidia/k8s-device-plugin:1.11"}, None),
        ({**SYSTEM, "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}, {}, None),
    ],
)
def test_a_plugin_on_a_pool_of_the_stack(
    other: dict[str, Any], pods: dict[str, Any], reason: str | None
) -> None:
    """The DaemonSet of this project itself went to the system pool, where it crashed: an update
    waited ten minutes for it, and failed."""
    stack = together(pool(), pool("system", **other), daemon_set(TOLERATION, **pods))
    expected = [("plugin", fails_on(f"the pool system, which {reason}"))] if reason else []
    assert findings_by_name(device_plugin_on_gpu_nodes, *stack) == expected


@pytest.mark.parametrize(
    "pods",
    [
        {"image": "nvcr.io/nvidia/k8s-device-plugin:latest"},
        {"container": {"envFrom": [{"configMapRef": {"name": "c"}}]}},
        {"container": {"args": ["--config-file", "/etc/plugin.yaml"]}},
        {"affinity": required([asks("nvidia.com/gpu.present", "In", "true")])},
        # A shell can set what it likes, and arguments can refer to the environment.
        {"container": shell("FAIL_ON_INIT_ERROR=false exec nvidia-device-plugin")},
        # It waits for the driver, and the plugin with it.
        {"initContainers": [{"name": "wait", "image": "busybox", "command": ["sleep", "inf"]}]},
    ],
)  # fmt: skip
def test_possible_problems_are_not_refused(pods: dict[str, Any]) -> None:
    stack = pool(), pool("system", **SYSTEM), daemon_set(TOLERATION, **pods)
    assert certain(*stack) == []
    assert possible(*stack) == [fails_on("the pool system, which has no NVIDIA GPUs", "can run")]


@pytest.mark.parametrize(
    ("pods", "lands"),
    [
        ({}, True),
        ({"nodeSelector": {"kubernetes.io/os": "linux"}}, True),
        ({"affinity": required([asks(POOL_LABEL, "NotIn", "gpu")])}, True),
        ({"affinity": BOUND}, False),
        ({"affinity": required([asks("nvidia.com/gpu.present", "Exists")])}, False),
        ({"nodeSelector": {"team": "gpu"}}, False),
        ({"container": WAITS}, False),
    ],
)
def test_nodes_that_are_not_in_the_stack(pods: dict[str, Any], lands: bool) -> None:
    """The pools of a cluster that exists already, and the nodes that AKS provisions by itself."""
    where = fails_on("nodes without GPUs, because nothing binds it to GPU pools", "can run")
    stack = pool(), daemon_set(TOLERATION, **pods)
    assert certain(*stack) == []
    assert possible(*stack) == ([where] if lands else [])


# MIG.

MIG: dict[str, Any] = {"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"}


LANDS: dict[str, Any] = {"daemonsets": {"tolerations": [TOLERATION]}}


def strategy(*resources: Resource) -> list[str]:
    return findings(device_plugin_mig_strategy, *together(*resources))


def strategy_unclear(*resources: Resource) -> list[str]:
    return unclear(device_plugin_mig_strategy, *together(*resources))


@pytest.mark.parametrize(
    ("plugin", "refused"),
    [
        (daemon_set(TOLERATION), True),
        (daemon_set(TOLERATION, container={"args": ["--mig-strategy", "none"]}), True),
        (daemon_set(TOLERATION, container={"args": ["--mig-strategy=mixed"]}), False),
        (daemon_set(TOLERATION, container={"env": [{"name": "MIG_STRATEGY", "value": "single"}]}),
         False),
        (daemon_set(TOLERATION, container={"env": [{"name": "MIG_STRATEGY", "valueFrom": {}}]}),
         False),
        (daemon_set(TOLERATION, container={"args": ["--config-file=/c"]}), False),
        (daemon_set(TOLERATION, container=shell("MIG_STRATEGY=mixed exec nvidia-device-plugin")),
         False),
        (daemon_set(TOLERATION, container={"args": ["--mig-strategy=$(S)"]}), False),
        (daemon_set(TOLERATION, container={"command": ["/usr/bin/nvidia-device-plugin"]}), True),
        # It does not land there.
        (daemon_set(), False),
        (release("nvidia-device-plugin", tolerations=[TOLERATION]), True),
        (release("nvidia-device-plugin", tolerations=[TOLERATION], migStrategy="single"), False),
        # The operator's own default is a strategy.
        (release("gpu-operator", **LANDS), False),
        (release("gpu-operator", **LANDS, mig={"strategy": "none"}), True),
    ],
)  # fmt: skip
def test_a_mig_pool_whose_plugin_has_no_strategy(plugin: Resource, refused: bool) -> None:
    """An A100 cut into seven was one GPU: without a strategy the plugin offers it as a whole.

    The chart's own affinity asks for labels that are not known before there are nodes.
    """
    stack = pool(**MIG), plugin
    is_chart = plugin.properties.get("chart") == "nvidia-device-plugin"
    certain, possible = strategy(*stack), strategy_unclear(*stack)
    assert (len(certain), len(possible)) == ((0, refused) if is_chart else (refused, 0))
    assert all("has gpuInstanceProfile MIG1g" in text for text in (*certain, *possible))


def test_a_plugin_that_is_not_known_may_have_a_strategy() -> None:
    unknown = daemon_set(TOLERATION, image=UNKNOWN_STRING_VALUE, name="b")
    stack = pool(**MIG), daemon_set(TOLERATION), unknown
    assert all(text.startswith("can't run: ") for text in strategy(*stack))
    assert any("has no MIG strategy" in text for text in strategy_unclear(*stack))


def test_a_patch_may_give_the_plugin_a_strategy() -> None:
    patch = Resource(type="kubernetes:apps/v1:DaemonSetPatch", name="strategy", properties={})
    stack = pool(**MIG), daemon_set(TOLERATION), patch
    assert (len(strategy(*stack)), len(strategy_unclear(*stack))) == (0, 1)


@pytest.mark.parametrize(
    ("nvidia", "refused"), [({}, 1), ({"migStrategy": "None"}, 1), ({"migStrategy": "Single"}, 0)]
)
def test_a_mig_pool_whose_gpus_aks_manages(nvidia: dict[str, str], refused: int) -> None:
    """AKS offered one GPU in place of seven."""
    settings = {"managementMode": "Managed", **nvidia}
    managed: dict[str, Any] = {"gpuProfile": {"nvidia": settings}}
    told = strategy(pool(**MIG, **managed))
    assert len(told) == refused
    assert all("AKS manages its GPUs without a MIG strategy" in text for text in told)
    assert strategy_unclear(pool(**MIG, **managed)) == []
