"""The GPU Operator on a rehearsed stack: from its Helm release to a job that has a GPU."""

from pathlib import Path
from typing import Any

import pytest

from machine_setup import Engine, ensure_helm
from rehearsal.cloud import Cloud
from tests.cluster_bench import ClusterBench
from tests.test_gpu_operator_chart import OWN
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
STACK: dict[str, Any] = {
    "resourceGroup": {"name": "operator"},
    "cluster": {"name": "operator", "protect": False},
    "gpuStack": "operator",
    "gpuPools": [POOL],
    "sampleJob": {"enabled": True},
}
BY_OPERATOR = {**STACK, "gpuOperator": {"driver": "operator"}, "sampleJob": {"enabled": False}}
NAMESPACE = "gpu-operator"
PLUGIN = "nvidia-device-plugin-daemonset"


@pytest.fixture
def operated(engine: Engine, todays_cloud: Cloud, tmp_path: Path) -> ClusterBench:
    ensure_helm()
    return ClusterBench(engine, todays_cloud, tmp_path).begin()


def release(bench: ClusterBench) -> dict[str, Any]:
    resources = bench.deployment()["resources"]
    (helm_release,) = (one for one in resources if one["type"] == "kubernetes:helm.sh/v3:Release")
    return dict(helm_release)


def gpus(bench: ClusterBench) -> list[str | None]:
    """What each node with GPUs offers of them."""
    nodes = bench.objects("nodes", "-l", "agentpool=gpu")
    return [node["status"]["allocatable"].get("nvidia.com/gpu") for node in nodes]


def operands(bench: ClusterBench) -> set[str]:
    pods = bench.objects("pods", "-n", NAMESPACE, "--field-selector", "status.phase=Running")
    apps = (pod["metadata"].get("labels", {}).get("app", "") for pod in pods)
    return {app for app in apps if app.startswith("nvidia-")}


def plugins_without_runtime(bench: ClusterBench) -> set[str]:
    """The pods of the plugin of which an event says that their node has no runtime for them."""
    return {
        event["involvedObject"]["name"]
        for event in bench.objects("events", "-n", NAMESPACE)
        if event["involvedObject"]["name"].startswith(f"{PLUGIN}-")
        and 'no runtime for "nvidia" is configured' in event["message"]
    }


def reaches_no_node(bench: ClusterBench) -> None:
    """Installs the chart by hand, with the values of the article on AKS and no tolerations."""
    of_aks = "driver.enabled=false,toolkit.enabled=false"
    by_hand = ["-n", NAMESPACE, "--create-namespace", "--wait", "--set", of_aks]
    bench.run(ensure_helm(), "install", "by-hand", str(OWN), *by_hand)

    def scheduled() -> dict[str, int]:
        daemon_sets = bench.objects("daemonsets", "-n", NAMESPACE)
        observed = [each for each in daemon_sets if each["status"].get("observedGeneration")]
        return {
            one["metadata"]["name"]: one["status"]["desiredNumberScheduled"] for one in observed
        }

    until(lambda: PLUGIN in scheduled(), "the operator has made its operands")
    worker = "by-hand-node-feature-discovery-worker"
    # One on the node of the system pool.
    assert scheduled().pop(worker) == 1
    assert {name: number for name, number in scheduled().items() if name != worker and number} == {}
    (node,) = bench.objects("nodes", "-l", "agentpool=gpu")
    assert "nvidia.com/gpu.present" not in node["metadata"]["labels"]
    bench.run(ensure_helm(), "uninstall", "by-hand", "-n", NAMESPACE, "--wait")
    bench.kubectl("delete", "namespace", NAMESPACE)


def moves_without_a_new_job(bench: ClusterBench) -> None:
    """Pulumi deletes the plugin at the end of the update: until then no job gets a GPU."""
    bench.write_stack({**STACK, "sampleJob": {"enabled": False}})
    bench.pulumi("up", "--yes", "--skip-preview")
    bench.write_stack(STACK)
    bench.pulumi("up", "--yes", "--skip-preview")
    assert gpus(bench) == ["1"]


def test_both_driver_profiles_offer_gpus_and_a_mixed_one_does_not(operated: ClusterBench) -> None:
    """A release that fails stays in the state; the next update goes on, to a job on a GPU."""
    operated.write_stack({**STACK, "gpuStack": "device-plugin", "sampleJob": {"enabled": False}})
    operated.pulumi("up", "--yes", "--skip-preview")
    reaches_no_node(operated)
    moves_without_a_new_job(operated)
    operated.pulumi("destroy", "--yes", "--skip-preview")

    nowhere = {"values": {"operator": {"nodeSelector": {"no": "where"}}}, "timeoutSeconds": 10}
    operated.write_stack({**STACK, "gpuOperator": nowhere})
    output = operated.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert "was created, but failed to initialize completely" in output
    failed = release(operated)
    assert failed["id"] == "gpu-operator/gpu-operator"
    assert failed["outputs"]["status"]["status"] == "failed"

    operated.write_stack(STACK)
    operated.pulumi("up", "--yes", "--skip-preview")
    made = release(operated)["outputs"]
    assert (made["status"]["status"], made["status"]["revision"]) == ("deployed", 2)
    assert "ClusterPolicy.nvidia.com/nvidia.com/v1" in made["resourceNames"]
    assert gpus(operated) == ["1"]
    assert "nvidia-driver-daemonset" not in operands(operated)
    assert operated.changes() == {}

    operated.write_stack(BY_OPERATOR)
    operated.pulumi("up", "--yes", "--skip-preview")
    until(lambda: gpus(operated) == ["1"], "the operator's driver brings the GPU up")
    assert "nvidia-driver-daemonset" in operands(operated)

    # Somebody switches the toolkit off by hand: a new plugin finds no runtime any more.
    by_hand = ["--reuse-values", "--set", "toolkit.enabled=false"]
    operated.run(ensure_helm(), "upgrade", "gpu-operator", str(OWN), "-n", NAMESPACE, *by_hand)
    toolkit = "nvidia-container-toolkit-daemonset"
    until(lambda: toolkit not in operands(operated), "the toolkit is gone")
    # While the operator's driver and toolkit came up, plugins were told the same.
    before = plugins_without_runtime(operated)
    operated.kubectl("delete", "pods", "-n", NAMESPACE, "-l", f"app={PLUGIN}")
    until(lambda: gpus(operated) == ["0"], "the GPU is gone")
    until(lambda: plugins_without_runtime(operated) - before, "an event says what is missing")

    operated.pulumi("up", "--yes", "--skip-preview", "--refresh")
    until(lambda: gpus(operated) == ["1"], "the update puts the toolkit back")
    operated.pulumi("destroy", "--yes", "--skip-preview")
