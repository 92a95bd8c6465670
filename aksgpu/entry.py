"""Entry points of the programs that users run: an interruption prints one sentence.

Python prints a traceback if it is interrupted while importing or exiting. Nothing needs cleaning up
then, so the program ends at once.
"""

import codecs
import io
import json
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from aksgpu.outcome import Cause

_RESULT = f"Result: {Cause.INTERRUPTED.word} - {Cause.INTERRUPTED.sentence}.\n"

# The name of our error handler for letters that cannot be encoded.
_ESCAPED = "aks-gpu-escaped"


def enter(load: Callable[[], Callable[[], object]]) -> None:
    """Runs what `load` imports; commands that clean up use `terminated_as_interrupted`."""
    _open_standard_streams()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A program in the background, or under `nohup`, ignores these signals.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    load()()


def main() -> None:
    """The entry point of `aksgpu`."""
    enter(_aksgpu)


def _aksgpu() -> Callable[[], object]:
    from aksgpu.main import main as run  # noqa: PLC0415 (it takes a while)

    return run


def _open_standard_streams() -> None:
    """Opens what is closed, as for a daemon: files and locks would else get these numbers.

    What this process starts has its own files under them.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            # The lowest number that is free.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
            os.set_inheritable(number, True)
    # A locale such as C or ISO-8859-1 lacks letters of our reports.
    codecs.register_error(_ESCAPED, _escaped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """A letter that the terminal does not have, as JSON writes it; a byte of a path as it is."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter, following = error.object[error.start], error.start + 1
    if "\udc80" <= letter <= "\udcff":
        return letter.encode(errors="surrogateescape"), following
    return json.dumps(letter)[1:-1], following


def _leave(_: int, __: FrameType | None) -> NoReturn:
    # Past Python's buffers, which may be in use right now.
    os.write(2, _RESULT.encode())
    os._exit(Cause.INTERRUPTED.exit_code)
