"""A server's life, whatever ends it or those who use it, and at whatever moment."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehearsal import cloud
from rehearsal.cloud import Cloud, CloudError
from rehearsal.server_lock import ServerLock, holder, is_held
from tests.bench import ROOT
from tests.processes import command_lines, is_running
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.nightly

Start = Callable[..., Cloud]

# A server that holds the lock, and does not come to serve.
SILENT = """
import os, pathlib, sys, time
from rehearsal.server_lock import ServerLock
lock = ServerLock.take(pathlib.Path(sys.argv[1]))
lock.write_pid(os.getpid())
print("ready", flush=True)
time.sleep(600)
"""
# Ends itself at a line of the rehearsal's own code, as if the machine had gone down there.
KILLED = """
import os, runpy, signal, sys
left = int(sys.argv[1])
def at(frame, event, _):
    global left
    if "/rehearsal/" not in frame.f_code.co_filename:
        return None
    if event == "line":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return at
sys.settrace(at)
exec(sys.argv[2])
"""
STARTS = "from rehearsal import cloud; import pathlib; cloud.start(pathlib.Path({home!r}))"
STOPS = "from rehearsal import cloud; import pathlib; cloud.stop(pathlib.Path({home!r}))"
REMOVES = "from rehearsal import cloud; import pathlib; cloud.remove(pathlib.Path({home!r}))"
SERVES = (
    "sys.argv = ['', '--home', {home!r}]; runpy.run_module('rehearsal.arm', run_name='__main__')"
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home, and at the end nothing at work in it."""
    yield tmp_path / "cloud"
    cloud.remove(tmp_path / "cloud")
    until(lambda: not command_lines(str(tmp_path / "cloud")), "all has ended")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def silent(home: Path) -> Iterator[Callable[[], int]]:
    started = []

    def start() -> int:
        home.mkdir()
        command = [sys.executable, "-c", SILENT, str(home / "server.lock")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("state", ["stopped", "without a record", "with a damaged record"])
def test_a_server_that_does_not_answer_runs(start_cloud: Start, state: str) -> None:
    """It was "not running": its home was deleted under it, and its clusters stayed."""
    running = start_cloud()
    if state == "stopped":
        os.kill(running.pid, signal.SIGSTOP)
    elif state == "without a record":
        (running.home / "server.json").unlink()
    else:
        (running.home / "server.json").write_text("{")
    assert is_held(running.home / "server.lock")
    assert cloud.stop(running.home)
    until(lambda: not is_running(running.pid), "it has ended")
    assert not is_held(running.home / "server.lock")


def test_a_server_that_goes_on_to_be_silent_is_restarted(
    start_cloud: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was an error, with the advice to stop it."""
    running = start_cloud()
    monkeypatch.setattr(cloud, "SILENCE_SECONDS", 0.1)
    monkeypatch.setattr(cloud, "ANSWER_SECONDS", 0.1)
    os.kill(running.pid, signal.SIGSTOP)
    again = start_cloud()
    assert (again.pid != running.pid, again.url) == (True, running.url)
    assert not is_running(running.pid)


def test_a_starting_server_is_ended_before_its_home_is_removed(
    home: Path, silent: Callable[[], int]
) -> None:
    """A server takes a while until it answers."""
    pid = silent()
    assert holder(home / "server.lock") == pid
    cloud.remove(home)
    until(lambda: not is_running(pid), "it is gone")
    assert not home.exists()


def test_a_start_waits_for_another_start(home: Path) -> None:
    home.mkdir()
    lock = ServerLock.take(home / "server.lock")
    assert lock is not None
    script = STARTS.format(home=str(home))
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    assert not (home / "server.log").exists()
    lock.release()
    assert process.wait(60) == 0
    assert cloud.find(home) is not None


def test_a_deleted_home_ends_its_server(start_cloud: Start) -> None:
    """By hand, with `rm -rf`: nobody could find the server any more, nor end it."""
    running = start_cloud()
    shutil.rmtree(running.home)
    until(lambda: not is_running(running.pid), "the server has seen it")
    assert not running.home.exists()


def test_a_server_with_changed_code_is_restarted(
    start_cloud: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a `git pull` the old code went on answering the new one."""
    before = start_cloud()
    monkeypatch.setattr(cloud, "fingerprint", lambda: "newer")
    messages: list[str] = []
    after = cloud.start(before.home, era="article", say=messages.append)
    assert after.pid != before.pid
    assert (after.url, after.time_scale) == (before.url, before.time_scale)
    assert messages == [
        "The rehearsal's server runs with another version of the code. Restarting it; its state is "
        "kept."
    ]


def test_another_time_scale_restarts_the_server(start_cloud: Start) -> None:
    first = start_cloud(0.005)
    assert start_cloud(None) == first
    second = start_cloud(0.01)
    assert (second.pid != first.pid, second.time_scale) == (True, 0.01)


def test_an_interrupted_start_leaves_no_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before the first answer left a server behind that nobody waited for."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cloud, "_wait_for_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cloud.start(home)
    assert not is_held(home / "server.lock")
    until(lambda: not command_lines(str(home)), "it has ended")


def test_a_home_that_cannot_be_removed_hides_no_interruption(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the removal took the place of Ctrl-C, and the command said that it had failed."""

    def fails(*_: object) -> None:
        raise OSError("Directory not empty")

    def interrupted() -> None:
        with cloud.removed_afterwards(home):
            home.mkdir()
            monkeypatch.setattr(shutil, "rmtree", fails)
            monkeypatch.setattr(cloud, "CLEARING_ATTEMPTS", 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(CloudError, match="cannot be removed: Directory not empty"):
        cloud.remove(home)
    monkeypatch.undo()


def test_what_an_earlier_removal_could_not_delete_keeps_no_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of root's stayed behind: the server of each later rehearsal could not be removed.

    The message named the home, which was no longer there.
    """
    going = home.with_name("cloud.going")
    going.mkdir()
    cloud.start(home)

    def fails(*_: object) -> None:
        raise PermissionError("not yours")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", fails)
        patched.setattr(cloud, "CLEARING_ATTEMPTS", 1)
        with pytest.raises(CloudError, match=f"^{going} cannot be removed: not yours"):
            cloud.remove(home)

    assert home.exists()
    assert not is_held(home / "server.lock")


# Lines of the rehearsal's code up to which each of them gets. The last are beyond their ends.
MOMENTS = {STARTS: 1300, STOPS: 700, REMOVES: 450, SERVES: 4000}


@pytest.mark.parametrize("share", [1, 5, 13, 17])
@pytest.mark.parametrize("script", MOMENTS)
def test_a_start_cleans_up_after_a_kill_at_any_moment(home: Path, script: str, share: int) -> None:
    """SIGKILL of the command, or of the server, at a line of its own code."""
    if script != SERVES:
        cloud.start(home)
    if script == STARTS:
        cloud.stop(home)
    line = MOMENTS[script] * share // 20
    command = [sys.executable, "-c", KILLED, str(line), script.format(home=str(home))]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    if script == SERVES:
        until(lambda: process.poll() is not None or cloud.find(home), "it serves or is dead")
    else:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, -signal.SIGKILL), errors

    running = cloud.start(home)

    with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2]))):
        pass
    cloud.remove(home)
    if script == SERVES:
        process.kill()
        process.communicate()
