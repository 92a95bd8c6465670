"""The offline plug-ins that a rehearsal's server keeps loaded: a plug-in is a fork of them."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from rehearsal import cloud
from rehearsal.cloud import Cloud
from rehearsal.offline_plug_ins import launch
from tests.processes import children_of, command_lines, is_running
from tests.rehearsal.conftest import FAST
from tests.waiting import until

pytestmark = pytest.mark.long

FOLDER = Path(launch.__file__).parent
# Nobody listens there: a plug-in ends by itself only when an engine was there and is gone.
NO_ENGINE = "127.0.0.1:1"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    # Longer than an address of a socket may be.
    home = tmp_path_factory.mktemp("loaded") / ("x" * 100)
    try:
        yield cloud.start(home, FAST)
    finally:
        cloud.stop(home)


@contextlib.contextmanager
def plug_in(
    running: Cloud, name: str = "azure_native", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """A plug-in as the engine starts it, which has told its port."""
    started = subprocess.Popen(
        [sys.executable, "-u", FOLDER / name, NO_ENGINE],
        env={**os.environ, **running.environment(), **variables},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout
        assert int(started.stdout.readline()) > 0
        yield started
    finally:
        started.kill()
        started.communicate()


def keeper(running: Cloud) -> int:
    """The process that has the offline plug-ins loaded."""
    commands = command_lines("rehearsal.offline_plug_ins.loaded")
    [keeper_process] = [child for child in children_of(running.pid) if child in commands]
    return keeper_process


def forks(running: Cloud) -> list[int]:
    return [child for child in children_of(keeper(running)) if is_running(child)]


def test_a_plug_in_is_a_fork_that_ends_with_its_starter(running: Cloud) -> None:
    with plug_in(running) as asked, plug_in(running, "kubernetes") as killed:
        assert len(forks(running)) == 2
        asked.terminate()
        assert asked.wait() == 0
        killed.kill()
        until(lambda: forks(running) == [], "both forks have ended")


@pytest.mark.nightly
def test_forks_survive_the_keeper_and_the_next_plug_in_starts_another(running: Cloud) -> None:
    with plug_in(running):
        before, [fork] = keeper(running), forks(running)
        os.kill(before, signal.SIGKILL)
        with plug_in(running):
            assert is_running(fork)
        until(lambda: not is_running(before), "the killed one is gone")
        with plug_in(running):
            assert keeper(running) != before


@pytest.mark.parametrize("changed", ["code", "authority"])
def test_changed_code_is_loaded_again(running: Cloud, changed: str) -> None:
    """With a certificate made anew, forks trusted the old one only."""
    with plug_in(running):
        before = keeper(running)
    file = FOLDER / "launch.py" if changed == "code" else running.home / "ca-bundle.pem"
    file.touch()
    with plug_in(running):
        assert not is_running(before)


@pytest.mark.nightly
def test_a_client_that_disconnects_leaves_no_process(running: Cloud) -> None:
    """An unread byte made the fork's connection fail instead of end, and the fork stayed."""
    request = {
        "name": "azure_native",
        "offline_plug_ins": str(FOLDER),
        "arguments": ["plug-in", NO_ENGINE],
        "folder": str(running.home),
        "variables": {**os.environ, **running.environment()},
    }
    content = json.dumps(request).encode()
    reader, writer = os.pipe()
    with connected(running) as client:
        socket.send_fds(client, [len(content).to_bytes(4)], [0, writer, 2])
        client.sendall(content)
        assert select.select([client], [], [])
        assert len(forks(running)) == 1
    until(lambda: forks(running) == [], "the fork has ended")
    # In the middle of a request, too: nobody holds its files.
    with connected(running) as client:
        socket.send_fds(client, [len(content).to_bytes(4)], [0, writer, 2])
    os.close(writer)
    with os.fdopen(reader, "rb") as output:
        output.read()


@contextlib.contextmanager
def connected(running: Cloud) -> Iterator[socket.socket]:
    with contextlib.ExitStack() as stack, socket.socket(socket.AF_UNIX) as client:
        client.connect(launch.short_address(running.home / "plug-ins.socket", stack))
        yield client


@pytest.mark.nightly
def test_a_failed_fork_reports_its_reason(running: Cloud) -> None:
    """It ended without a word."""
    ended = subprocess.run(
        [sys.executable, "-u", FOLDER / "azure_native"],
        env={**os.environ, **running.environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == launch.FAILED
    assert "IndexError" in ended.stderr


@pytest.mark.nightly
def test_a_keeper_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "PATIENCE", 0.01)
    with contextlib.ExitStack() as stack, socket.socket(socket.AF_UNIX) as silent:
        silent.bind(launch.short_address(tmp_path / "socket", stack))
        silent.listen()
        assert launch._fork("azure_native", tmp_path / "socket") is None


@pytest.mark.nightly
@pytest.mark.parametrize(
    "variables",
    [
        {"SSL_CERT_FILE": certifi.where()},
        {launch.SOCKET_VARIABLE: ""},
        {launch.SOCKET_VARIABLE: "/nowhere/at/all"},
    ],
    ids=str,
)
def test_a_plug_in_that_cannot_be_a_fork_starts_by_itself(
    running: Cloud, variables: dict[str, str]
) -> None:
    """An authority is read when a library is loaded: a fork would trust another one."""
    with plug_in(running), plug_in(running, **variables) as alone:
        assert len(forks(running)) == 1
        alone.terminate()
        assert alone.wait() == 0


@pytest.mark.nightly
def test_the_keeper_ends_with_the_server(tmp_path: Path) -> None:
    killed = cloud.start(tmp_path, FAST)
    try:
        with plug_in(killed):
            kept = keeper(killed)
        os.kill(killed.pid, signal.SIGKILL)
        until(lambda: not is_running(kept), "the keeper has ended with its server")
    finally:
        cloud.stop(tmp_path)
