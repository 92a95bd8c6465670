"""Any part of a control plane is killed at any time: it comes back, and the cluster goes on."""

import contextlib
import hashlib
import http.client
import os
import shutil
import signal
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import yaml

from kube_client.objects import is_true
from rehearsal.control_planes.control_plane import UNUSED
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.rehearsal.control_planes.conftest import (
    JOB,
    Cluster,
    NewCluster,
    V,
    parts_of,
)
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

SERVERS = ("etcd", "kube-apiserver")
WORKERS = ("kube-controller-manager", "kube-scheduler", "kwok")
PARTS = {*SERVERS, *WORKERS}
KEPT = "nodes,namespaces,serviceaccounts,configmaps,secrets"


def kill(cluster: Cluster, parts: Iterable[str], number: signal.Signals = signal.SIGKILL) -> None:
    """Kills parts of a control plane, and waits until others have taken their places."""
    home = cluster.azure.cloud.home
    victims = {part: parts_of(home)[part] for part in parts}
    for pid in victims.values():
        os.kill(pid, number)

    def is_replaced() -> bool:
        present = parts_of(home)
        return present.keys() == PARTS and not victims.items() & present.items()

    until(is_replaced, f"others are there for {', '.join(victims)}")


def kill_all(cluster: Cluster) -> None:
    """Kills what is there of a control plane, which may be ending anyway."""
    for pid in parts_of(cluster.azure.cloud.home).values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def content(cluster: Cluster) -> Any:
    """What has to be the same before and after: addresses, certificates and objects."""
    files = sorted((cluster.files / "certificates").iterdir())
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    uids = cluster.kubectl("get", KEPT, "-o", "jsonpath={..metadata.uid}")
    return cluster.credentials(), digests, sorted(uids.split())


def has_come_back(cluster: Cluster, before: Any) -> None:
    until(lambda: answers(cluster), "its server answers")
    assert content(cluster) == before
    until(
        lambda: all(is_true(node, "Ready") for node in cluster.objects("nodes")),
        "its nodes are ready",
    )


def answers(cluster: Cluster) -> bool:
    """Whether the API server is ready, where it has been all the time."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    host = config["clusters"][0]["cluster"]["server"].removeprefix("https://")
    folder = cluster.files / "certificates"
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "user.pem", folder / "user-key.pem")
    connection = http.client.HTTPSConnection(host, timeout=10, context=context)
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    return False


def run_job(cluster: Cluster) -> None:
    """Runs the article's job on a GPU from its beginning to its end."""
    cluster.apply(JOB)
    until(lambda: [job for job in cluster.objects("jobs") if is_true(job, "Complete")], "it ran")
    cluster.kubectl("delete", "-f", JOB)


def test_a_running_cluster_survives_the_death_of_any_component(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    """A watch that a dying API server broke ended the cluster for good, whose etcd was healthy."""
    cluster = new(start())()
    cluster.put_pool("gpu", vmSize="Standard_NC8as_T4_v3")
    cluster.install_plugin()
    for kind in ("configmap", "secret generic"):
        cluster.kubectl("create", *kind.split(), "kept", "--from-literal=a=b")
    cluster.kubectl("create", "serviceaccount", "kept")
    run_job(cluster)
    before = content(cluster)

    for part in WORKERS:
        kill(cluster, [part])
    has_come_back(cluster, before)
    for victims in (["etcd"], ["kube-apiserver"], ["kube-apiserver", "kwok"], PARTS):
        kill(cluster, victims)
        has_come_back(cluster, before)
    # Who uses the cloud at once waits until then: `make rehearse` said that the cluster is
    # unreachable.
    kill(cluster, SERVERS)
    start()
    assert answers(cluster)
    # A plain `kill` too: it waited a minute for those who watch, and answered nobody else.
    kill(cluster, ["kube-apiserver"], signal.SIGTERM)
    has_come_back(cluster, before)
    run_job(cluster)
    # A change that is asked for while nobody is there to make it is made afterwards.
    kill_all(cluster)
    cluster.put_pool("gpu", vmSize="Standard_NC8as_T4_v3", count=2)
    assert len(cluster.nodes("gpu")) == 2
    assert cluster.pool("gpu")["provisioningState"] == "Succeeded"


def test_a_starting_or_stopping_cluster_survives_the_death_of_any_component(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    """Each part is killed as soon as it is there: the creation takes longer, and succeeds."""
    azure = start()
    cluster, home = new(azure)(put=False), azure.cloud.home
    path = f"{cluster.path}{V}"

    def kill_each_as_it_comes() -> None:
        left = set(PARTS)
        while left:
            for part in left & parts_of(home).keys():
                os.kill(parts_of(home)[part], signal.SIGKILL)
                left.remove(part)

    assert azure.call("PUT", path, new_cluster()).status == 201
    kill_each_as_it_comes()
    wait_until_made(azure, cluster.path)
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    before = cluster.credentials()

    assert azure.call("POST", f"{cluster.path}/stop{V}").status == 202
    kill_all(cluster)
    wait_until_made(azure, cluster.path)
    assert azure.call("POST", f"{cluster.path}/start{V}").status == 202
    kill_each_as_it_comes()
    wait_until_made(azure, cluster.path)
    assert cluster.credentials() == before
    assert cluster.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"


def test_a_cluster_comes_up_whose_etcd_was_killed_at_its_first_start(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    """It had a log without a member, waited for a leader for ever, and the cluster was never made.

    What etcd has before the API server has been ready for the first time is nobody's.
    """
    azure = start()
    cluster = new(azure)()
    unused = cluster.files / UNUSED
    assert not unused.exists()
    assert azure.call("POST", f"{cluster.path}/stop{V}").status == 202
    wait_until_made(azure, cluster.path)
    data = cluster.files / "etcd" / "member"
    shutil.rmtree(data)
    data.write_text("this is no folder")
    unused.touch()

    assert azure.call("POST", f"{cluster.path}/start{V}").status == 202
    wait_until_made(azure, cluster.path)
    assert not unused.exists()
    has_come_back(cluster, content(cluster))


def test_a_cluster_survives_a_damaged_etcd(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    """What etcd cannot read is told, until it can be read."""
    azure = start()
    cluster = new(azure)()
    cluster.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    data = cluster.files / "etcd" / "member"
    data.rename(data.with_name("aside"))
    data.write_text("this is no folder")
    os.kill(parts_of(azure.cloud.home)["etcd"], signal.SIGKILL)
    address = f"{cluster.path}/listClusterUserCredential{V}"
    refusal = until(
        lambda: (
            (reply := azure.call("POST", address)).status == 400
            and "etcd ended" in reply.body["message"]
            and reply.body
        ),
        "it is told",
    )
    assert refusal["code"] == "ControlPlaneNotReady"
    assert "etcd ended" in (azure.cloud.home / "server.log").read_text()
    data.unlink()
    data.with_name("aside").rename(data)
    until(lambda: azure.call("POST", address).status == 200, "it is back")
    assert cluster.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
