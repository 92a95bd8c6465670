"""The stand-ins that a rehearsal's server keeps loaded: a plug-in is a fork of them."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from rehearsal import cloud
from rehearsal.cloud import Cloud
from rehearsal.stand_ins import launch
from tests.processes import children_of, command_lines, is_running
from tests.rehearsal.conftest import FAST
from tests.waiting import until

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
    """The process that has the stand-ins loaded."""
    commands = command_lines("rehearsal.stand_ins.loaded")
    [found] = [child for child in children_of(running.pid) if child in commands]
    return found


def forks(running: Cloud) -> list[int]:
    return [child for child in children_of(keeper(running)) if is_running(child)]


def test_a_plug_in_is_a_fork_that_ends_with_its_starter(running: Cloud) -> None:
    with plug_in(running) as asked, plug_in(running, "kubernetes") as killed:
        assert len(forks(running)) == 2
        asked.terminate()
        assert asked.wait() == 0
        killed.kill()
        until(lambda: forks(running) == [], "both forks have ended")


def test_forks_outlive_the_keeper_and_the_next_plug_in_starts_another(running: Cloud) -> None:
    with plug_in(running):
        before, [fork] = keeper(running), forks(running)
        os.kill(before, signal.SIGKILL)
        with plug_in(running):
            assert is_running(fork)
        until(lambda: not is_running(before), "the killed one is gone")
        with plug_in(running):
            assert keeper(running) != before


def test_changed_code_is_loaded_anew(running: Cloud) -> None:
    with plug_in(running):
        before = keeper(running)
    (FOLDER / "launch.py").touch()
    with plug_in(running):
        assert not is_running(before)


@pytest.mark.parametrize(
    "variables",
    [
        {"SSL_CERT_FILE": certifi.where()},
        {launch.SOCKET_VARIABLE: ""},
        {launch.SOCKET_VARIABLE: "/nowhere/at/all"},
    ],
    ids=str,
)
def test_what_no_fork_can_be_starts_by_itself(running: Cloud, variables: dict[str, str]) -> None:
    """An authority is read when a library is loaded: a fork would trust another one."""
    with plug_in(running), plug_in(running, **variables) as alone:
        assert len(forks(running)) == 1
        alone.terminate()
        assert alone.wait() == 0


def test_nothing_outlives_the_server(tmp_path: Path) -> None:
    killed = cloud.start(tmp_path, FAST)
    try:
        with plug_in(killed):
            kept = keeper(killed)
        os.kill(killed.pid, signal.SIGKILL)
        until(lambda: not is_running(kept), "the keeper has ended with its server")
    finally:
        cloud.stop(tmp_path)
