"""Whether there is memory for one more cluster."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from rehearsal.arm import server, tokens
from rehearsal.arm.home import Home, load_principal
from rehearsal.control_planes import memory
from tests.rehearsal.conftest import new_cluster

V = "?api-version=2026-08-01"


def machine(root: Path, mebibytes: int) -> Path:
    (root / "proc").mkdir()
    lines = f"MemTotal: 99999999 kB\nMemAvailable:   {mebibytes << 10} kB\n"
    (root / "proc/meminfo").write_text(lines)
    return root


def container(root: Path, limit: str, used: int, cached: int) -> Path:
    folder = root / "sys/fs/cgroup"
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used << 20}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached << 20}\n")
    return root


@pytest.mark.parametrize(("mebibytes", "is_enough"), [(8000, True), (801, True), (500, False)])
def test_a_cluster_needs_enough_free_memory(
    tmp_path: Path, mebibytes: int, is_enough: bool
) -> None:
    assert (memory.lacking(root=machine(tmp_path, mebibytes)) is None) is is_enough


def test_a_lack_of_memory_is_reported_with_numbers_and_advice(tmp_path: Path) -> None:
    message = memory.lacking(root=machine(tmp_path, 500))
    assert message is not None
    for word in ("600 MiB", "500 MiB free", "Delete a cluster"):
        assert word in message


def test_clusters_that_are_coming_are_counted(tmp_path: Path) -> None:
    root = machine(tmp_path, 1500)
    assert memory.lacking(1, root) is None
    assert memory.lacking(2, root) is not None


def test_the_memory_limit_of_a_container_is_respected(tmp_path: Path) -> None:
    root = container(machine(tmp_path, 8000), str(1000 << 20), 600, 100)
    assert "500 MiB free" in str(memory.lacking(root=root))


def test_a_container_without_a_limit_has_the_machines_memory(tmp_path: Path) -> None:
    assert memory.lacking(root=container(machine(tmp_path, 8000), "max", 600, 100)) is None


def test_unknown_memory_refuses_no_cluster(tmp_path: Path) -> None:
    assert memory.lacking(root=tmp_path) is None


def test_a_cluster_without_memory_is_refused_before_its_creation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "lacking", lambda _: "There is no memory left.")
    home = Home(tmp_path)

    async def ask() -> tuple[int, Any, int]:
        app = server.application(home, 1, "i", server.Options(kubernetes=tmp_path / "none"))
        who = load_principal(home)
        token = tokens.load(home).issue(who, "https://localhost:1", "i")
        group = f"/subscriptions/{who.subscription}/resourceGroups/g"
        path = f"{group}/providers/Microsoft.ContainerService/managedClusters/c{V}"
        async with TestClient(TestServer(app)) as client:
            sent = {"Authorization": f"Bearer {token}"}
            await client.put(f"{group}{V}", json={"location": "eastus"}, headers=sent)
            refused = await client.put(path, json=new_cluster(), headers=sent)
            after = await client.get(path, headers=sent)
            return refused.status, await refused.json(), after.status

    status, body, after = asyncio.run(ask())
    assert (status, body["code"]) == (400, "RehearsalOutOfMemory")
    assert body["message"] == "There is no memory left."
    assert after == 404
    assert {path.name for path in home.kubernetes.iterdir()} == {"processes"}
