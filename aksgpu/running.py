"""Runs other programs: pulumi, az, kubectl, git. There is one rule for how they end.

A program has a session of its own, so the Ctrl-C of a terminal reaches this process only. When this
process is interrupted, or a time limit is over, the program gets one SIGINT and is waited for. A
second interruption kills it and all that it has started; where nobody watches it, the end of the
grace period does too. So no program is signalled twice, and none is left behind.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
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
from typing import IO, Any

GRACE_SECONDS = 30.0
# Enough for a program that only reads, such as `git show` or `pulumi stack export`.
READ_SECONDS = 120.0
_POLL_SECONDS = 0.05
_TAIL_LINES = 40


class ProgramError(Exception):
    """A program could not be started, took too long, or failed."""


@dataclass(frozen=True)
class Ended:
    """How a program has ended, and what it printed."""

    command: str
    code: int
    out: str
    err: str
    # What it printed, before it was read as UTF-8.
    printed: bytes = field(default=b"", repr=False)

    def succeeded(self) -> str:
        """What it printed. Raises ProgramError where its exit code is not 0."""
        if self.code:
            lines = (self.err.strip() or self.out.strip()).splitlines()
            left_out = ["..."] * (len(lines) > _TAIL_LINES)
            tail = "\n".join(left_out + lines[-_TAIL_LINES:])
            raise ProgramError(f"`{self.command}` ended with exit code {self.code}: {tail}")
        return self.out

    def json(self) -> Any:
        """The JSON that it printed. Raises ProgramError where it is none."""
        try:
            return json.loads(self.succeeded())
        except ValueError as error:
            raise ProgramError(f"`{self.command}` did not print JSON: {error}") from None


@dataclass(frozen=True)
class Program:
    """A program in a folder; `environment` comes on top of this process's own."""

    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def watch(self, *arguments: str) -> int:
        """Runs it before the user's eyes; its exit code.

        Interrupted, it has all the time that it needs: an update ends what it has begun. It cannot
        read from the terminal: pulumi would take the Ctrl-C for itself.
        """
        with self.running(arguments, None, stdin=DEVNULL) as process:
            return process.wait()

    def attempt(self, *arguments: str, seconds: float | None = None) -> Ended:
        """Runs it to its end."""
        # Through pipes: what it prints may be secret, and files lie on a disk.
        with self.running(
            arguments, GRACE_SECONDS, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        ) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                raise self._late(arguments, seconds) from None
            return Ended(self.name(*arguments), process.returncode, _text(out), _text(err), out)

    def attempt_until(
        self, is_done: Callable[[str], bool], *arguments: str, seconds: float
    ) -> Ended:
        """Runs it until `is_done` says so of what it has printed so far, or to its end."""
        deadline = time.monotonic() + seconds
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with self.running(
                arguments, GRACE_SECONDS, stdin=DEVNULL, stdout=out, stderr=err
            ) as process:
                while process.poll() is None and not is_done(_written(out)):
                    if time.monotonic() > deadline:
                        raise self._late(arguments, seconds)
                    time.sleep(_POLL_SECONDS)
            return Ended(self.name(*arguments), process.returncode, _written(out), _written(err))

    def read(self, *arguments: str, seconds: float | None = None) -> str:
        """What it prints. Raises ProgramError where it fails."""
        return self.attempt(*arguments, seconds=seconds).succeeded()

    def read_json(self, *arguments: str) -> Any:
        return self.attempt(*arguments).json()

    @contextmanager
    def running(
        self, arguments: Sequence[str], grace: float | None, **streams: Any
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """Starts it. If it still runs at the end, it is interrupted, and killed after `grace`."""
        # One that is half started would be nobody's to end.
        held = _Held()
        try:
            process = subprocess.Popen(
                [*self.command, *arguments],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                start_new_session=True,
                **streams,
            )
        except BaseException as error:
            held.release()
            if not isinstance(error, OSError):
                raise
            raise ProgramError(
                f"`{self.name(*arguments)}` cannot be started: {error.strerror}"
            ) from None
        try:
            try:
                held.release()
                yield process
            finally:
                if process.poll() is None:
                    _end(process, grace)
        finally:
            # A signal close behind the first one has raised before that one could be answered.
            if process.poll() is None:
                _end(process, grace)

    def _late(self, arguments: Sequence[str], seconds: float | None) -> ProgramError:
        return ProgramError(f"`{self.name(*arguments)}` was not done in {seconds:.0f} s")

    def name(self, *arguments: str) -> str:
        """The command as people write it."""
        first, *others = map(str, [*self.command, *arguments])
        return shlex.join([Path(first).name, *others])


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP do what Ctrl-C does: whatever is at work ends what it has started.

    Python calls destructors at any moment, and one that is interrupted only has a traceback
    printed. Such an interruption comes again a moment later.
    """
    wanted = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: _interrupt,
        signal.SIGHUP: _interrupt,
    }
    # What was started in the background ignores SIGINT, and under `nohup` SIGHUP, and means it.
    before = {
        number: handler
        for number in wanted
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    complain, timers = sys.unraisablehook, list[threading.Timer]()

    def once_more(raised: "sys.UnraisableHookArgs") -> None:
        if raised.exc_type is not KeyboardInterrupt:
            complain(raised)
            return
        # SIGTERM does the same, and is not ignored where SIGINT is.
        main = threading.main_thread().ident
        timers.append(threading.Timer(_POLL_SECONDS, signal.pthread_kill, (main, signal.SIGTERM)))
        timers[-1].start()

    sys.unraisablehook = once_more
    try:
        for number in before:
            signal.signal(number, wanted[number])
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = complain


def _interrupt(_: int, frame: FrameType | None) -> None:
    # asyncio has a handler of its own; in the background of a shell there is none.
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)


def _end(process: "subprocess.Popen[bytes]", grace: float | None) -> None:
    """One SIGINT, time to end in good order, and then nothing of it is left."""
    held = _Held()
    try:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        deadline = math.inf if grace is None else time.monotonic() + grace
        while process.poll() is None and not held.asked and time.monotonic() < deadline:
            with suppress(subprocess.TimeoutExpired):
                # Reads on, too: a full pipe would keep it from ending.
                process.communicate(timeout=_POLL_SECONDS)
        # A process that has ended is nobody's: its number may be another's by now.
        for one in _with_descendants(process.pid) if process.poll() is None else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finally:
        held.release()


class _Held:
    """Interruptions are noted, and raise nothing until they are released."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self._before: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(handler := signal.getsignal(number)):
                self._before[number] = handler
                signal.signal(number, lambda noted, _: self.asked.append(noted))

    def release(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self.asked:
            signal.raise_signal(self.asked[0])


def _with_descendants(pid: int) -> list[int]:
    """A process and all below it, whatever sessions and groups they have made for themselves.

    Where there is no /proc, as on macOS, it is the process alone, and its group goes with it.
    """
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name in brackets may hold anything; the parent is the second field behind it.
            parent = stat.read_text(errors="replace").rpartition(")")[2].split()[1]
            children[int(parent)].append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children[one]
    return found


def _written(file: IO[bytes]) -> str:
    """What is in a file that a program writes, whose place in it is not to be moved."""
    return _text(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0))


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")
