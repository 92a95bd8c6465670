"""Runs commands of the article, with or without progress, to their end or until some output."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import IO

from aksgpu.running import GRACE_SECONDS, Ended, Program, ProgramError
from machine_setup.cache import Say
from machine_setup.progress import Progress

POLL_SECONDS = 0.05
# Longer than any command of the article; an installation over a slow network may take that long.
MOST_SECONDS = 900.0
WAIT_SECONDS = 60.0
DETAIL_LETTERS = 70


@dataclass(frozen=True)
class Runner:
    """Runs commands in a folder; `environment` is added to this process's environment."""

    folder: Path
    environment: Mapping[str, str]
    say: Say

    def with_(self, **more: str) -> "Runner":
        return Runner(self.folder, {**self.environment, **more}, self.say)

    def run(self, *command: str, title: str = "", until: str = "") -> str:
        """Runs a command of the article and shows its progress; its output."""
        process = self.attempt(*command, title=title, until=until)
        # A command that is interrupted after the expected output has no meaningful exit code.
        if until and until in process.out:
            return process.out
        if until:
            printed = f"{process.out}{process.err}"
            raise ProgramError(f"`{process.command}` did not print {until!r}: {printed}")
        return process.succeeded()

    def read(self, *command: str) -> str:
        """The output of a command that only reads."""
        return self._program(*command).read(seconds=MOST_SECONDS)

    def attempt(self, *command: str, title: str = "", until: str = "") -> Ended:
        """The same as `run`, for a command that may fail."""
        program = self._program(*command)
        started = time.monotonic()
        with Progress(title or f"$ {program.name()}", self.say) as progress:

            def is_done(printed: str) -> bool:
                progress.update(next(reversed(printed.split("\n")[:-1]), "")[:DETAIL_LETTERS])
                return bool(until) and until in printed

            process = _attempt_until(program, is_done)
        # Only these commands are logged: the output of `read` may have secrets.
        with (self.folder / "commands.txt").open("a", encoding="utf-8") as file:
            end = f"(exit code {process.code}, {time.monotonic() - started:.1f} s)"
            file.write(f"$ {process.command}\n{process.out}{process.err}{end}\n\n")
        return process

    def _program(self, *command: str) -> Program:
        return Program(command, self.folder, self.environment)


def _attempt_until(program: Program, is_done: Callable[[str], bool]) -> Ended:
    """Runs a program until `is_done` returns true for its output so far, or to its end."""
    deadline = time.monotonic() + MOST_SECONDS
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

        def poll(process: "Popen[bytes]") -> "Popen[bytes]":
            while process.poll() is None and not is_done(_written(out)):
                if time.monotonic() > deadline:
                    raise ProgramError(f"`{program.name()}` did not end in {MOST_SECONDS:.0f} s")
                time.sleep(POLL_SECONDS)
            return process

        process = program.running(poll, (), GRACE_SECONDS, stdin=DEVNULL, stdout=out, stderr=err)
        return Ended(program.name(), process.returncode, _written(out), _written(err))


def _written(file: IO[bytes]) -> str:
    """The content of a file that a program writes, without moving the program's offset."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def wait_until(what: str, holds: Callable[[], bool], say: Say | None = None) -> None:
    """Waits until `holds` returns true. Raises ProgramError after a time limit."""
    deadline = time.monotonic() + WAIT_SECONDS
    with Progress(f"Waiting until {what}", say) if say else nullcontext() as progress:
        while not holds():
            if time.monotonic() > deadline:
                raise ProgramError(f"Waited {WAIT_SECONDS:.0f} s in vain until {what}.")
            if progress:
                progress.update("not yet")
            time.sleep(POLL_SECONDS)
