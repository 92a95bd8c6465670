"""Waiting for news, but not for ever."""

import asyncio
import contextlib


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set, or the time is over.

    Not `asyncio.wait_for`: before Python 3.12 that forgets to be cancelled when the event has just
    been set, and the task that waits would never end.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
