"""Where the programs that people run begin: an interruption is one sentence, at any moment.

Python prints a traceback where it is interrupted while it imports, or on its way out. Nothing is
under way then that would have to end in good order, so the program ends at once.
"""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from aksgpu.outcome import Cause

_RESULT = f"Result: {Cause.INTERRUPTED.word} - {Cause.INTERRUPTED.sentence}.\n"


def enter(load: Callable[[], Callable[[], object]]) -> None:
    """Runs what `load` imports; `terminated_as_interrupted` is for all that needs to end well."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # What was started in the background, or with `nohup`, is not to be interrupted.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
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
