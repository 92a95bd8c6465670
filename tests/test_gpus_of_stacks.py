"""The GPUs of the example stacks, as their clusters have them."""

from pathlib import Path
from typing import Any

import pytest

from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.cluster_bench import GPU, ClusterBench
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.fixture
def stack(engine: Engine, whole_cloud: Cloud, tmp_path: Path) -> ClusterBench:
    return ClusterBench(engine, whole_cloud, tmp_path).begin()


def bring_up(stack: ClusterBench, name: str) -> None:
    stack.write_example(name)
    stack.pulumi("up", "--yes", "--skip-preview")


def test_dev_has_no_plugin_on_its_system_node(stack: ClusterBench) -> None:
    """A plugin of today crashes there, and the update would fail after ten minutes."""
    bring_up(stack, "dev")

    assert "system" not in stack.pools_with_plugin()
    (daemon_set,) = stack.objects("daemonsets", "-n", "gpu-resources")
    assert daemon_set["status"]["numberMisscheduled"] == 0
    stack.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def worker(number: int) -> dict[str, Any]:
    """A pod that keeps one GPU of the pool `mig` for as long as it lives."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"worker{number}", "labels": {"app": "worker"}},
        "spec": {
            "nodeSelector": {"kubernetes.azure.com/agentpool": "mig"},
            "tolerations": [{"key": "sku", "operator": "Equal", "value": "gpu"}],
            "containers": [
                {"name": "worker", "image": "cuda", "resources": {"limits": {GPU: "1"}}}
            ],
        },
    }


def test_prods_a100_cut_into_seven_is_seven_gpus(stack: ClusterBench) -> None:
    """It was one GPU on Azure: six sevenths would have been paid for and idle.

    That pods run at the same time is what proves it: one GPU would serve them one after another.
    """
    bring_up(stack, "prod")
    until(lambda: stack.gpus("mig") == ("7", "7"), "the node offers seven GPUs")

    for number in range(8):
        stack.kubectl("apply", "-f", "-", content=worker(number))
    stack.runs_at_once("worker", 7, GPU)
    stack.kubectl("delete", "pods", "-l", "app=worker")
    stack.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
