"""Whose locks hold: all but those of engines that are dead for certain."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aksgpu.project import Project
from aksgpu.rehearse.locks import locked_stacks

# As Go writes it, and longer ago than any process of this machine has begun.
LONG_AGO = "2001-01-01T00:00:00.123456789Z"


@contextmanager
def process(file: Path, called: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A process of a file with that name, which may be called otherwise."""
    shutil.copy(shutil.which("sleep") or "", file)
    started = subprocess.Popen([called or file, "600"], executable=file)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A process that is called as the engine is."""
    with process(tmp_path_factory.mktemp("bin") / "pulumi") as started:
        yield started.pid


@pytest.fixture(scope="module")
def ended() -> int:
    """The number of a process that there was."""
    process = subprocess.Popen(["true"])  # noqa: S607
    process.wait()
    return process.pid


class Locks:
    def __init__(self, state: Path) -> None:
        self.state = state

    def add(self, name: str, text: str | None = None, **more: Any) -> Path:
        file = self.state / ".pulumi" / "locks" / "organization" / "aks-gpu" / "dev" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = {"username": "me", "hostname": socket.gethostname(), "timestamp": LONG_AGO}
        file.write_text(json.dumps(lock | more) if text is None else text)
        return file

    def held(self) -> str:
        """What is told of the locks that hold."""
        return " ".join(finding.what for finding in locked_stacks(self.state))


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    return Locks(tmp_path)


def test_a_dead_engine_holds_no_lock(locks: Locks, ended: int) -> None:
    locks.add("a.json", pid=ended)
    assert not locks.held()


@pytest.mark.parametrize("stack", ["dev", "organization/dev", "organization/aks-gpu/dev"])
def test_a_lock_is_found_by_every_form_of_a_stacks_name(
    tmp_path: Path, ended: int, stack: str
) -> None:
    """Beside the short name, the engine takes two longer ones: a killed update kept its lock."""
    project = Project(tmp_path, tmp_path)
    assert not project.has_locks(stack)
    Locks(project.state).add("a.json", pid=ended)
    assert project.has_locks(stack)
    project.remove_state()
    assert not project.has_locks(stack)


def test_a_live_lock_holds_beside_a_dead_one(locks: Locks, ended: int, engine: int) -> None:
    """Where the clock was set forward since, the engine seemed to be younger than its lock."""
    locks.add("a.json", pid=ended)
    locks.add("b.json", pid=engine)
    assert f"the stack dev is locked by the update of me@{socket.gethostname()}" in locks.held()
    assert f"process {engine}" in locks.held()
    assert f"process {ended}" not in locks.held()


def test_a_lock_of_another_machine_holds(locks: Locks, ended: int) -> None:
    locks.add("a.json", pid=ended, hostname="another")
    assert f"me@another, process {ended}" in locks.held()


@pytest.mark.parametrize(
    ("file", "called"),
    [(".pulumi-wrapped", ""), ("engine-3.200", "/usr/local/bin/pulumi"), ("pulumi", "p")],
)
def test_an_engine_behind_a_wrapper_holds_its_lock(
    locks: Locks, tmp_path: Path, file: str, called: str
) -> None:
    """nixpkgs has a wrapper of its own: its lock was lifted in the middle of the update."""
    with process(tmp_path / file, called) as started:
        locks.add("a.json", pid=started.pid)
        assert f"process {started.pid}" in locks.held()
    assert not locks.held()


def test_a_zombie_engine_holds_no_lock(locks: Locks, tmp_path: Path) -> None:
    with process(tmp_path / "pulumi") as started:
        locks.add("a.json", pid=started.pid)
        started.kill()
        os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)
        assert not locks.held()


def test_a_reused_process_id_holds_no_lock(locks: Locks) -> None:
    """The stack was locked for ever."""
    locks.add("a.json", pid=os.getpid())
    assert not locks.held()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "\x00" * 90])
def test_a_damaged_lock_has_no_owner(locks: Locks, text: str) -> None:
    locks.add("a.json", text)
    assert not locks.held()
