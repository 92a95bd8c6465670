"""What is shown of rehearsals, how they are stopped and started, and that they always go away."""

import io
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aksgpu import rehearsal_stage
from aksgpu.rehearsal_stage import rehearsal_home
from aksgpu.rehearse import down, lifecycle
from aksgpu.report import ReportConsole, exit_code_of
from machine_setup import EngineUnavailableError
from rehearsal import cloud
from rehearsal.arm.home import Home
from rehearsal.cloud import Cloud, CloudError
from tests.processes import command_lines
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made
from tests.waiting import until

pytestmark = pytest.mark.long

V = f"?api-version={API_VERSION}"
CLUSTER = "/resourceGroups/seen/providers/Microsoft.ContainerService/managedClusters/seen"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("AKS_GPU_REHEARSAL_ROOT", str(tmp_path))
    yield tmp_path
    cloud.remove(tmp_path / ".rehearsal")
    until(lambda: not command_lines(str(tmp_path)), "all has ended")


@pytest.fixture
def running(root: Path) -> Cloud:
    return cloud.start(root / ".rehearsal", 0.005)


def printed_by(command: Any, code: int = 0) -> str:
    out = io.StringIO()
    console = ReportConsole(file=out, width=200)
    assert exit_code_of(lambda: command(console)) == code, out.getvalue()
    return out.getvalue()


def status(code: int = 0) -> dict[str, Any]:
    text = printed_by(lambda console: lifecycle.status(console, as_json=True), code)
    document: dict[str, Any] = json.loads(text)
    return document


def with_a_stack(home: Path, name: str, content: str = "{") -> None:
    file = home / "state" / ".pulumi" / "stacks" / "aks-gpu" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def test_commands_without_a_rehearsal_explain_how_to_create_one(root: Path) -> None:
    assert status()["homes"] == []
    for command in (lambda one: lifecycle.status(one, as_json=False), lifecycle.stop):
        assert "`make rehearse` creates one" in printed_by(command)
    assert "no rehearsal to remove" in printed_by(down.rehearse_down)
    assert list(root.iterdir()) == []


def test_status_shows_the_running_rehearsal(running: Cloud) -> None:
    azure = Azure(running)
    azure.call("PUT", f"/resourceGroups/seen{V}", {"location": "eastus"})
    azure.call("PUT", f"{CLUSTER}{V}", new_cluster())
    wait_until_made(azure, CLUSTER)
    with_a_stack(running.home, "prod.eu")
    (running.home / "offers.json").write_text('{"pageSize": "many"}')

    [home] = status()["homes"]

    assert (home["server"], home["pid"]) == ("running", running.pid)
    assert home["stacks"] == ["prod.eu"]
    assert home["memoryMiB"] > 10
    assert home["complaints"][0].startswith("offers.json is not valid and is ignored")
    [cluster] = home["clusters"]
    assert (cluster["name"], cluster["controlPlane"]) == ("seen", "none")
    assert [(pool["name"], pool["nodes"]) for pool in cluster["pools"]] == [("system", 0)]
    shown = printed_by(lambda console: lifecycle.status(console, as_json=False))
    assert f"{running.url}, process {running.pid}" in shown
    assert "prod.eu" in shown

    printed_by(lifecycle.stop)
    [home] = status()["homes"]
    assert (home["server"], home["clusters"][0]["controlPlane"]) == ("stopped", "stopped")
    assert "`aksgpu start` starts it again" in status()["next"]


@pytest.mark.parametrize("text", ["", "name: [", "- a list\n", "runtime: python\n"])
def test_stacks_are_listed_though_the_project_file_is_broken(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """`aksgpu status` and `make rehearse-down` ended with a traceback."""
    (tmp_path / "Pulumi.yaml").write_text(text)
    monkeypatch.setattr(rehearsal_stage, "PROGRAM", tmp_path)
    home = root / ".rehearsal"
    with_a_stack(home, "dev")
    assert status()["homes"][0]["stacks"] == ["aks-gpu/dev"]
    (home / "project").mkdir()
    (home / "project" / "Pulumi.yaml").write_text("name: aks-gpu\n")
    assert status()["homes"][0]["stacks"] == ["dev"]


def test_a_server_that_does_not_answer_is_listed_and_stopped(running: Cloud) -> None:
    os.kill(running.pid, signal.SIGSTOP)
    document = status(code=3)
    assert document["cause"] == "rehearsal-unavailable"
    assert document["homes"][0]["server"] == "silent"
    assert "`aksgpu stop`" in document["next"]
    assert "has stopped" in printed_by(lifecycle.stop)
    assert "did not run" in printed_by(lifecycle.stop)


def test_a_dead_control_plane_is_reported_and_restarted(
    running: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody had to find the server's process and to end it by hand."""
    dead = {"name": "c", "group": "g", "controlPlane": "failed", "reason": "etcd ended"}
    status_before = cloud.status_of(running.home)
    failed = cloud.Status("running", status_before.pid, status_before.record, [dead], 1, [], [])
    monkeypatch.setattr(lifecycle, "status_of", lambda _: failed)
    assert status(code=1)["cause"] == "cluster-down"
    shown = printed_by(lambda one: lifecycle.status(one, as_json=False), code=1)
    # A whole sentence was a cell, and made the table 250 columns wide.
    assert "Control plane of c: etcd ended" in shown
    assert "failed: " not in next(line for line in shown.splitlines() if line.startswith("c "))

    started: list[Path] = []

    def noted(home: Path, **_: object) -> None:
        started.append(home)

    monkeypatch.setattr(lifecycle, "stop_cloud", noted)
    monkeypatch.setattr(lifecycle, "start_cloud", noted)
    printed_by(lifecycle.start, code=1)
    assert started == [running.home] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        "engine",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("server", "state", "home")),
    ],
)
def test_a_failed_destroy_does_not_prevent_the_removal_of_a_rehearsal(
    root: Path, running: Cloud, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """One stack that could not be destroyed kept all the others, for ever."""
    with_a_stack(running.home, "prod")

    def fails(*_: object, **__: object) -> None:
        raise EngineUnavailableError("no engine") if wrong == "engine" else CloudError("no server")

    if wrong == "engine":
        monkeypatch.setattr(down, "ensure_engine", fails)
    elif wrong == "server":
        os.kill(running.pid, signal.SIGSTOP)
        monkeypatch.setattr(down, "start_cloud", fails)
    elif wrong == "home":
        cloud.stop(running.home)
        home = Home(running.home)
        for path in running.home.glob("*"):
            if path.is_file():
                path.write_bytes(b"\0")
        home.database.unlink()
        home.database.mkdir()
    if wrong != "state":
        monkeypatch.setattr(down, "ensure_kubernetes", fails if wrong == "home" else lambda _: _Any)

    text = printed_by(down.rehearse_down, code=1)

    assert "update-failed: prod: Pulumi could not destroy it" in text
    assert "on Azure its resources would remain" in text
    assert "The rehearsal is removed" in text
    assert list(root.iterdir()) == []


class _Any:
    folder = None


def test_an_interrupted_removal_of_a_rehearsal_is_finished(root: Path) -> None:
    """The command was killed in the middle of it."""
    shutil.copytree(Path(__file__).parent, root / ".rehearsal.going")
    assert "The rehearsal is removed" in printed_by(down.rehearse_down)
    assert list(root.iterdir()) == []


def test_a_home_that_is_removed_in_part_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command said that the rehearsal was removed, after the error that it could not be."""
    rehearsal_home().mkdir()

    def fails(folder: Path) -> None:
        folder.stat()
        raise PermissionError("not yours")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", fails)
        patched.setattr(cloud, "CLEARING_ATTEMPTS", 1)
        printed = printed_by(down.rehearse_down, code=3)

    going = root / ".rehearsal.going"
    assert f"{going} cannot be removed: not yours" in printed
    assert f"Not removed: {going}." in printed
    assert "is removed:" not in printed


def test_a_home_with_a_running_update_is_not_removed(root: Path) -> None:
    """All was removed beside a running update, which then wrote a state of its own."""
    lock = rehearsal_home() / "state/.pulumi/locks/organization/aks-gpu/dev/a.json"
    lock.parent.mkdir(parents=True)
    lock.write_text('{"pid": 7, "username": "me", "hostname": "another"}')

    text = printed_by(down.rehearse_down, code=1)

    assert "locked by the update of me@another, process 7" in text
    assert f"remove {lock}" in text
    assert lock.exists()
    lock.write_text("{}")
    assert "The rehearsal is removed" in printed_by(down.rehearse_down)
    assert list(root.iterdir()) == []


def test_other_operating_systems_are_refused_before_a_build(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    printed_by(lifecycle.start, code=3)
    assert "The rehearsal runs on Linux only." in capsys.readouterr().err
    assert list(root.iterdir()) == []


def dashboard(*, as_json: bool, code: int = 0) -> str:
    return printed_by(lambda console: lifecycle.dashboard(console, as_json=as_json), code)


def test_the_dashboards_address_is_printed_with_its_token(running: Cloud) -> None:
    address = json.loads(dashboard(as_json=True))["url"]
    token = Home(running.home).page_token.read_text()
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/\?token={token}", address)
    first, _, line, *_ = dashboard(as_json=False).splitlines()
    assert (first, line) == ("Next: open this in a browser on this machine:", f"    {address}")


def test_without_a_server_the_dashboard_says_what_starts_one(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dashboard(as_json=True, code=3)
    assert "`make rehearse` creates one" in capsys.readouterr().err
    cloud.start(root / ".rehearsal", 0.005)
    cloud.stop(root / ".rehearsal")
    dashboard(as_json=False, code=3)
    assert "`aksgpu start` starts it" in capsys.readouterr().err


def test_a_server_of_an_older_version_has_no_page(
    running: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its record names no port."""
    file = Home(running.home).server
    record = json.loads(file.read_text())
    del record["pagePort"]
    file.write_text(json.dumps(record))
    dashboard(as_json=False, code=3)
    assert "`aksgpu start` starts it" in capsys.readouterr().err
