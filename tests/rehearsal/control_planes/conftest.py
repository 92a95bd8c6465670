"""Clusters of the rehearsal with real control planes, made through ARM as any client would."""

import base64
import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from machine_setup import KubernetesBinaries, ensure_kubernetes
from rehearsal import cloud
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster
from tests.waiting import PATIENCE, until

Body = dict[str, Any]
V = f"?api-version={API_VERSION}"
# Ten times as fast as a rehearsal: what takes seconds there takes tenths here.
QUICK = 0.1
MANIFESTS = Path(__file__).parent / "manifests"
DAEMON_SET = MANIFESTS / "nvidia-device-plugin-ds.yaml"
JOB = MANIFESTS / "samples-tf-mnist-demo.yaml"
SYSTEM_POOL = {"name": "system", "mode": "System", "vmSize": "Standard_D4ds_v5", "count": 1}
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def binaries() -> KubernetesBinaries:
    return ensure_kubernetes()


@dataclass
class Cluster:
    """A cluster of a rehearsal cloud: `path` in ARM, and kubectl with its own kubeconfig."""

    azure: Azure
    path: str
    kubectl_path: Path
    folder: Path
    kubeconfig: Path = field(init=False)

    def __post_init__(self) -> None:
        self.kubeconfig = self.folder / f"{self.path.replace('/', '_')}.kubeconfig"

    # -- ARM

    def put(self, properties: Body | None = None) -> Body:
        """Creates or changes the cluster; returns it once that has succeeded."""
        body = new_cluster(**(properties or {"agentPoolProfiles": [SYSTEM_POOL]}))
        return self._put(self.path, body)

    def put_pool(self, name: str, headers: dict[str, str] | None = None, **properties: Any) -> Body:
        """Creates or changes a pool; returns it once that has succeeded."""
        body = {"properties": {"vmSize": "Standard_D4ds_v5", "count": 1, **properties}}
        return self._put(f"{self.path}/agentPools/{name}", body, headers)

    def _put(self, path: str, body: Body, headers: dict[str, str] | None = None) -> Body:
        reply = self.azure.call("PUT", f"{path}{V}", body, headers=headers)
        assert reply.status in (200, 201), reply
        return until(lambda: self._succeeded(path), f"{path} has succeeded")

    def _succeeded(self, path: str) -> Body | None:
        body: Body = self.azure.call("GET", f"{path}{V}").body
        state = body["properties"]["provisioningState"]
        assert state != "Failed", body
        return body if state == "Succeeded" else None

    def delete(self, below: str = "") -> None:
        path = f"{self.path}{below}{V}"
        assert self.azure.call("DELETE", path).status == 202
        until(lambda: self.azure.call("GET", path).status == 404, f"{path} is gone")

    def pool(self, name: str) -> Body:
        body: Body = self.azure.call("GET", f"{self.path}/agentPools/{name}{V}").body["properties"]
        return body

    def credentials(self, role: str = "User") -> str:
        reply = self.azure.call("POST", f"{self.path}/listCluster{role}Credential{V}")
        assert reply.status == 200, reply
        return base64.b64decode(reply.body["kubeconfigs"][0]["value"]).decode()

    # -- Kubernetes

    def run(self, *arguments: str | Path, content: Body | None = None) -> Any:
        """Runs kubectl as anybody would who was given the kubeconfig."""
        if not self.kubeconfig.exists():
            self.kubeconfig.write_text(self.credentials())
        return subprocess.run(
            [self.kubectl_path, "--kubeconfig", self.kubeconfig, *arguments],
            input=json.dumps(content) if content else None,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=os.environ | {"HOME": str(self.folder)},
        )

    def kubectl(self, *arguments: str | Path, content: Body | None = None) -> str:
        """Runs a kubectl that has to succeed, and returns what it wrote."""
        done = self.run(*arguments, content=content)
        assert done.returncode == 0, done.stderr
        output: str = done.stdout
        return output

    def objects(self, *arguments: str) -> list[Body]:
        items: list[Body] = json.loads(self.kubectl("get", *arguments, "-o", "json"))["items"]
        return items

    def nodes(self, pool: str) -> list[Body]:
        return self.objects("nodes", "-l", f"agentpool={pool}")

    def names(self, pool: str) -> list[str]:
        return sorted(node["metadata"]["name"] for node in self.nodes(pool))

    def gpus(self, pool: str) -> list[tuple[str | None, str | None]]:
        """What each node of a pool says of its GPUs: capacity and allocatable."""
        resource = "nvidia.com/gpu"
        return [
            (node["status"]["capacity"].get(resource), node["status"]["allocatable"].get(resource))
            for node in self.nodes(pool)
        ]

    def apply(self, manifest: Body | Path) -> None:
        if isinstance(manifest, Path):
            self.kubectl("apply", "-f", manifest)
        else:
            self.kubectl("apply", "-f", "-", content=manifest)

    def install_plugin(self) -> None:
        """The article's steps: the namespace, and the DaemonSet in it."""
        self.run("create", "namespace", "gpu-resources")
        self.apply(DAEMON_SET)

    def remove_plugin(self) -> None:
        self.kubectl("delete", "-f", DAEMON_SET)

    @property
    def uid(self) -> str:
        body = self.azure.call("GET", f"{self.path}{V}").body
        uid: str = body["properties"]["resourceUID"]
        return uid

    @property
    def files(self) -> Path:
        return self.azure.cloud.home / "kubernetes" / self.uid


def processes_of(home: Path) -> list[int]:
    """The numbers of the running processes that name a folder in their command line."""
    return list(_programs(home))


def parts_of(home: Path) -> dict[str, int]:
    """The numbers of a cluster's processes, by their programs' names."""
    return {program: pid for pid, program in _programs(home).items()}


def _programs(home: Path) -> dict[int, str]:
    programs = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"{home}/kubernetes".encode() in line and state != "Z":
            programs[int(folder.name)] = Path(line.split(b"\0")[0].decode()).name
    return programs


NewCluster = Callable[..., Cluster]


def make_clusters(azure: Azure, binaries: KubernetesBinaries, folder: Path) -> NewCluster:
    def make(properties: Body | None = None, *, put: bool = True) -> Cluster:
        number = next(_numbers)
        group = f"/resourceGroups/group{number}"
        azure.call("PUT", f"{group}{V}", {"location": "eastus"})
        path = f"{group}/providers/Microsoft.ContainerService/managedClusters/cluster{number}"
        cluster = Cluster(azure, path, binaries.kubectl, folder)
        if put:
            cluster.put(properties)
        return cluster

    return make


def clouds_cluster(
    factory: pytest.TempPathFactory, binaries: KubernetesBinaries, era: Any
) -> Iterator[Cluster]:
    folder = factory.mktemp(era)
    home = folder / "cloud"
    azure = Azure(cloud.start(home, QUICK, era, binaries.folder))
    try:
        yield make_clusters(azure, binaries, folder)()
    finally:
        assert cloud.stop(home)
    assert processes_of(home) == []


@pytest.fixture(scope="module")
def today(
    tmp_path_factory: pytest.TempPathFactory, binaries: KubernetesBinaries
) -> Iterator[Cluster]:
    """A cluster of today with one System pool, that a file's tests share: each uses its own pools.

    One for the whole session went on after its last test, at a fifteenth of a processor: up to ten
    of them took a third of the machine.
    """
    yield from clouds_cluster(tmp_path_factory, binaries, "today")


@pytest.fixture(scope="module")
def article(
    tmp_path_factory: pytest.TempPathFactory, binaries: KubernetesBinaries
) -> Iterator[Cluster]:
    """The same in the article's days."""
    yield from clouds_cluster(tmp_path_factory, binaries, "article")


@pytest.fixture
def another(today: Cluster, binaries: KubernetesBinaries) -> Callable[[], Cluster]:
    """Prepares another cluster in the cloud of today; it is not created yet."""
    make = make_clusters(today.azure, binaries, today.folder)
    return lambda: make(put=False)


@pytest.fixture
def pool_name() -> str:
    return f"pool{next(_numbers)}"


@pytest.fixture
def start(tmp_path: Path, binaries: KubernetesBinaries) -> Iterator[Callable[[], Azure]]:
    """Starts a cloud of the test's own; whatever runs in its home at the end is ended."""
    home = tmp_path / "cloud"
    yield lambda: Azure(cloud.start(home, QUICK, "today", binaries.folder))
    cloud.stop(home)


@pytest.fixture
def new(tmp_path: Path, binaries: KubernetesBinaries) -> Callable[[Azure], NewCluster]:
    """Makes clusters in a cloud of the test's own."""
    return lambda azure: make_clusters(azure, binaries, tmp_path)
