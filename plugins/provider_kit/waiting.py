"""Pauses, and the messages to the user about the reason for waiting."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar

Report = Callable[[str], Awaitable[None]]


class Waiting:
    """The reason why one request of the engine waits."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.reason = ""

    async def because_of(self, reason: str) -> None:
        """Reports the reason, if it has changed."""
        if reason != self.reason:
            self.reason = reason
            await self._report(f"Waiting, then trying again: {reason}")


# Each request of the engine has its own context.
_CURRENT: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


def begin(report: Report) -> None:
    """Starts the work on a resource."""
    _CURRENT.set(Waiting(report))


async def wait_because_of(reason: str) -> None:
    """Reports why the work on the resource waits."""
    if (waiting := _CURRENT.get()) is not None:
        await waiting.because_of(reason)


def waited() -> None:
    """Ends the waiting, so that the next reason is reported again."""
    if (waiting := _CURRENT.get()) is not None:
        waiting.reason = ""


def loop_time() -> float:
    """Returns the event loop's time."""
    return asyncio.get_running_loop().time()


def pauses(shortest: float, longest: float) -> Iterator[float]:
    """Yields growing pauses with jitter, so that parallel requests do not retry all at once."""
    pause = shortest
    while True:
        yield pause * random.uniform(0.8, 1.2)  # noqa: S311 (not for cryptography)
        pause = min(pause * 1.5, longest)
