"""Runs pip, and shows one line of progress instead of its output.

    python3 -m aksgpu.pip_progress .venv/bin/pip install -r requirements-dev.txt

The standard library only: it runs before anything is installed.
"""

import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import TextIO

_TERMINAL_SECONDS, _PIPE_SECONDS = 0.2, 10.0
_TAIL_LINES = 40
_INTERRUPTED = 130
_PINNED = re.compile(r"^[A-Za-z0-9][\w.-]*==", re.MULTILINE)
_COLLECTING = re.compile(r"Collecting ([\w.-]+)")
_INSTALLING = "Installing collected packages:"


class Progress:
    """How far pip is, by the lines that it prints and by what it has installed."""

    def __init__(self, total: int, site_packages: Path | None = None) -> None:
        self.total = total
        self.tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._site_packages = site_packages
        self._collected = 0
        self._latest = ""
        self._is_installing = False

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.tail.append(line.rstrip())
            if collecting := _COLLECTING.match(line):
                self._collected += 1
                self._latest = collecting[1]
            elif line.startswith("Ignoring "):
                # A package for another platform.
                self.total -= 1
            elif line.startswith(_INSTALLING):
                self._is_installing = True

    def __str__(self) -> str:
        if self._is_installing:
            return f"{self._installed()} of {self.total} packages installed"
        latest = f", now {self._latest}" if self._latest else ""
        return f"{self._collected} of {self.total} packages collected{latest}"

    def _installed(self) -> int:
        packages = self._site_packages.glob("*.dist-info") if self._site_packages else ()
        # pip itself does not count.
        return min(self.total, max(0, sum(1 for _ in packages) - 1))


def run(command: Sequence[str], out: TextIO) -> int:
    """Runs pip; its exit code. Prints the end of its output if it fails."""
    started = time.monotonic()
    progress = Progress(_pins(command), _site_packages(Path(command[0])))
    process = subprocess.Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, text=True)
    reader = threading.Thread(target=progress.read, args=(process.stdout or (),), daemon=True)
    reader.start()

    def show() -> None:
        line = f"Creating .venv: {time.monotonic() - started:.0f} s, {progress}"
        # In a terminal the line is overwritten, and blanks clear the rest of it.
        out.write(f"\r{line[:78]:<78}" if out.isatty() else f"{line}\n")
        out.flush()

    try:
        while reader.is_alive():
            show()
            reader.join(_TERMINAL_SECONDS if out.isatty() else _PIPE_SECONDS)
    except KeyboardInterrupt:
        # The terminal has interrupted pip too.
        process.wait()
        return _INTERRUPTED
    code = process.wait()
    show()
    out.write("\n" if out.isatty() else "")
    if code:
        out.write("\n".join([*progress.tail, ""]))
    return code


def _pins(command: Sequence[str]) -> int:
    """How many packages the requirements files of a command pin."""
    files = [Path(name) for option, name in pairwise(command) if option == "-r"]
    return sum(len(_PINNED.findall(file.read_text(encoding="utf-8"))) for file in files)


def _site_packages(pip: Path) -> Path | None:
    return next(pip.parent.parent.glob("lib/python*/site-packages"), None)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], sys.stderr))
