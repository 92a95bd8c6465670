"""Runs other programs: pulumi, az, kubectl, git. All of them end in the same way.

A program has its own session, so Ctrl-C in a terminal reaches only this process. When this process
is interrupted, or a time limit ends, the program gets one SIGINT and time to end: Pulumi takes a
second one for "stop at once", and leaves pending operations in the state. A second interruption
kills its process group; so does the end of a grace period, if there is one.

Only the standard library: `aksgpu.ci` runs without an installation.
"""

import json
import math
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from types import FrameType
from typing import Any, TypeVar

GRACE_SECONDS = 30.0
# Enough for a program that only reads, such as `git show` or `pulumi stack export`.
READ_SECONDS = 120.0
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
        process = self._start(arguments, streams)
        try:
            return use(process)
        finally:
            _end(process, grace)

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


def _end(process: "subprocess.Popen[bytes]", grace: float | None) -> None:
    """If it still runs, sends it one SIGINT and waits; then kills what is left of its group."""
    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + (math.inf if grace is None else grace)
        while process.poll() is None and time.monotonic() < deadline:
            # Keeps reading: a full pipe would keep it from ending. A child of it can hold the pipe
            # open, so that its end is not that of the program.
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=0.1)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")
