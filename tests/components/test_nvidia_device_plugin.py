from collections.abc import Callable
from typing import Any

import pytest

from components import GpuNodePool, GpuNodePoolArgs, NvidiaDevicePlugin, NvidiaDevicePluginArgs
from tests.conftest import Deploy, Graph

# The article's DaemonSet, field by field.
ARTICLE = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "gpu-resources"},
    "spec": {
        "selector": {"matchLabels": {"name": "nvidia-device-plugin-ds"}},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {
                "annotations": {"scheduler.alpha.kubernetes.io/critical-pod": ""},
                "labels": {"name": "nvidia-device-plugin-ds"},
            },
            "spec": {
                "tolerations": [
                    {"key": "CriticalAddonsOnly", "operator": "Exists"},
                    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                ],
                "containers": [
                    {
                        "name": "nvidia-device-plugin-ctr",
                        "image": "mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11",
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volumeMounts": [
                            {
                                "name": "device-plugin",
                                "mountPath": "/var/lib/kubelet/device-plugins",
                            }
                        ],
                    }
                ],
                "volumes": [
                    {
                        "name": "device-plugin",
                        "hostPath": {"path": "/var/lib/kubelet/device-plugins"},
                    }
                ],
            },
        },
    },
}


def pool(name: str, **more: Any) -> GpuNodePool:
    return GpuNodePool(
        name,
        GpuNodePoolArgs(
            resource_group_name="g",
            cluster_name="c",
            pool_name=name,
            vm_size="Standard_NC8as_T4_v3",
            **more,
        ),
    )


def plugin(**args: Any) -> NvidiaDevicePlugin:
    return NvidiaDevicePlugin("device-plugin", NvidiaDevicePluginArgs(**args))


def pod(deploy: Deploy, program: Callable[[], object]) -> dict[str, Any]:
    spec = deploy(program).only("DaemonSet").inputs["spec"]["template"]["spec"]
    return dict(spec)


@pytest.mark.parametrize("preview", [True, False])
def test_is_the_articles_by_default(deploy: Deploy, preview: bool) -> None:
    graph = deploy(plugin, preview=preview)

    namespace, daemon_set = graph.only("Namespace"), graph.only("DaemonSet")
    assert (namespace.name, namespace.parent) == ("device-plugin", "device-plugin")
    assert namespace.inputs["metadata"] == {"name": "gpu-resources"}
    assert (daemon_set.name, daemon_set.parent) == ("device-plugin", "device-plugin")
    assert daemon_set.inputs == ARTICLE


def test_of_today_has_a_priority_and_bounds(deploy: Deploy) -> None:
    graph = deploy(lambda: plugin(edition="today", namespace="elsewhere"))

    daemon_set = graph.only("DaemonSet").inputs
    template = daemon_set["spec"]["template"]
    assert daemon_set["metadata"]["namespace"] == "elsewhere"
    assert "annotations" not in template["metadata"]
    assert template["spec"]["priorityClassName"] == "system-node-critical"
    (container,) = template["spec"]["containers"]
    assert container["image"] == "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
    assert container["resources"] == {
        "requests": {"cpu": "50m", "memory": "64Mi"},
        "limits": {"memory": "256Mi"},
    }


def test_takes_another_image(deploy: Deploy) -> None:
    (container,) = pod(deploy, lambda: plugin(image="my/plugin:1"))["containers"]

    assert container["image"] == "my/plugin:1"


def test_tolerates_what_its_pools_are_tainted_with_each_once(deploy: Deploy) -> None:
    def program() -> None:
        plugin(pools=[pool("a"), pool("b", spot=True, taints=["nvidia.com/gpu:NoSchedule"])])

    conventional = ARTICLE["spec"]["template"]["spec"]["tolerations"]  # type: ignore[index]
    assert pod(deploy, program)["tolerations"] == [
        *conventional,
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {
            "key": "kubernetes.azure.com/scalesetpriority",
            "operator": "Equal",
            "value": "spot",
            "effect": "NoSchedule",
        },
    ]


def test_keeps_away_from_pools_that_are_not_its_own(deploy: Deploy) -> None:
    def program() -> None:
        pools = [
            pool("own"),
            pool("image", gpu_stack="specialised-image", taints=["theirs:NoSchedule"]),
            pool("operator", gpu_stack="none"),
        ]
        plugin(pools=pools, pools_left_out=["nodepool1"])

    spec = pod(deploy, program)
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms == {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {
                        "key": "kubernetes.azure.com/agentpool",
                        "operator": "NotIn",
                        "values": ["nodepool1", "image", "operator"],
                    }
                ]
            }
        ]
    }
    assert "theirs" not in [wanted["key"] for wanted in spec["tolerations"]]


def test_tells_its_outputs(deploy: Deploy) -> None:
    graph: Graph = deploy(plugin)

    assert list(graph.outputs.values()) == [
        {"namespace": "gpu-resources", "daemonSetName": "nvidia-device-plugin-daemonset"}
    ]
