"""Files that are damaged, a disk without room, and a log that cannot be written."""

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from rehearsal import cloud
from rehearsal.arm import operations
from rehearsal.arm.home import Home
from rehearsal.arm.request_log import RequestLog
from rehearsal.arm.state import Store
from rehearsal.cloud import Cloud
from rehearsal.files import write_whole
from tests.bench import ROOT
from tests.rehearsal.arm.in_process import Arm
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

pytestmark = pytest.mark.long

V = f"?api-version={API_VERSION}"
CLUSTER = "/resourceGroups/kept/providers/Microsoft.ContainerService/managedClusters/kept"


@pytest.fixture
def filled(start_cloud: Callable[..., Cloud]) -> tuple[Path, dict[str, bytes], Azure]:
    """A home with a cluster, its files, and the clients of its cloud; its server has ended."""
    azure = Azure(start_cloud())
    azure.call("PUT", f"/resourceGroups/kept{V}", {"location": "eastus"})
    azure.call("PUT", f"{CLUSTER}{V}", new_cluster())
    wait_until_made(azure, CLUSTER)
    home = azure.cloud.home
    (home / "faults.json").write_text("[]")
    (home / "offers.json").write_text("{}")
    cloud.stop(home)
    return home, {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}, azure


def _at_night(name: str, told: str) -> Any:
    return pytest.param(name, told, marks=pytest.mark.nightly)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        _at_night("principal.json", "principal.json is damaged"),
        _at_night("token-key.pem", "token-key.pem is damaged"),
        _at_night("ca.pem", "a certificate of the server is damaged"),
        _at_night("server.pem", "a certificate of the server is damaged"),
        ("server-key.pem", "a certificate of the server is damaged"),
        ("arm.sqlite", "arm.sqlite is damaged: "),
    ],
)
def test_a_damaged_rehearsal_begins_again(
    filled: tuple[Path, dict[str, bytes], Azure], name: str, told: str
) -> None:
    """Each file was repaired by code of its own, which nobody had a use for."""
    home, before, _ = filled
    (home / name).write_bytes(before[name][: len(before[name]) // 2])
    (home / "state").mkdir()
    said: list[str] = []

    again = Azure(cloud.start(home, era="article", say=said.append))

    [line] = said
    assert line.startswith(told)
    assert line.endswith(": the rehearsal begins again, with an empty cloud.")
    assert again.call("GET", f"{CLUSTER}{V}").status == 404
    assert again.call("PUT", f"/resourceGroups/new{V}", {"location": "eastus"}).status == 201
    # What its user has written stays; the state of stacks would be of resources that are gone.
    assert (home / "faults.json").read_text() == "[]"
    assert not (home / "state").exists()


@pytest.mark.nightly
def test_a_cloud_with_invalid_scripts_and_records_keeps_its_state(
    filled: tuple[Path, dict[str, bytes], Azure],
) -> None:
    home, before, azure = filled
    for name in ("faults.json", "offers.json", "server.json", "ca-bundle.pem", "era"):
        (home / name).write_bytes(before[name][: len(before[name]) // 2] or b"{")
    again = Azure(cloud.start(home, era="article"))
    assert again.cloud.subscription == azure.cloud.subscription
    assert again.call("GET", f"{CLUSTER}{V}").status == 200
    log = (home / "server.log").read_text()
    for name in ("faults.json", "offers.json"):
        assert f"{name} is not valid and is ignored" in log


def test_a_transaction_on_a_full_disk_is_rolled_back(tmp_path: Path) -> None:
    """COMMIT failed outside of the `try`: every later request failed as well, until a restart."""
    with closing(Store(tmp_path / "arm.sqlite")) as store:
        arm = Arm(store=store)
        pages = store.rows("PRAGMA page_count")[0][0]
        store.rows(f"PRAGMA max_page_count = {pages}")
        name = arm.name()
        body = {"location": "eastus", "tags": {str(number): "x" * 250 for number in range(15)}}

        def fill() -> None:
            for number in range(200):
                arm.call("PUT", f"{name[: name.index('/providers')]}{number}", body, "2025-04-01")

        with pytest.raises(sqlite3.OperationalError, match="full"):
            fill()
        store.rows(f"PRAGMA max_page_count = {pages * 100}")
        assert (
            arm.call("PUT", f"{name[: name.index('/providers')]}-z", body, "2025-04-01").status
            == 201
        )


@pytest.mark.nightly
def test_a_full_disk_is_reported_and_loses_no_data(start_cloud: Callable[..., Cloud]) -> None:
    """The answer says why; what was answered before is there, and later requests are served."""
    azure = Azure(start_cloud())
    azure.call("PUT", f"/resourceGroups/first{V}", {"location": "eastus"})
    pid, tags = azure.cloud.pid, {str(number): "x" * 250 for number in range(15)}
    room = sum((azure.cloud.home / name).stat().st_size for name in ("arm.sqlite-wal",))
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room + 20_000, limits[1]))

    answers = [
        azure.call("PUT", f"/resourceGroups/g{number}{V}", {"location": "eastus", "tags": tags})
        for number in range(12)
    ]

    refused = next(answer for answer in answers if answer.status != 201)
    assert refused.status == 500
    assert "The rehearsal cannot write its state: " in refused.body["error"]["message"]
    assert azure.call("GET", f"/resourceGroups/first{V}").status == 200
    resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    assert azure.call("PUT", f"/resourceGroups/last{V}", {"location": "eastus"}).status == 201
    there = [group["name"] for group in azure.call("GET", f"/resourceGroups{V}").body["value"]]
    made = [f"g{number}" for number, answer in enumerate(answers) if answer.status == 201]
    assert there == ["first", *made, "last"]
    for line in azure.cloud.request_log.read_bytes().splitlines():
        json.loads(line)


def test_a_log_that_cannot_be_written_fails_no_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PUT that was done was answered by a 500."""
    log = RequestLog(tmp_path / "requests.jsonl")
    log._file.close()
    log._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115, PTH123
    for _ in range(3):
        log.write(make_mocked_request("PUT", "/a"), b"", 201)
    assert capsys.readouterr().err.splitlines() == [
        "requests.jsonl cannot be written; requests will be missing in it: [Errno 28] No space "
        "left on device"
    ]


def test_a_file_is_replaced_completely_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after a loss of power, too; a disk without room leaves no draft."""
    synced: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(_name(descriptor))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(tmp_path / "a", b"first")
    assert synced == [f".a.{os.getpid()}", tmp_path.name]

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "a", b"second")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"first"


def _name(descriptor: int) -> str:
    return Path(f"/proc/self/fd/{descriptor}").readlink().name


def test_operations_are_kept_for_a_day(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "arm.sqlite")) as store:
        arm = Arm(store=store)
        body = new_cluster()
        for _ in range(2):
            arm.call("PUT", arm.name(), body, API_VERSION)
        arm.call("GET", arm.name(), None, API_VERSION)
        store.rows("UPDATE operations SET ended = ended - ?", operations.KEPT_SECONDS)
        arm.call("PUT", arm.name(), body, API_VERSION)
        assert len(store.rows("SELECT * FROM operations")) == 1


def test_a_clock_set_back_delays_no_operation(tmp_path: Path) -> None:
    """It ended when the clock had come to where it had been before."""
    with closing(Store(tmp_path / "arm.sqlite")) as store:
        arm = Arm(store=store)
        name = arm.name()
        assert arm.call("PUT", name, new_cluster(), API_VERSION).status == 201
        store.rows("UPDATE operations SET started = started + 3600, due = due + 3600")
        arm.call("GET", name, None, API_VERSION)
        made = arm.call("GET", name, None, API_VERSION)
        assert made.body["properties"]["provisioningState"] == "Succeeded"


@pytest.mark.nightly
def test_only_the_owner_can_read_the_home(start_cloud: Callable[..., Cloud]) -> None:
    """Bodies of requests hold passwords."""
    home = start_cloud().home
    assert home.stat().st_mode & 0o777 == 0o700
    home.chmod(0o755)
    cloud.stop(home)
    start_cloud()
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.nightly
def test_an_unusable_home_is_reported_in_one_sentence(tmp_path: Path) -> None:
    """No room for any file of a new home."""
    command = [sys.executable, "-m", "rehearsal.arm", "--home", str(tmp_path / "cloud")]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{Home(tmp_path / 'cloud').path} cannot be used: ")
    assert "Traceback" not in ended.stderr
