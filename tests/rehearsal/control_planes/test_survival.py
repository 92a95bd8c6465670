"""Any part of a control plane is killed: the cluster restarts with its content."""

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
from tests.rehearsal.conftest import Azure, wait_until_made
from tests.rehearsal.control_planes.conftest import (
    JOB,
    Cluster,
    NewCluster,
    V,
    parts_of,
)
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PARTS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
KEPT = "nodes,namespaces,serviceaccounts,configmaps,secrets"


def kill(cluster: Cluster, parts: Iterable[str]) -> None:
    """Kills parts of a control plane, and waits until a new one is there."""
    home = cluster.azure.cloud.home
    before = parts_of(home)
    victims = {part: before[part] for part in parts}
    for pid in victims.values():
        os.kill(pid, signal.SIGKILL)

    def is_replaced() -> bool:
        present = parts_of(home)
        return present.keys() == PARTS and not before.items() & present.items()

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
    # A change that is asked for while nobody is there to make it is made afterwards.
    kill_all(cluster)
    cluster.put_pool("gpu", vmSize="Standard_NC8as_T4_v3", count=2)
    assert len(cluster.nodes("gpu")) == 2
    assert cluster.pool("gpu")["provisioningState"] == "Succeeded"
    before = content(cluster)

    for victims in (["kube-scheduler"], ["etcd"], ["kube-apiserver"], PARTS):
        kill(cluster, victims)
        has_come_back(cluster, before)
    run_job(cluster)


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
