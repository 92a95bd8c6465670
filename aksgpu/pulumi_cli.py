"""Runs `pulumi` in a project: to be watched, or to be read."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class PulumiFailedError(Exception):
    """`pulumi` ended with an exit code other than 0."""


@dataclass(frozen=True)
class PulumiCli:
    """One engine, in the folder of one project."""

    executable: Path
    folder: Path
    environment: Mapping[str, str]

    def watch(self, *arguments: str) -> int:
        """Runs it before the user's eyes; its exit code."""
        with _interrupts_left_to_the_child():
            child = subprocess.Popen(
                [self.executable, *arguments], cwd=self.folder, env=dict(self.environment)
            )
            return child.wait()

    def attempt(
        self, *arguments: str, seconds: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs it to its end, asking nobody anything. Raises TimeoutExpired after `seconds`."""
        return subprocess.run(
            [self.executable, *arguments],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def read(self, *arguments: str) -> str:
        """What it prints. Raises PulumiFailedError with its words where it fails."""
        ended = self.attempt(*arguments)
        if ended.returncode != 0:
            command = " ".join(["pulumi", *arguments])
            raise PulumiFailedError(f"`{command}` failed:\n{ended.stderr or ended.stdout}")
        return ended.stdout

    def read_json(self, *arguments: str) -> Any:
        return json.loads(self.read(*arguments))


@contextmanager
def _interrupts_left_to_the_child() -> Iterator[None]:
    """Ctrl-C reaches the engine as well, which ends in good order by itself: wait for that."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
