"""Runs other programs: pulumi, az, kubectl, git. There is one rule for how they end.

A program has a session of its own, so the Ctrl-C of a terminal reaches this process only. When this
process is interrupted, or a time limit is over, the program gets one SIGINT and is waited for. A
second interruption, or the end of the grace period, kills it and all that it has started. So no
program is signalled twice, and none is left behind.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

GRACE_SECONDS = 30.0
# Enough for a program that only reads, such as `git show` or `pulumi stack export`.
READ_SECONDS = 120.0
_POLL_SECONDS = 0.05
_TAIL_LINES = 12


class ProgramError(Exception):
    """A program could not be started, took too long, or failed."""


@dataclass(frozen=True)
class Ended:
    """How a program has ended, and what it printed."""

    command: str
    code: int
    out: str
    err: str
    seconds: float

    def succeeded(self) -> str:
        """What it printed. Raises ProgramError where its exit code is not 0."""
        if self.code:
            lines = (self.err.strip() or self.out.strip()).splitlines()
            tail = "\n".join(lines[-_TAIL_LINES:])
            raise ProgramError(f"`{self.command}` ended with exit code {self.code}: {tail}")
        return self.out


@dataclass(frozen=True)
class Program:
    """A program in a folder; `environment` comes on top of this process's own."""

    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def watch(self, *arguments: str) -> int:
        """Runs it before the user's eyes; its exit code."""
        return self._run(arguments, stdin=None).returncode

    def attempt(
        self,
        *arguments: str,
        seconds: float | None = None,
        is_done: Callable[[str], bool] | None = None,
    ) -> Ended:
        """Runs it to its end, or until `is_done` says so of what it has printed so far."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = self._run(
                arguments,
                seconds,
                is_done and (lambda: is_done(_written(out))),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
            return Ended(
                command=self.name(*arguments),
                code=process.returncode,
                out=_written(out),
                err=_written(err),
                seconds=time.monotonic() - began,
            )

    def read(self, *arguments: str, seconds: float | None = None) -> str:
        """What it prints. Raises ProgramError where it fails."""
        return self.attempt(*arguments, seconds=seconds).succeeded()

    def read_json(self, *arguments: str) -> Any:
        return json.loads(self.read(*arguments))

    def _run(
        self,
        arguments: Sequence[str],
        seconds: float | None = None,
        is_done: Callable[[], bool] | None = None,
        **streams: Any,
    ) -> "subprocess.Popen[bytes]":
        try:
            process = subprocess.Popen(
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
        try:
            if is_done:
                _wait_until(is_done, process, seconds)
            else:
                process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ProgramError(
                f"`{self.name(*arguments)}` was not done in {seconds:.0f} s"
            ) from None
        finally:
            if process.poll() is None:
                _end(process)
        return process

    def name(self, *arguments: str) -> str:
        """The command as people write it."""
        first, *others = map(str, [*self.command, *arguments])
        return shlex.join([Path(first).name, *others])


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP do what Ctrl-C does: whatever is at work ends what it has started."""
    before = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_: int, frame: FrameType | None) -> None:
    # asyncio has a handler of its own; in the background of a shell there is none.
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


def _wait_until(
    is_done: Callable[[], bool], process: "subprocess.Popen[bytes]", seconds: float | None
) -> None:
    deadline = None if seconds is None else time.monotonic() + seconds
    while process.poll() is None and not is_done():
        if deadline and time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, seconds or 0)
        time.sleep(_POLL_SECONDS)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """One SIGINT, time to end in good order, and then nothing of it is left."""
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.send_signal(signal.SIGINT)
        process.wait(GRACE_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _written(file: IO[bytes]) -> str:
    """What is in a file that a program writes, whose place in it is not to be moved."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")
