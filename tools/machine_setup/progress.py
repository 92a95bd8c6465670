"""Progress of long work."""

import sys
import time
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from machine_setup.cache import Say

# Without a terminal, such as in a build log, one line in this many seconds is enough.
_SECONDS_BETWEEN_LINES = 15.0


class Progress:
    """A status line on a terminal; elsewhere, single lines through `say`."""

    def __init__(self, title: str, say: Say) -> None:
        self._title = title
        self._say = say
        self._began = self._said = time.monotonic()
        on_terminal = sys.stderr.isatty()
        self._status = Status(escape(title), console=Console(stderr=True)) if on_terminal else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        else:
            self._say(f"{self._title} ...")
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def reached(self, line: str) -> None:
        """Shows a line that stays."""
        self._said = time.monotonic()
        if self._status:
            self._status.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            self._say(line)

    def update(self, detail: str) -> None:
        """Shows how far the work is; call it about every second."""
        now = time.monotonic()
        line = f"{self._title}: {now - self._began:.0f} s, {detail}"
        if self._status:
            self._status.update(escape(line))
        elif now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            self._say(line)


def to_stderr(line: str) -> None:
    """The default `say`: writes to stderr."""
    sys.stderr.write(f"{line}\n")
