"""A cluster that is stopped and started again."""

from collections.abc import Callable

import pytest

from rehearsal import cloud
from tests.rehearsal.conftest import Azure
from tests.rehearsal.control_planes.conftest import (
    Cluster,
    NewCluster,
    V,
    processes_of,
)
from tests.waiting import until

pytestmark = pytest.mark.nightly


def settled(cluster: Cluster, state: str = "Succeeded") -> None:
    path = f"{cluster.path}{V}"
    until(
        lambda: cluster.azure.call("GET", path).body["properties"]["provisioningState"] == state,
        f"the cluster is {state}",
    )


def test_a_stopped_cluster_runs_no_process_and_keeps_its_objects(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    azure = start()
    home = azure.cloud.home
    cluster = new(azure)()
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    names = cluster.names("system")

    assert azure.call("POST", f"{cluster.path}/stop{V}").status == 202
    settled(cluster)
    assert processes_of(home) == []
    assert cluster.run("get", "nodes").returncode != 0
    refused = azure.call("POST", f"{cluster.path}/listClusterUserCredential{V}")
    assert refused.body["code"] == "ControlPlaneNotReady"

    # Another server on the same home leaves it stopped.
    assert cloud.stop(home)
    start()
    assert processes_of(home) == []

    assert azure.call("POST", f"{cluster.path}/start{V}").status == 202
    settled(cluster)
    cluster.kubeconfig.unlink()
    assert cluster.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
    until(lambda: cluster.names("system") == names, "the nodes are there again")

    azure.call("POST", f"{cluster.path}/stop{V}")
    settled(cluster)
    folder = cluster.files
    assert folder.exists()
    cluster.delete()
    until(lambda: not folder.exists(), "its files are gone")
