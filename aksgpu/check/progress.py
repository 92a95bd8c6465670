"""Tells what is under way: a status line on a terminal, single lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

_SECONDS_BETWEEN_LINES = 15.0


class Progress:
    """`reached` is for what stays worth knowing, `update` for what the next update replaces."""

    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status
        self._began = self._said = time.monotonic()

    def reached(self, line: str) -> None:
        self._said = time.monotonic()
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def update(self, line: str) -> None:
        now = time.monotonic()
        timed = f"{line} ({now - self._began:.0f} s)"
        if self._status:
            self._status.update(escape(timed))
        elif now - self._said >= _SECONDS_BETWEEN_LINES:
            self.reached(timed)


@contextmanager
def showing(console: Console, title: str) -> Iterator[Progress]:
    if not console.is_terminal:
        console.print(title, markup=False, highlight=False)
        yield Progress(console, None)
        return
    with console.status(escape(title)) as status:
        yield Progress(console, status)
