"""What brings drivers and device plugins to nodes, in all the ways in which programs install it."""

from dataclasses import replace
from typing import Any

import pytest

from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from policies.rules.one_gpu_stack_owner import one_gpu_stack_owner
from tests.policies.gpu_stacks import (
    SPECIALIZED,
    TOLERATION,
    daemon_set,
    pool,
    release,
    together,
    unclear,
)
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import CPU

EVERYWHERE: dict[str, Any] = {"operator": "Exists"}
OPERATOR: dict[str, Any] = {"daemonsets": {"tolerations": [EVERYWHERE]}}


def of(kind: str, name: str = "it", **properties: Any) -> Resource:
    return Resource(type=f"kubernetes:{kind}", name=name, properties=properties)


@pytest.mark.parametrize(
    ("software", "is_told"),
    [
        (release("./charts/gpu-operator-v25.3.0-rc.1.tgz", **OPERATOR), True),
        (release("https://a/b/gpu-operator-25.3.1+1.tgz?download=1", **OPERATOR), True),
        (release("oci://ghcr.io/nvidia/gpu-operator:v25.3.0", **OPERATOR), True),
        (release("gpu-operator-dashboards", **OPERATOR), False),
        (release("nvdp/nvidia-device-plugin", tolerations=[EVERYWHERE], affinity={}), True),
        (release("./nvidia-device-plugin/", tolerations=[EVERYWHERE], affinity={}), True),
        (release("nvidia-device-plugin", devicePlugin={"enabled": False}), False),
        (of("apps/v1:DaemonSetList", items=[daemon_set(EVERYWHERE).properties]), True),
    ],
)
def test_each_way_of_installing_it(software: Resource, is_told: bool) -> None:
    """Flat mirrors, lists and release candidates were passed."""
    stack = together(pool(**SPECIALIZED), software)
    found = findings(one_gpu_stack_owner, *stack)
    assert any("gets the device plugin" in said for said in found) == is_told


@pytest.mark.parametrize(
    "kind",
    ["yaml:ConfigFile", "yaml/v2:ConfigGroup", "kustomize/v2:Directory", "helm.sh/v3:Chart"],
)
def test_what_is_not_rendered_yet_is_told_once(kind: str) -> None:
    """On a cluster that was still to come, a plugin in a file was passed in silence."""
    file = of(kind, name="files")
    stack = together(pool(), daemon_set(), file)
    (said,) = unclear(one_gpu_stack_owner, *stack)
    assert said == (
        f"What files (kubernetes:{kind}) installs is not seen, so whether it brings a driver or a "
        "device plugin is not certain."
    )
    # It may be a plugin that tolerates the taints.
    assert findings(device_plugin_tolerates_pools, *stack) == []
    assert len(unclear(device_plugin_tolerates_pools, *stack)) == 1
    # Its resources are judged by themselves; and without GPUs nobody asks.
    part = replace(daemon_set(TOLERATION), parent="files")
    assert unclear(one_gpu_stack_owner, *together(pool(), part, file)) == []
    assert unclear(one_gpu_stack_owner, *together(pool(vmSize=CPU), file)) == []


def test_a_chart_of_the_plugin_is_judged_by_its_values_until_it_is_rendered() -> None:
    chart = of("helm.sh/v4:Chart", chart="nvidia-device-plugin", values={"affinity": {}})
    (said,) = findings(device_plugin_tolerates_pools, *together(pool(), chart))
    assert "which the chart it does not tolerate" in said
    part = replace(daemon_set(TOLERATION), parent="it")
    assert findings(device_plugin_tolerates_pools, *together(pool(), chart, part)) == []
