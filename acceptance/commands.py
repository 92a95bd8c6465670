"""Runs commands of the article: with or without progress, to their end or until they say a word."""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from aksgpu.running import Ended, Program, ProgramError
from engine.cache import Say
from engine.progress import Progress

POLL_SECONDS = 0.05
# No command of the article takes as long; an install over a slow line may.
MOST_SECONDS = 900.0
WAIT_SECONDS = 60.0
DETAIL_LETTERS = 70


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
        ended = self.attempt(*command, title=title, until=until)
        # A command that is ended once it has said its word has no exit code of its own.
        if until and until in ended.out:
            return ended.out
        if until:
            raise ProgramError(f"`{ended.command}` never said {until!r}: {ended.out}{ended.err}")
        return ended.succeeded()

    def ask(self, *command: str) -> str:
        """What a command prints that is run to look at something."""
        return self._program(*command).read(seconds=MOST_SECONDS)

    def attempt(self, *command: str, title: str = "", until: str = "") -> Ended:
        """The same as `tell`, for a command that may fail."""
        program = self._program(*command)
        began = time.monotonic()
        with Progress(title or f"$ {program.name()}", self.say) as progress:

            def is_done(printed: str) -> bool:
                progress.update(next(reversed(printed.split("\n")[:-1]), "")[:DETAIL_LETTERS])
                return bool(until) and until in printed

            ended = program.attempt_until(is_done, seconds=MOST_SECONDS)
        # What is told is kept; what is asked in between may hold a secret.
        with (self.folder / "commands.txt").open("a", encoding="utf-8") as file:
            how = f"(exit code {ended.code}, {time.monotonic() - began:.1f} s)"
            file.write(f"$ {ended.command}\n{ended.out}{ended.err}{how}\n\n")
        return ended

    def _program(self, *command: str) -> Program:
        return Program(command, self.folder, self.environment)


def wait_until(what: str, holds: Callable[[], bool], say: Say | None = None) -> None:
    """Waits until something holds. Raises ProgramError where it does not come to."""
    deadline = time.monotonic() + WAIT_SECONDS
    with Progress(f"Waiting until {what}", say) if say else nullcontext() as progress:
        while not holds():
            if time.monotonic() > deadline:
                raise ProgramError(f"After {WAIT_SECONDS:.0f} s it is not so that {what}.")
            if progress:
                progress.update("not yet")
            time.sleep(POLL_SECONDS)
