"""A cluster of the article's days, on which everything can go wrong, and the check of it."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aksgpu.check.target import of_file
from machine_setup import KubernetesBinaries, ensure_kubernetes
from tests.checked import Checked, checked
from tests.names import unique
from tests.rehearsal.control_planes.conftest import Body, Cluster, clouds_cluster, processes_of
from tests.waiting import until

TAINT = "sku=gpu:NoSchedule"
K80 = "Standard_NC6"
# To look once is enough for what stays as it is.
ONCE = 0.0


@dataclass
class Site:
    """The cluster, and what a test has put there."""

    cluster: Cluster
    pools: list[str] = field(default_factory=list)

    def pool(self, headers: dict[str, str] | None = None, **properties: Any) -> str:
        name = unique("gpu")
        self.pools.append(name)
        self.cluster.put_pool(name, headers, **{"vmSize": K80, **properties})
        return name

    def node(self, pool: str) -> str:
        [name] = self.cluster.names(pool)
        return name

    def kubectl(self, *arguments: str, content: Body | None = None) -> str:
        return self.cluster.kubectl(*arguments, content=content)

    def patch(self, resource: str, name: str, status: Body, *more: str) -> None:
        """Puts something into the status of an object, as its kubelet would."""
        patch = json.dumps({"status": status})
        self.kubectl("patch", resource, name, "--subresource=status", "-p", patch, *more)

    def patch_plugin(self, pod_spec: Body) -> None:
        """Changes the pods of the article's DaemonSet."""
        patch = json.dumps({"spec": {"template": {"spec": pod_spec}}})
        name = "nvidia-device-plugin-daemonset"
        self.kubectl("patch", "daemonset", name, "-n", "gpu-resources", "-p", patch)

    @property
    def kubeconfig(self) -> Path:
        self.cluster.kubectl("version")  # with which it is asked for
        return self.cluster.kubeconfig

    def check(self, **options: Any) -> Checked:
        return checked(lambda: of_file(self.kubeconfig), **options)

    def clear(self) -> None:
        self.cluster.run("delete", "daemonset", "--all", "-n", "gpu-resources")
        self.cluster.run("delete", "pods", "--all")
        for pool in self.pools:
            self.cluster.delete(f"/agentPools/{pool}")


@pytest.fixture(scope="session")
def binaries() -> KubernetesBinaries:
    return ensure_kubernetes()


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, binaries: KubernetesBinaries
) -> Iterator[Cluster]:
    yield from clouds_cluster(tmp_path_factory, binaries, "article")


@pytest.fixture
def site(shared: Cluster) -> Iterator[Site]:
    own = Site(shared)
    yield own
    own.clear()


def gpu_pod(name: str, **spec: object) -> dict[str, object]:
    """A pod that takes a GPU and keeps it."""
    limits = {"limits": {"nvidia.com/gpu": 1}}
    container = {"name": "work", "image": "busybox", "resources": limits}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def use_the_gpu(site: Site) -> str:
    """A pool of one node, whose only GPU a pod takes and keeps."""
    pool = site.pool()
    site.cluster.install_plugin()
    site.cluster.apply(gpu_pod("taker"))
    until(lambda: "Running" in site.kubectl("get", "pod", "taker"), "the GPU is taken")
    return pool


def jobs(site: Site) -> list[str]:
    """The pods of jobs that a check has started."""
    names = site.kubectl("get", "pods", "-n", "default", "-o", "name").split()
    pods = [name.removeprefix("pod/") for name in names]
    return [name for name in pods if name.startswith("aksgpu-check-")]


@contextmanager
def silent_kubelets(site: Site) -> Iterator[None]:
    """Nothing plays the nodes meanwhile: what their kubelets would do, they leave undone."""
    kwok = [
        pid
        for pid in processes_of(site.cluster.azure.cloud.home)
        if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/kwok")
    ]
    assert kwok
    for pid in kwok:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in kwok:
            os.kill(pid, signal.SIGCONT)
