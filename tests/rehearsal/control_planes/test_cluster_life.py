"""A cluster's life: its control plane comes, comes back, and goes."""

import contextlib
import http.client
import os
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal import cloud
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.rehearsal.control_planes.conftest import Cluster, NewCluster, V, processes_of
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

Start = Callable[[], Azure]
New = Callable[[Azure], NewCluster]
PARTS = 5


def test_a_second_cluster_is_created_and_deleted(
    today: Cluster, another: Callable[[], Cluster]
) -> None:
    """From its creation to its end; it knows nothing of the one that all tests share.

    Its pods had addresses of AKS's default range, whatever its `podCidr`.
    """
    azure, cluster = today.azure, another()
    body = new_cluster(networkProfile={"podCidr": "192.168.0.0/16"})
    assert azure.call("PUT", f"{cluster.path}{V}", body).status == 201
    refused = azure.call("POST", f"{cluster.path}/listClusterUserCredential{V}")
    assert (refused.status, refused.body["code"]) == (400, "ControlPlaneNotReady")
    assert "Creating" in refused.body["message"]

    wait_until_made(azure, cluster.path)
    # It is ready when its creation has succeeded: no wait, no second try.
    assert cluster.run("get", "--raw", "/readyz").stdout == "ok"
    [node] = cluster.nodes("system")
    assert ("Ready", "True") in [(c["type"], c["status"]) for c in node["status"]["conditions"]]
    cluster.kubectl("run", "first", "--image=busybox")
    until(lambda: "Running" in cluster.kubectl("get", "pod", "first"), "the pod runs")
    assert "192.168." in cluster.kubectl("get", "pod", "first", "-o", "wide")

    today.kubectl("create", "namespace", "only-in-one")
    assert cluster.run("get", "namespace", "only-in-one").returncode != 0
    # The certificate of the one is worth nothing at the other.
    ours, theirs = yaml.safe_load(today.credentials()), yaml.safe_load(cluster.credentials())
    theirs["users"] = ours["users"]
    theirs["contexts"][0]["context"]["user"] = ours["users"][0]["name"]
    stolen = cluster.folder / "stolen.kubeconfig"
    stolen.write_text(yaml.safe_dump(theirs))
    refused = cluster.run("--kubeconfig", stolen, "get", "nodes")
    assert "logged in" in refused.stderr or "Unauthorized" in refused.stderr

    files, home = cluster.files, azure.cloud.home
    assert len(processes_of(home)) == 2 * PARTS
    assert files.is_dir()
    cluster.delete()
    # Gone from ARM means gone: there is nothing left to wait for.
    assert not files.exists()
    assert len(processes_of(home)) == PARTS
    today.kubectl("get", "namespace", "only-in-one")


def test_a_cluster_stops_starts_and_is_deleted_with_its_group(start: Start, new: New) -> None:
    azure = start()
    cluster, home = new(azure)(), azure.cloud.home
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    before, names, files = cluster.credentials(), cluster.names("system"), cluster.files
    assert len(processes_of(home)) == PARTS
    assert cloud.stop(home)
    assert processes_of(home) == []

    azure.cloud = start().cloud
    # Everything is back as soon as the server is.
    assert cluster.credentials() == before
    assert cluster.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
    assert cluster.names("system") == names
    cluster.kubectl("run", "later", "--image=busybox")
    until(lambda: "Running" in cluster.kubectl("get", "pod", "later"), "the pod runs")

    os.kill(azure.cloud.pid, signal.SIGKILL)
    until(lambda: processes_of(home) == [], "nothing outlives a server that was killed")
    azure.cloud = start().cloud
    cluster.kubectl("get", "configmap", "kept")

    group = cluster.path.split("/providers")[0]
    assert azure.call("DELETE", f"{group}{V}").status == 202
    until(lambda: azure.call("GET", f"{group}{V}").status == 404, "the group is gone")
    assert not files.exists()
    assert processes_of(home) == []


def test_kubeconfigs_contain_all_that_a_client_needs(today: Cluster) -> None:
    _, _, group, _, _, _, name = today.path.split("/")
    for role, user, context in (
        ("User", f"clusterUser_{group}_{name}", name),
        # The Azure CLI adds `-admin` to the names itself.
        ("Admin", f"clusterAdmin_{group}_{name}", name),
    ):
        config: Any = yaml.safe_load(today.credentials(role))
        [entry] = config["users"]
        assert entry["name"] == user
        assert {"client-certificate-data", "client-key-data"} <= entry["user"].keys()
        assert config["current-context"] == context
        assert config["clusters"][0]["name"] == name
        assert config["clusters"][0]["cluster"]["server"].startswith("https://127.0.0.1:")


def test_no_kubeconfig_is_in_the_request_log(today: Cluster) -> None:
    today.credentials()
    log = today.azure.cloud.request_log.read_text()
    assert "listClusterUserCredential" in log
    for secret in ("client-key-data", "kubeconfigs", "PRIVATE KEY"):
        assert secret not in log


def test_the_cluster_listens_only_on_the_loopback_address(today: Cluster) -> None:
    sockets = set()
    for pid in processes_of(today.azure.cloud.home):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(str(descriptor.readlink()).removeprefix("socket:[").rstrip("]"))
            except FileNotFoundError:
                continue
    listening, ports = [], []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                address, port = fields[1].split(":")
                listening.append(address)
                ports.append(int(port, 16))
    assert listening
    assert set(listening) == {"0100007F"}
    # etcd's port for peers let anybody join.
    for number in ports:
        connection = http.client.HTTPConnection("127.0.0.1", number, timeout=PATIENCE)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/members")
            assert connection.getresponse().status == 400


def test_requests_without_credentials_are_refused(today: Cluster) -> None:
    server = yaml.safe_load(today.credentials())["clusters"][0]["cluster"]["server"]
    context = ssl.create_default_context(cafile=str(today.files / "certificates/ca.pem"))

    connection = http.client.HTTPSConnection(server.removeprefix("https://"), context=context)
    connection.request("GET", "/api/v1/secrets")
    assert connection.getresponse().status == 401


def test_only_the_api_server_can_read_container_logs(today: Cluster) -> None:
    [node] = today.nodes("system")
    port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    context = ssl.create_default_context(cafile=str(today.files / "certificates/ca.pem"))
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)

    def ask() -> None:
        connection.request("GET", "/containerLogs/default/any/any")
        connection.getresponse()

    with pytest.raises((ssl.SSLError, ConnectionError)):
        ask()


def test_only_the_owner_can_read_the_clusters_files(today: Cluster) -> None:
    assert today.files.stat().st_mode & 0o077 == 0
