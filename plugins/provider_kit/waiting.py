"""Pauses, and the messages to the user about the reason for waiting."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar

Report = Callable[[str], Awaitable[None]]


async def _nobody(_: str) -> None:
    """Tells nobody."""


# Tells the user why the work on a resource waits. Each request of the engine has its own context.
_TELL: ContextVar[Report] = ContextVar("tell", default=_nobody)


def begin(report: Report) -> None:
    """Starts the work on a resource. Each reason to wait is reported once."""
    told = set[str]()

    async def tell(reason: str) -> None:
        if reason not in told:
            told.add(reason)
            await report(f"Waiting, then trying again: {reason}")

    _TELL.set(tell)


async def wait_because_of(reason: str) -> None:
    """Reports why the work on the resource waits."""
    await _TELL.get()(reason)


def loop_time() -> float:
    """Returns the event loop's time."""
    return asyncio.get_running_loop().time()


def pauses(shortest: float, longest: float) -> Iterator[float]:
    """Yields growing pauses with jitter, so that parallel requests do not retry all at once."""
    pause = shortest
    while True:
        yield pause * random.uniform(0.8, 1.2)  # noqa: S311 (not for cryptography)
        pause = min(pause * 1.5, longest)
