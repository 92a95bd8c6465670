"""A control plane that does not come up."""

import asyncio
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from rehearsal import cloud
from rehearsal.control_planes import fleet
from rehearsal.control_planes.control_plane import last_words
from rehearsal.control_planes.processes import records
from tests.processes import is_running
from tests.rehearsal.conftest import FAST, Azure, new_cluster
from tests.rehearsal.control_planes.conftest import V, processes_of
from tests.rehearsal.control_planes.test_fleet import Wishes, made
from tests.waiting import until

PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@pytest.mark.nightly
def test_a_failed_control_plane_is_reported_and_its_cluster_can_be_deleted(tmp_path: Path) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for part in PARTS:
        (binaries / part).write_text("#!/bin/sh\necho this is not what you want >&2\nexit 3\n")
        (binaries / part).chmod(0o755)
    home = tmp_path / "cloud"
    azure = Azure(cloud.start(home, FAST, kubernetes=binaries))
    try:
        azure.call("PUT", f"/resourceGroups/g{V}", {"location": "eastus"})
        path = f"/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c{V}"
        made = azure.call("PUT", path, new_cluster())
        operation = azure.below(made.headers["Azure-AsyncOperation"])

        def ended() -> bool:
            return bool(azure.call("GET", operation).body["status"] == "Failed")

        until(ended, "the creation has failed")
        error = azure.call("GET", operation).body["error"]
        assert error["code"] == "ControlPlaneFailed"
        assert "ended with status 3" in error["message"]
        assert "this is not what you want" in error["message"]
        assert azure.call("GET", path).body["properties"]["provisioningState"] == "Failed"
        credentials = path.replace("?", "/listClusterUserCredential?")
        refused = azure.call("POST", credentials)
        assert refused.body["code"] == "ControlPlaneNotReady"
        assert "ended with status 3" in refused.body["message"]

        assert azure.call("DELETE", path).status == 202
        until(lambda: azure.call("GET", path).status == 404, "the cluster is gone")
        assert [folder.name for folder in (home / "kubernetes").iterdir()] == ["processes"]
    finally:
        assert cloud.stop(home)
    assert processes_of(home) == []


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """etcd's stack trace was Azure's message."""
    log = tmp_path / "etcd.log"
    log.write_text("panic: no space left on device\ngoroutine 1 [running]:\n")
    assert "goroutine 1" in last_words("etcd", 2, log)

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 2**20))
    told = last_words("etcd", 2, log)
    assert "The disk is full" in told
    assert f"{tmp_path} has 3 MiB left" in told
    assert "goroutine" not in told


def test_a_hanging_control_plane_does_not_block_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server began to answer when all were ready: whoever waited for it gave up before."""
    for part in PARTS:
        (tmp_path / part).write_text("#!/bin/sh\nexec sleep 10000\n")
        (tmp_path / part).chmod(0o755)
    monkeypatch.setattr(fleet, "START_SECONDS", 0.5)

    async def start() -> list[int]:
        clusters = made(tmp_path, Wishes())
        await clusters.start()
        folder = records(tmp_path / "kubernetes")
        while not [*folder.iterdir()]:  # noqa: ASYNC110 (a process says nothing of itself)
            await asyncio.sleep(0.02)
        still_coming_up = [int(record.name) for record in folder.iterdir()]
        assert all(map(is_running, still_coming_up))
        await clusters.stop()
        return still_coming_up

    begun = asyncio.run(start())
    assert begun
    assert not any(map(is_running, begun))
