"""A clock that leaps over the waiting: what waits an hour for Azure ends at once."""

import asyncio
import math
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

# So long, in true seconds, something may take that is under way between two sockets: the more, the
# more of a wait a leap would skip.
_GRACES = {5.0: 0.01, 60.0: 0.05, math.inf: 0.2}


class _Selector(selectors.DefaultSelector):
    """Waits a moment for what is under way, and then not at all."""

    leapt = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        grace = next(grace for longest, grace in _GRACES.items() if timeout <= longest)
        if not (ready := super().select(min(timeout, grace))) and timeout > grace:
            self.leapt += timeout - grace
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _Selector()
        super().__init__(self._leaping)

    def time(self) -> float:
        return super().time() + self._leaping.leapt


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs work by such a clock. It shows in the time of the event loop alone."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
