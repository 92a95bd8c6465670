"""What is read out of the API server's objects."""

from typing import Any

import pytest

from aks_catalogue.scheduling import Taint, unmet_affinity, unmet_selector, untolerated
from aksgpu.check import cluster_view

POOL = "kubernetes.azure.com/agentpool"


def node(labels: dict[str, str], **capacity: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "n0", "labels": labels},
        "spec": {"taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def pod(*containers: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"containers": list(containers), "nodeName": "n0"},
        "status": status,
    }


def taking(gpus: int, resource: str = "nvidia.com/gpu") -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": {"limits": {resource: str(gpus)}}}


@pytest.mark.parametrize(
    ("labels", "capacity", "is_seen"),
    [
        ({POOL: "gpu"}, {}, True),
        ({POOL: "system"}, {}, False),
        ({"accelerator": "nvidia"}, {}, True),
        ({"node.kubernetes.io/instance-type": "standard_nc6"}, {}, True),
        ({"node.kubernetes.io/instance-type": "Standard_NV4as_v4"}, {}, False),
        ({}, {"nvidia.com/gpu": "1"}, True),
        ({}, {"nvidia.com/gpu": "0", "cpu": "4"}, False),
    ],
)
def test_nodes_with_gpus_or_in_a_gpu_pool_are_listed(
    labels: dict[str, str], capacity: dict[str, str], is_seen: bool
) -> None:
    assert len(cluster_view.nodes([node(labels, **capacity)], ["gpu"])) == is_seen


def test_a_node_is_read_with_its_conditions() -> None:
    item = node({POOL: "gpu"}, **{"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "7", "cpu": "4"})
    item["status"]["conditions"] = [
        {"type": "Ready", "status": "True"},
        {"type": "DiskPressure", "status": "False", "reason": "KubeletHasNoDiskPressure"},
        {"type": "GpuProblem", "status": "True", "reason": "Xid", "message": "Xid 79"},
    ]
    [result] = cluster_view.nodes([item], [])
    assert result.is_ready
    assert result.capacity == 8
    assert result.taints == (Taint("sku", "gpu", "NoSchedule"),)
    assert result.problems == {"GpuProblem": "Xid: Xid 79"}


def test_a_node_that_never_reported_is_not_ready() -> None:
    [result] = cluster_view.nodes([node({POOL: "gpu"})], ["gpu"])
    assert not result.is_ready
    assert "never reported" in result.reason


@pytest.mark.parametrize(
    ("image", "name", "is_plugin"),
    [
        ("mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11", "nvidia-device-plugin-ctr", True),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", "nvidia-device-plugin", True),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", "mps-control-daemon-ctr", False),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", "gpu-feature-discovery", False),
        ("busybox", "nvidia-device-plugin-ctr", False),
    ],
)
def test_device_plugin_pods_are_recognized(image: str, name: str, is_plugin: bool) -> None:
    # The image's own program is the plugin; of others the container is called by their names.
    command = {} if "plugin" in name else {"command": [name.removesuffix("-ctr")]}
    pods = cluster_view.pods([pod({"name": name, "image": image, **command})])
    assert [each_pod.plugin for each_pod in pods] == ([name] if is_plugin else [])


def test_the_gpus_that_a_pod_requests_are_counted() -> None:
    item = pod(taking(1), taking(2, "nvidia.com/mig-1g.5gb"), phase="Running")
    item["spec"]["initContainers"] = [taking(2)]
    [result] = cluster_view.pods([item])
    assert (result.gpus, result.node, result.is_over) == (3, "n0", False)
    [ended] = cluster_view.pods([pod(taking(1), phase="Succeeded")])
    assert ended.is_over
    going = pod(taking(1))
    going["metadata"]["deletionTimestamp"] = "2026-11-21T00:00:00Z"
    assert cluster_view.pods([going, pod({"name": "c", "image": "i"})]) == ()


def test_a_daemon_set_pod_names_the_node_of_its_affinity() -> None:
    item = pod({"name": "c", "image": "x/k8s-device-plugin"})
    field = {"key": "metadata.name", "operator": "In", "values": ["n7"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    item["spec"] |= {"nodeName": None, "affinity": {"nodeAffinity": required}}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    item["status"] = {"conditions": [condition | {"message": "Insufficient cpu"}]}
    [result] = cluster_view.pods([item])
    assert (result.node, result.unplaced) == ("n7", "Insufficient cpu")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Failed", "reason": "Evicted", "message": "disk"}, "Evicted: disk"),
        (
            {"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]},
            "ErrImagePull",
        ),
        (
            {"containerStatuses": [{"state": {"terminated": {"exitCode": 3, "reason": "Error"}}}]},
            "Error: exit code 3",
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}],
            },
            "Pending",
        ),
    ],
)
def test_the_reason_why_a_pod_does_not_run_is_read_from_its_status(
    status: dict[str, Any], words: str
) -> None:
    assert cluster_view.trouble({"status": status}) == words


def test_the_nodes_of_a_daemon_set_follow_its_selector_and_tolerations() -> None:
    expression = {"key": POOL, "operator": "NotIn", "values": ["a", "b"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    spec = {
        "containers": [{"name": "c", "image": "x/k8s-device-plugin:1"}],
        "tolerations": [{"key": "sku", "operator": "Exists", "tolerationSeconds": 3}],
        "nodeSelector": {"a": "b"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
    }
    other = {"containers": [{"name": "c", "image": "busybox"}]}
    [daemon_set] = cluster_view.daemon_sets(
        {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"template": {"spec": made}}}
        for made in (spec, other)
    )
    assert list(unmet_selector(daemon_set.pods, {"a": "c"}.get)) == ["a=b"]
    assert unmet_affinity(daemon_set.pods, {POOL: "a"}.get) == [f"{POOL} NotIn (a, b)"]
    assert unmet_affinity(daemon_set.pods, {POOL: "c"}.get) == []
    # What every DaemonSet tolerates keeps none away, beside what this one tolerates itself.
    own = [
        Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),
        Taint("sku", "gpu", "NoExecute"),
    ]
    assert untolerated(daemon_set.pods, own) == []


def test_the_newest_warning_is_reported() -> None:
    def event(kind: str, time: str, reason: str) -> dict[str, str]:
        return {"type": kind, "lastTimestamp": time, "reason": reason, "message": "why"}

    events = [
        event("Warning", "2026-11-23T05:00:00Z", "Old"),
        event("Warning", "2026-11-23T05:00:02Z", "New"),
        event("Normal", "2026-11-23T05:00:03Z", "Pulled"),
        {"type": "Warning"},
    ]
    assert cluster_view.last_warning(events) == "New: why"
    assert cluster_view.last_warning([]) == ""
