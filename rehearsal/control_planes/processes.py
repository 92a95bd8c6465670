"""The processes of the clusters: none of them outlives the server that started it.

The system ends each when the server dies, whatever the server dies of. This is Linux's: the
rehearsal works on no other system. Each is also recorded by its number and the time it began, from
before its program begins until it has ended: the next server, or whoever stops the rehearsal, ends
those that a record still names.
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

# Loaded ahead: between fork and exec there is no safe time to load anything.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def records(folder: Path) -> Path:
    """Where, in the folder of all clusters, their processes are recorded."""
    return folder / "processes"


class Processes:
    """The processes of one server; `records` is the folder where they are recorded."""

    def __init__(self, records: Path) -> None:
        self._records = records
        records.mkdir(parents=True, exist_ok=True)

    async def start(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
    ) -> Process:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=log.parent,
                # Ctrl-C at the server's terminal is the server's to deal with.
                start_new_session=True,
                preexec_fn=partial(_settle, os.getpid(), self._records),
            )

    async def end(self, process: Process, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends a process: kindly first, if that is wanted, then for certain."""
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


def recorded(records: Path) -> list[int]:
    """The numbers of the processes that are recorded, some of which may have ended."""
    return [int(path.name) for path in records.glob("[0-9]*") if path.name.isdigit()]


def end_leftovers(records: Path) -> int:
    """Ends what a server that is no more has left running; returns how many those were."""
    found = [path for path in records.glob("[0-9]*") if path.name.isdigit()]
    alive = [path for path in found if _began(int(path.name)) == path.read_text()]
    for path in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.name), signal.SIGKILL)
    deadline = time.monotonic() + END_SECONDS
    for path in alive:
        while _began(int(path.name)) == path.read_text() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
    for path in found:
        path.unlink(missing_ok=True)
    return len(alive)


def _settle(server: int, records: Path) -> None:
    """What a process does before its program begins: where it fails, the program never does."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # A server that has died already ends nobody any more.
    if os.getppid() != server:
        os._exit(1)
    (records / str(os.getpid())).write_text(_began(os.getpid()) or "")


def _began(pid: int) -> str | None:
    """When a process began, in the system's own terms; None if it is no more.

    A number alone says nothing: the system gives it to another process, in time.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is a name in parentheses, with anything in it.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state == "Z" else fields[18]
