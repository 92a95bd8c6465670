"""Runs commands: with progress or in silence, to their end or until they have said a word."""

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine.cache import Say
from engine.progress import Progress

POLL_SECONDS = 0.05
# No command of the article takes as long; an install over a slow line may.
MOST_SECONDS = 900.0
END_SECONDS = 10.0
WAIT_SECONDS = 60.0
TAIL_LINES = 12
DETAIL_LETTERS = 70


class CommandFailedError(Exception):
    """A command ended otherwise than it was to."""


@dataclass(frozen=True)
class Ended:
    command: str
    code: int
    out: str
    err: str
    seconds: float


@dataclass(frozen=True)
class Runner:
    """Where commands run, and with what in their environment beside this process's own."""

    folder: Path
    environment: Mapping[str, str]
    say: Say

    def with_(self, **more: str) -> "Runner":
        return Runner(self.folder, {**self.environment, **more}, self.say)

    def tell(self, *command: str, title: str = "", until: str = "") -> str:
        """Runs a command of the article before the user's eyes; what it printed."""
        return _succeeded(self.attempt(*command, title=title, until=until), until)

    def ask(self, *command: str) -> str:
        """What a command prints that is run to look at something."""
        return _succeeded(self._run(command, None, ""), "")

    def attempt(self, *command: str, title: str = "", until: str = "") -> Ended:
        """The same as `tell`, for a command that may fail."""
        with Progress(title or f"$ {shlex.join(command)}", self.say) as progress:
            ended = self._run(command, progress, until)
        self._note(ended)
        return ended

    def _run(self, command: tuple[str, ...], progress: Progress | None, until: str) -> Ended:
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
            try:
                self._wait(process, out, progress, until)
            finally:
                _end(process)
            words, seconds = (_written(out), _written(err)), time.monotonic() - began
        return Ended(shlex.join(command), process.returncode, *words, seconds)

    def _wait(
        self,
        process: "subprocess.Popen[bytes]",
        out: IO[bytes],
        progress: Progress | None,
        until: str,
    ) -> None:
        deadline = time.monotonic() + MOST_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            text = _written(out)
            if until and until in text:
                return
            if progress:
                progress.update(next(reversed(text.split("\n")[:-1]), "")[:DETAIL_LETTERS])
            time.sleep(POLL_SECONDS)

    def _note(self, ended: Ended) -> None:
        """Keeps what was told; what is asked in between may hold a secret."""
        with (self.folder / "commands.txt").open("a", encoding="utf-8") as file:
            how = f"(exit code {ended.code}, {ended.seconds:.1f} s)"
            file.write(f"$ {ended.command}\n{ended.out}{ended.err}{how}\n\n")


def wait_until(what: str, holds: Callable[[], bool], say: Say | None = None) -> None:
    """Waits until something holds. Raises CommandFailedError where it does not come to."""
    deadline = time.monotonic() + WAIT_SECONDS
    with Progress(f"Waiting until {what}", say) if say else nullcontext() as progress:
        while not holds():
            if time.monotonic() > deadline:
                raise CommandFailedError(f"After {WAIT_SECONDS:.0f} s it is not so that {what}.")
            if progress:
                progress.update("not yet")
            time.sleep(POLL_SECONDS)


def _succeeded(ended: Ended, until: str) -> str:
    # A command that is ended once it has said its word has no exit code of its own.
    succeeded = until in ended.out if until else ended.code == 0
    if not succeeded:
        tail = "\n".join((ended.err.strip() or ended.out.strip()).splitlines()[-TAIL_LINES:])
        raise CommandFailedError(f"`{ended.command}` ended with exit code {ended.code}: {tail}")
    return ended.out


def _written(file: IO[bytes]) -> str:
    """What is in a file that a child writes, whose place in it is not to be moved."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
