"""Processes that do not outlive whom they belong to."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.control_planes.processes import Processes, _settle, end_leftovers, records
from tests.processes import is_running
from tests.waiting import PATIENCE, until

FOREVER = [sys.executable, "-c", "import time; time.sleep(600)"]
# Takes no notice of a kind request.
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True);"
    " time.sleep(600)",
]


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(FOREVER)
    yield process
    process.kill()
    process.wait()


def test_a_process_is_recorded_until_it_has_ended(tmp_path: Path) -> None:
    async def live() -> None:
        processes = Processes(records(tmp_path))
        process = await processes.start(FOREVER, tmp_path / "log", {})
        assert [path.name for path in records(tmp_path).iterdir()] == [str(process.pid)]
        await processes.end(process)
        assert process.returncode == -signal.SIGTERM
        assert list(records(tmp_path).iterdir()) == []

    asyncio.run(live())


def test_a_process_that_ignores_signals_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rehearsal.control_planes.processes.END_SECONDS", 0.2)

    async def live() -> None:
        processes = Processes(records(tmp_path))
        process = await processes.start(STUBBORN, tmp_path / "log", {})
        while not (tmp_path / "log").read_text():  # noqa: ASYNC110 (it is a file that is awaited)
            await asyncio.sleep(0.02)
        await processes.end(process)
        assert process.returncode == -signal.SIGKILL

    asyncio.run(live())


def test_processes_end_with_the_server(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys, time\n"
        "from pathlib import Path\n"
        "from rehearsal.control_planes.processes import Processes\n"
        f"home = Path({str(tmp_path)!r})\n"
        "async def live():\n"
        f"    found = await Processes(home / 'processes').start({FOREVER!r}, home / 'log', {{}})\n"
        "    print(found.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(live())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        assert is_running(pid)
        server.kill()
    until(lambda: not is_running(pid), "it has ended with its server")


def test_a_process_that_cannot_be_recorded_is_not_started(tmp_path: Path) -> None:
    """It was recorded when it ran: on a full disk, or where the server died then, it stayed."""
    witness = tmp_path / "witness"

    async def live() -> None:
        processes = Processes(records(tmp_path))
        records(tmp_path).rmdir()
        with pytest.raises(subprocess.SubprocessError):
            await processes.start(["/bin/touch", witness], tmp_path / "log", {})

    asyncio.run(live())
    assert not witness.exists()


def test_a_process_whose_server_has_died_is_not_started(tmp_path: Path) -> None:
    """Whoever is born after the death of its server is not ended by it."""
    child = os.fork()
    if child == 0:
        _settle(os.getpid(), tmp_path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert list(tmp_path.iterdir()) == []


def test_leftover_processes_are_ended(tmp_path: Path, sleeper: "subprocess.Popen[bytes]") -> None:
    folder = records(tmp_path)
    folder.mkdir()
    stat = Path(f"/proc/{sleeper.pid}/stat").read_text()
    (folder / str(sleeper.pid)).write_text(stat.rpartition(")")[2].split()[19])
    assert end_leftovers(folder) == 1
    assert sleeper.wait(PATIENCE) == -signal.SIGKILL
    assert list(folder.iterdir()) == []


def test_another_process_with_a_recorded_id_is_not_killed(
    tmp_path: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    folder = records(tmp_path)
    folder.mkdir()
    (folder / str(sleeper.pid)).write_text("1")
    assert end_leftovers(folder) == 0
    assert sleeper.poll() is None
    assert list(folder.iterdir()) == []
