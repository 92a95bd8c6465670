"""A preflight is interrupted at each of its moments: nothing goes on, and nothing complains."""

import gc
import itertools
import logging
import signal

import pytest

from aksgpu.preflight.preflight import run
from tests.aksgpu.preflight.conftest import T4, Place, stack_of


@pytest.mark.filterwarnings("error:coroutine", "error::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_at_any_moment_leaves_no_traceback(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """What still asked when its clients were closed ended in tracebacks of asyncio."""
    # None of these answers before all others have.
    place.fault({"path": "/providers/Microsoft.[a-zA-Z]+$", "delay": 0.2})
    caplog.set_level(logging.ERROR, "asyncio")
    for moment in itertools.count(1):
        calls = itertools.count(1)

        def interrupt(_: str, calls: "itertools.count[int]" = calls, moment: int = moment) -> None:
            if next(calls) == moment:
                signal.raise_signal(signal.SIGINT)

        settings = stack_of(gpuPools=[T4])
        try:
            run("test", settings, place.access, frozenset, interrupt)
        except KeyboardInterrupt:
            gc.collect()
            assert not caplog.messages, (moment, caplog.text)
        else:
            break
    assert moment > 5
