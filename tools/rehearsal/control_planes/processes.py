"""The processes of the clusters, none of which outlives the server that started it.

Linux kills each process when the server dies, however it dies. Each process is also recorded by its
pid and start time, from before its program starts until it has ended: the next server, or a command
that stops the rehearsal, ends the processes that are still recorded.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

POLL_SECONDS = 0.02
END_SECONDS = 5.0
_PR_SET_PDEATHSIG = 1

# Loaded here: between fork and exec it is not safe to load a library.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def records(folder: Path) -> Path:
    """Returns the folder of the process records, in the folder of all clusters."""
    return folder / "processes"


class Processes:
    """The processes of one server; `records` is the folder of their records."""

    def __init__(self, records: Path) -> None:
        self._records = records
        records.mkdir(parents=True, exist_ok=True)

    async def start(
        self,
        command: Sequence[str | Path],
        log: Path,
        environment: Mapping[str, str],
        files: Sequence[int] = (),
    ) -> Process:
        """Starts a process, which also gets these open files under their numbers."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=log.parent,
                pass_fds=files,
                # The server handles Ctrl-C for its processes.
                start_new_session=True,
                preexec_fn=partial(_settle, os.getpid(), self._records),
            )

    async def end(self, process: Process, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends a process with a signal, and with SIGKILL if it does not end in time."""
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
            try:
                await asyncio.wait_for(process.wait(), END_SECONDS)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        (self._records / str(process.pid)).unlink(missing_ok=True)


def recorded_pids(records: Path) -> list[int]:
    """Returns the pids of the recorded processes, some of which may have ended."""
    return [int(path.name) for path in records.glob("[0-9]*") if path.name.isdigit()]


def end_leftovers(records: Path) -> int:
    """Ends the processes that a dead server left behind; returns their number."""
    recorded_processes = [path for path in records.glob("[0-9]*") if path.name.isdigit()]
    alive = [path for path in recorded_processes if _runs(path)]
    for path in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.name), signal.SIGKILL)
    deadline = time.monotonic() + END_SECONDS
    for path in alive:
        while _runs(path) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
    for path in recorded_processes:
        path.unlink(missing_ok=True)
    return len(alive)


def _runs(record: Path) -> bool:
    """Whether a recorded process runs; a record that cannot be read is none."""
    try:
        return _began(int(record.name)) == record.read_text()
    except (OSError, UnicodeError):
        return False


def _settle(server: int, records: Path) -> None:
    """Runs in a new process before its program; if this fails, the program does not start."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # If the server has died already, nothing would end this process.
    if os.getppid() != server:
        os._exit(1)
    (records / str(os.getpid())).write_text(_began(os.getpid()) or "")


def _began(pid: int) -> str | None:
    """Returns the start time of a process in the kernel's clock ticks; None if it has ended.

    A pid does not identify a process: the kernel reuses it.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the name in parentheses, which may contain any character.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state == "Z" else fields[18]
