"""Entry points of the programs that users run: an interruption prints one sentence.

Python prints a traceback if it is interrupted while importing or exiting. Nothing needs cleaning up
then, so the program ends at once.
"""

import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from aksgpu.outcome import Cause

_RESULT = f"Result: {Cause.INTERRUPTED.word} - {Cause.INTERRUPTED.sentence}.\n"


def enter(load: Callable[[], Callable[[], object]]) -> None:
    """Runs what `load` imports; commands that clean up use `terminated_as_interrupted`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A program in the background, or under `nohup`, ignores these signals.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A locale such as ISO-8859-1 lacks letters of our reports.
        sys.stdout.reconfigure(errors="backslashreplace")
    load()()


def main() -> None:
    """The entry point of `aksgpu`."""
    enter(_aksgpu)


def _aksgpu() -> Callable[[], object]:
    from aksgpu.main import main as run  # noqa: PLC0415 (it takes a while)

    return run


def _leave(_: int, __: FrameType | None) -> NoReturn:
    # Past Python's buffers, which may be in use right now.
    os.write(2, _RESULT.encode())
    os._exit(Cause.INTERRUPTED.exit_code)
