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
AMD: dict[str, Any] = {"vmSize": "Standard_ND96isr_MI300X_v5", "nodeTaints": []}
WINDOWS: dict[str, Any] = {"vmSize": CPU, "osType": "Windows", "nodeTaints": []}
BOUND = required([asks(POOL_LABEL, "In", "gpu")])
WAITS = {"env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}]}


def shell(script: str) -> dict[str, Any]:
    return {"command": ["sh", "-c", script]}


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
        # On Windows its image does not start, whatever its settings are.
        (WINDOWS, {"container": WAITS}, "runs Windows"),
        (WINDOWS, {"nodeSelector": {"kubernetes.io/os": "linux"}}, None),
        (SYSTEM, {"affinity": BOUND}, None),
        (SYSTEM, {"nodeSelector": {"accelerator": "nvidia"}}, None),
        (SYSTEM, {"container": WAITS}, None),
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
        {"affinity": required([asks("nvidia.com/gpu.present", "In", "true")])},
        # A shell can set what it likes, and arguments can refer to the environment.
        {"container": shell("FAIL_ON_INIT_ERROR=false exec nvidia-device-plugin")},
        # It waits for the driver, and the plugin with it.
        {"initContainers": [{"name": "wait", "image": "busybox", "command": ["sleep", "inf"]}]},
    ],
)
def test_possible_problems_are_not_refused(pods: dict[str, Any]) -> None:
    stack = together(pool(), pool("system", **SYSTEM), daemon_set(TOLERATION, **pods))
    assert findings(device_plugin_on_gpu_nodes, *stack) == []
    where = "the pool system, which has no NVIDIA GPUs"
    assert unclear(device_plugin_on_gpu_nodes, *stack) == [fails_on(where, "can run")]


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
    stack = together(pool(), daemon_set(TOLERATION, **pods))
    assert findings(device_plugin_on_gpu_nodes, *stack) == []
    assert unclear(device_plugin_on_gpu_nodes, *stack) == ([where] if lands else [])


# MIG.

MIG: dict[str, Any] = {"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"}
LANDS: dict[str, Any] = {"daemonsets": {"tolerations": [TOLERATION]}}


def told(*resources: Resource) -> tuple[int, int]:
    """How many findings are certain, and how many possible."""
    stack, rule = together(*resources), device_plugin_mig_strategy
    texts = findings(rule, *stack), unclear(rule, *stack)
    certain, possible = ([one for one in each if "whole GPUs" in one] for each in texts)
    assert all("has gpuInstanceProfile MIG1g" in text for text in (*certain, *possible))
    return len(certain), len(possible)


def set_by(**container: Any) -> Resource:
    return daemon_set(TOLERATION, container=container)


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (daemon_set(TOLERATION), (1, 0)),
        (set_by(args=["--mig-strategy", "none"]), (1, 0)),
        (set_by(args=["--mig-strategy=mixed"]), (0, 0)),
        (set_by(env=[{"name": "MIG_STRATEGY", "value": "single"}]), (0, 0)),
        (set_by(args=["--config-file=/c"]), (0, 0)),
        (daemon_set(TOLERATION, container=shell("MIG_STRATEGY=mixed exec a")), (0, 0)),
        # It does not land there.
        (daemon_set(), (0, 0)),
        # The chart's own affinity asks for labels that are not known before there are nodes.
        (release("nvidia-device-plugin", tolerations=[TOLERATION]), (0, 1)),
        (release("nvidia-device-plugin", tolerations=[TOLERATION], migStrategy="single"), (0, 0)),
        (release("nvidia-device-plugin", tolerations=[TOLERATION], config={"name": "c"}), (0, 0)),
        # The operator's own default is a strategy.
        (release("gpu-operator", **LANDS), (0, 0)),
        (release("gpu-operator", **LANDS, mig={"strategy": "none"}), (1, 0)),
    ],
)
def test_a_mig_pool_whose_plugin_has_no_strategy(
    plugin: Resource, expected: tuple[int, int]
) -> None:
    """An A100 cut into seven was one GPU: without a strategy the plugin offers it as a whole."""
    assert told(pool(**MIG), plugin) == expected


@pytest.mark.parametrize(
    "other",
    [
        daemon_set(TOLERATION, image=UNKNOWN_STRING_VALUE, name="b"),
        Resource(type="kubernetes:apps/v1:DaemonSetPatch", name="strategy", properties={}),
    ],
)
def test_what_is_not_known_and_a_patch_may_have_a_strategy(other: Resource) -> None:
    assert told(pool(**MIG), daemon_set(TOLERATION), other) == (0, 1)


@pytest.mark.parametrize(
    ("nvidia", "refused"), [({}, 1), ({"migStrategy": "None"}, 1), ({"migStrategy": "Single"}, 0)]
)
def test_a_mig_pool_whose_gpus_aks_manages(nvidia: dict[str, str], refused: int) -> None:
    """AKS offered one GPU in place of seven."""
    managed: dict[str, Any] = {"gpuProfile": {"nvidia": {"managementMode": "Managed", **nvidia}}}
    assert told(pool(**MIG, **managed)) == (refused, 0)
