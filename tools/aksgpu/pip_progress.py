"""Runs pip, and shows the last line of its output instead of all of it.

    python3 -m aksgpu.pip_progress .venv/bin/pip install -r tools/requirements-dev.txt

The standard library only: it runs before anything is installed.
"""

import sys
import time
from collections import deque
from collections.abc import Sequence
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from threading import Thread

_TERMINAL_SECONDS, _PIPE_SECONDS = 1.0, 10.0
_TAIL_LINES = 40
_INTERRUPTED = 130


def run(command: Sequence[str]) -> int:
    """Runs pip; its exit code. Prints the end of its output if it fails."""
    started, out = time.monotonic(), sys.stderr
    process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, text=True)
    lines = deque([""], maxlen=_TAIL_LINES)
    reader = Thread(target=lines.extend, args=(process.stdout or (),), daemon=True)
    reader.start()

    def show() -> None:
        line = f"Making .venv: {time.monotonic() - started:.0f} s, {lines[-1].strip()}"
        # On a terminal the line is overwritten, and blanks clear the rest of it.
        out.write(f"\r{line[:78]:<78}" if out.isatty() else f"{line[:78]}\n")
        out.flush()

    try:
        while reader.is_alive():
            show()
            reader.join(_TERMINAL_SECONDS if out.isatty() else _PIPE_SECONDS)
        code = process.wait()
    except KeyboardInterrupt:
        # The terminal has interrupted pip too.
        process.wait()
        return _INTERRUPTED
    show()
    out.write("\n" if out.isatty() else "")
    out.writelines(lines if code else ())
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
