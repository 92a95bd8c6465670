"""Waiting: how long, until when, and what for. The user is told, also when the time is up."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

Tell = Callable[[str], Awaitable[None]]


class Waiting:
    """Of one request of the engine."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.reason = ""

    async def because_of(self, reason: str) -> None:
        """Tells the reason, once as long as it is the same."""
        if reason != self.reason:
            self.reason = reason
            await self._tell(f"Waiting, then trying again: {reason}")


# Each request of the engine has a context of its own.
_CURRENT: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


def begin(tell: Tell) -> None:
    """Begins the work on a resource."""
    _CURRENT.set(Waiting(tell))


async def wait_because_of(reason: str) -> None:
    """Tells why the work on the resource waits."""
    if (waiting := _CURRENT.get()) is not None:
        await waiting.because_of(reason)


def waited() -> None:
    """Ends the waiting: what it was for is there."""
    if (waiting := _CURRENT.get()) is not None:
        waiting.reason = ""


# When the work has to be done, by the clock of the event loop.
_DUE: ContextVar[float | None] = ContextVar("due", default=None)
_SECONDS_OF_A_LAST_TRY = 10.0


def loop_time() -> float:
    """The time by the clock of the event loop."""
    return asyncio.get_running_loop().time()


@asynccontextmanager
async def due(until: float | None) -> AsyncIterator[None]:
    """Bounds what is waited for within, by a TimeoutError; None leaves it as it is."""
    token = _DUE.set(_DUE.get() if until is None else until)
    try:
        async with asyncio.timeout_at(until):
            yield
    finally:
        _DUE.reset(token)


def pauses(shortest: float, longest: float) -> Iterator[float]:
    """Growing pauses, different for each: those who wait for the same do not ask all at once."""
    pause = shortest
    while True:
        yield pause * random.uniform(0.8, 1.2)  # noqa: S311 (nobody gains by guessing it)
        pause = min(pause * 1.5, longest)


def in_time(seconds: float) -> float:
    """A pause that leaves the time for a last try."""
    if (until := _DUE.get()) is None:
        return seconds
    left = until - loop_time() - _SECONDS_OF_A_LAST_TRY
    return min(seconds, left) if left > 1 else seconds


def last_reason() -> str:
    """Why the work on the resource waits; empty if it does not."""
    waiting = _CURRENT.get()
    return waiting.reason if waiting is not None else ""
