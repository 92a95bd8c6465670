"""The stacks dev and prod, brought up: their kubeconfigs, and the GPUs that their clusters have."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.cluster_bench import GPU, ClusterBench
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.fixture
def stack(engine: Engine, whole_cloud: Cloud, tmp_path: Path) -> ClusterBench:
    return ClusterBench(engine, whole_cloud, tmp_path).begin()


def test_dev_has_no_key_in_clear_text_and_no_plugin_on_its_system_node(
    stack: ClusterBench,
) -> None:
    stack.write_example("dev")
    output = stack.pulumi("up", "--yes", "--skip-preview")

    kubeconfig = stack.pulumi("stack", "output", "kubeconfig", "--show-secrets")
    user = yaml.safe_load(kubeconfig)["users"][0]["user"]
    # Parts of the key as it is, and of the file that Azure hands over in base 64.
    key = user["client-key-data"]
    secrets = [key[40:120], base64.b64encode(kubeconfig.encode()).decode()[400:480]]
    unchanged = stack.pulumi("preview", "--diff", "--expect-no-changes")
    written = [output, stack.pulumi("stack"), unchanged]
    files = [path for path in stack.folder.rglob("*") if path.is_file()]
    files += [stack.cloud.request_log, stack.cloud.home / "server.log"]
    assert any(path.suffix == ".json" for path in files)
    for text in written + [path.read_text(errors="replace") for path in files]:
        assert not any(secret in text for secret in secrets)

    # A plugin of today crashes there, and the update would fail after ten minutes.
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


@pytest.mark.nightly
def test_prod_has_no_key_at_all_and_seven_gpus_of_an_a100_cut_into_seven(
    stack: ClusterBench,
) -> None:
    """The A100 was one GPU on Azure: six sevenths would have been paid for and idle.

    That pods run at the same time is what proves it: one GPU would serve them one after another.
    """
    stack.write_example("prod")
    stack.pulumi("up", "--yes", "--skip-preview")
    # An administrator's certificate was in the outputs and the state.
    kubeconfig = stack.pulumi("stack", "output", "kubeconfig", "--show-secrets")
    (user,) = yaml.safe_load(kubeconfig)["users"]
    assert user["user"].keys() == {"exec"}

    until(lambda: stack.gpus("mig") == ("7", "7"), "the node offers seven GPUs")

    for number in range(8):
        stack.kubectl("apply", "-f", "-", content=worker(number))
    stack.runs_at_once("worker", 7, GPU)
    stack.kubectl("delete", "pods", "-l", "app=worker")
    stack.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
