"""What brings drivers and device plugins to nodes, in all the ways in which programs install it."""

from dataclasses import replace
from typing import Any

import pytest

from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from policies.rules.one_gpu_stack_owner import gpu_stack_owner_unclear, one_gpu_stack_owner
from tests.policies.gpu_stacks import SPECIALIZED, TOLERATION, daemon_set, pool, release, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, findings, pack_says

EVERYWHERE: dict[str, Any] = {"operator": "Exists"}
OPERATOR: dict[str, Any] = {"daemonsets": {"tolerations": [EVERYWHERE]}}


def of(kind: str, name: str = "it", **properties: Any) -> Resource:
    return Resource(type=f"kubernetes:{kind}", name=name, properties=properties)


def twice(software: Resource) -> tuple[bool, bool]:
    """Whether a pool with a plugin of its own is refused on account of the software, or told."""
    stack = together(pool(**SPECIALIZED), software)
    return (
        any("gets the device plugin" in said for said in findings(one_gpu_stack_owner, *stack)),
        any("can get the dev" in said for said in findings(gpu_stack_owner_unclear, *stack)),
    )


CERTAIN, POSSIBLE, NOTHING = (True, False), (False, True), (False, False)
LISTED: dict[str, Any] = {"items": [daemon_set(EVERYWHERE).properties]}


@pytest.mark.parametrize(
    ("software", "expected"),
    [
        (release("gpu-operator", **OPERATOR), CERTAIN),
        (release("./charts/gpu-operator-v25.3.0-rc.1.tgz", **OPERATOR), CERTAIN),
        (release("https://a/b/gpu-operator-25.3.1+1.tgz?download=1", **OPERATOR), CERTAIN),
        (release("oci://ghcr.io/nvidia/gpu-operator:v25.3.0", **OPERATOR), CERTAIN),
        (release("gpu-operator-dashboards", **OPERATOR), NOTHING),
        (release("gpu-operator", **OPERATOR, devicePlugin={"enabled": "false"}), NOTHING),
        (release("nvidia-device-plugin", tolerations=[EVERYWHERE], affinity={}), CERTAIN),
        (release("nvidia-device-plugin", devicePlugin={"enabled": False}), NOTHING),
        (of("apps/v1:DaemonSetList", **LISTED), CERTAIN),
        (replace(daemon_set(EVERYWHERE), type="kubernetes:apps.kruise.io/v1:DaemonSet"), POSSIBLE),
        (daemon_set(EVERYWHERE, image="a.azurecr.io/mirror/nvidia-k8s-device-plugin:1"), CERTAIN),
    ],
)
def test_each_way_of_installing_it(software: Resource, expected: tuple[bool, bool]) -> None:
    """Flat mirrors, lists and release candidates were passed."""
    assert twice(software) == expected


def test_files_of_values_can_say_more_than_is_seen() -> None:
    """Tolerations in a file were held to be missing."""
    plugin = release("nvidia-device-plugin", affinity={}, tolerations=[])
    with_file = replace(plugin, properties={**plugin.properties, "valueYamlFiles": [{}]})
    assert findings(device_plugin_tolerates_pools, *together(pool(), plugin))
    assert not findings(device_plugin_tolerates_pools, *together(pool(), with_file))


RENDERING = [
    "yaml:ConfigFile", "yaml:ConfigGroup", "yaml/v2:ConfigFile", "yaml/v2:ConfigGroup",
    "kustomize:Directory", "kustomize/v2:Directory", "helm.sh/v3:Chart", "helm.sh/v4:Chart",
]  # fmt: skip


@pytest.mark.parametrize("kind", RENDERING)
def test_charts_that_are_not_rendered_yet_are_named(kind: str) -> None:
    """On a cluster that was still to come, a plugin in a file was passed in silence."""
    file = of(kind, name="files")
    stack = together(pool(), daemon_set(TOLERATION), file)
    for rule in (one_gpu_stack_owner, device_plugin_tolerates_pools):
        (said,) = findings(rule, *stack)
        assert said.startswith(f"{CANNOT_RUN}: files (kubernetes:{kind}) has no child resources")
    # A preview had the same line from nine rules.
    both = pack_says([one_gpu_stack_owner, device_plugin_tolerates_pools], *stack, config={})
    assert sum("has no child resources" in said for _, _, said in both) == 1
    # Its resources are judged by themselves.
    part = replace(daemon_set(TOLERATION), parent="files")
    assert findings(one_gpu_stack_owner, *together(pool(), part, file)) == []


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_a_chart_of_the_plugin_is_judged_by_its_values_until_it_is_rendered(version: str) -> None:
    chart = of(f"helm.sh/{version}:Chart", chart="nvidia-device-plugin", values={"affinity": {}})
    (said,) = findings(device_plugin_tolerates_pools, *together(pool(), chart))
    assert "which the chart it does not tolerate" in said
    part = replace(daemon_set(TOLERATION), parent="it")
    assert findings(device_plugin_tolerates_pools, *together(pool(), chart, part)) == []
