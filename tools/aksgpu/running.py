"""Runs other programs: pulumi, az, kubectl, git. All of them end in the same way.

A program has its own session, so Ctrl-C in a terminal reaches only this process. When this process
is interrupted, or a time limit ends, the program gets one SIGINT and time to end. A second
interruption kills it and its children; so does the end of a grace period, if there is one. No
program is signaled twice, and none keeps running: Pulumi takes a second SIGINT for "stop at once",
and leaves pending operations in the state.

Only the standard library: `aksgpu.ci` runs without an installation.
"""

import json
import math
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from types import FrameType
from typing import IO, Any, TypeVar

GRACE_SECONDS = 30.0
# Enough for a program that only reads, such as `git show` or `pulumi stack export`.
READ_SECONDS = 120.0
_POLL_SECONDS = 0.05
_Used = TypeVar("_Used")
_TAIL_LINES = 40


class ProgramError(Exception):
    """A program could not be started, took too long, or failed."""


@dataclass(frozen=True)
class Ended:
    """The exit code and output of a program."""

    command: str
    code: int
    out: str
    err: str
    # Its output as bytes, before decoding.
    printed: bytes = field(default=b"", repr=False)

    def succeeded(self) -> str:
        """Its output. Raises ProgramError if the exit code is not 0."""
        if self.code:
            lines = (self.err.strip() or self.out.strip()).splitlines()
            ellipsis = ["..."] * (len(lines) > _TAIL_LINES)
            tail = "\n".join(ellipsis + lines[-_TAIL_LINES:])
            raise ProgramError(f"`{self.command}` ended with exit code {self.code}: {tail}")
        return self.out

    def json(self) -> Any:
        """The JSON that it printed. Raises ProgramError if it failed, or printed no JSON."""
        try:
            return json.loads(self.succeeded())
        except ValueError as error:
            raise ProgramError(f"`{self.command}` did not print JSON: {error}") from None


@dataclass(frozen=True)
class Program:
    """A program in a folder; `environment` is added to this process's environment."""

    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def watch(self, *arguments: str) -> int:
        """Runs it and shows its output; its exit code.

        After an interruption there is no time limit: an update finishes its operations. It cannot
        read from the terminal, since pulumi would then handle Ctrl-C itself.
        """
        return self.running(_wait, arguments, None, stdin=DEVNULL)

    def attempt(self, *arguments: str, seconds: float | None = None) -> Ended:
        """Runs it to its end."""

        def communicate(process: "subprocess.Popen[bytes]") -> Ended:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                raise self._late(arguments, seconds) from None
            return Ended(self.name(*arguments), process.returncode, _text(out), _text(err), out)

        # Through pipes, not files: its output may have secrets.
        return self.running(
            communicate, arguments, GRACE_SECONDS, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )

    def attempt_until(
        self, is_done: Callable[[str], bool], *arguments: str, seconds: float
    ) -> Ended:
        """Runs it until `is_done` returns true for its output so far, or to its end."""
        deadline = time.monotonic() + seconds
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

            def poll(process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
                while process.poll() is None and not is_done(_written(out)):
                    if time.monotonic() > deadline:
                        raise self._late(arguments, seconds)
                    time.sleep(_POLL_SECONDS)
                return process

            process = self.running(
                poll, arguments, GRACE_SECONDS, stdin=DEVNULL, stdout=out, stderr=err
            )
            return Ended(self.name(*arguments), process.returncode, _written(out), _written(err))

    def read(self, *arguments: str, seconds: float | None = None) -> str:
        """Its output. Raises ProgramError if it fails."""
        return self.attempt(*arguments, seconds=seconds).succeeded()

    def read_json(self, *arguments: str) -> Any:
        return self.attempt(*arguments).json()

    def running(
        self,
        use: Callable[["subprocess.Popen[bytes]"], _Used],
        arguments: Sequence[str],
        grace: float | None,
        **streams: Any,
    ) -> _Used:
        """Starts it, and returns what `use` returns.

        If it still runs then, it is interrupted, and killed after `grace`.
        """
        process = None
        try:
            with _held_interruptions():
                process = self._start(arguments, streams)
            return use(process)
        finally:
            if process is not None:
                with _held_interruptions() as held:
                    _end(process, grace, held)

    def _start(
        self, arguments: Sequence[str], streams: Mapping[str, Any]
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                [*self.command, *arguments],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                start_new_session=True,
                **streams,
            )
        except OSError as error:
            raise ProgramError(
                f"`{self.name(*arguments)}` cannot be started: {error.strerror}"
            ) from None

    def _late(self, arguments: Sequence[str], seconds: float | None) -> ProgramError:
        return ProgramError(f"`{self.name(*arguments)}` did not end in {seconds:.0f} s")

    def name(self, *arguments: str) -> str:
        """The command as people write it."""
        first, *others = map(str, [*self.command, *arguments])
        return shlex.join([Path(first).name, *others])


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP do the same as Ctrl-C, so that commands clean up."""
    handlers = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: _interrupt,
        signal.SIGHUP: _interrupt,
    }
    # A program in the background ignores SIGINT, and under `nohup` SIGHUP: keep that.
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _interrupt(_: int, frame: FrameType | None) -> None:
    # asyncio sets its own handler; in the background of a shell there is none.
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


def _wait(process: "subprocess.Popen[bytes]") -> int:
    return process.wait()


@contextmanager
def _held_interruptions() -> Iterator[list[int]]:
    """Holds interruptions back, and passes the first one on at the end."""
    held: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {
            number: signal.signal(number, lambda number, _: held.append(number))
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if callable(signal.getsignal(number))
        }
    try:
        yield held
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[0])


def _end(process: "subprocess.Popen[bytes]", grace: float | None, held: Sequence[int]) -> None:
    """If it still runs, sends it one SIGINT, waits, and then kills what is left."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    deadline = math.inf if grace is None else time.monotonic() + grace
    while process.poll() is None and not held and time.monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            # Keeps reading: a full pipe would keep it from ending.
            process.communicate(timeout=_POLL_SECONDS)
    # After the process has ended, another one may have its id.
    for pid in _with_descendants(process.pid) if process.poll() is None else ():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _with_descendants(pid: int) -> list[int]:
    """A process and its descendants, in all sessions and groups.

    Without /proc, as on macOS, only the process; its group is killed with it.
    """
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name in parentheses can contain anything; the parent is the second field after it.
            parent = stat.read_text(errors="replace").rpartition(")")[2].split()[1]
            children[int(parent)].append(int(stat.parent.name))
    pids = [pid]
    for each in pids:
        pids += children[each]
    return pids


def _written(file: IO[bytes]) -> str:
    """The content of a file that a program writes, without moving the program's offset."""
    return _text(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0))


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")
