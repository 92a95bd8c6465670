"""A cluster that is stopped and started again, its machines, and operations that are aborted."""

from collections.abc import Callable

import pytest

from rehearsal import cloud
from tests.rehearsal.conftest import Azure
from tests.rehearsal.control_planes.conftest import (
    SYSTEM_POOL,
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
    machines = azure.call("GET", f"{cluster.path}/agentPools/system/machines{V}").body["value"]
    assert [machine["name"] for machine in machines] == names
    assert "/virtualMachineScaleSets/" in machines[0]["properties"]["resourceId"]
    assert machines[0]["properties"]["network"]["ipAddresses"][0]["ip"].startswith("10.224.")
    one = azure.call("GET", f"{cluster.path}/agentPools/system/machines/{names[0]}{V}")
    assert one.body == machines[0]

    assert azure.call("POST", f"{cluster.path}/stop{V}").status == 202
    settled(cluster)
    assert processes_of(home) == []
    assert cluster.run("get", "nodes").returncode != 0
    assert azure.call("GET", f"{cluster.path}/agentPools/system/machines{V}").body["value"] == []
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


def test_an_aborted_operation_ends_at_once_and_the_next_one_succeeds(
    today: Cluster, pool_name: str
) -> None:
    path = f"{today.path}/agentPools/{pool_name}"
    body = {"properties": {"vmSize": SYSTEM_POOL["vmSize"], "count": 2}}
    put = today.azure.call("PUT", f"{path}{V}", body)
    assert today.azure.call("POST", f"{path}/abort{V}").status == 202
    address = today.azure.below(put.headers["Azure-AsyncOperation"])
    assert today.azure.call("GET", address).body["status"] == "Canceled"
    until(lambda: today.pool(pool_name)["provisioningState"] == "Canceled", "it is Canceled")
    assert today.put_pool(pool_name, count=1)["properties"]["count"] == 1
    until(lambda: len(today.names(pool_name)) == 1, "there is one node")
    today.delete(f"/agentPools/{pool_name}")
