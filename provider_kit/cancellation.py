"""Ends what is under way when the engine cancels an update."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from provider_kit.serving import ProviderError

Result = TypeVar("Result")


class CancelledUpdateError(ProviderError):
    """The update was cancelled while this was under way."""

    def __init__(self) -> None:
        super().__init__("The update was cancelled.")


class Cancellation:
    """One for each provider: once asked for, everything that it watches ends at once."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()

    def ask(self) -> None:
        self._asked.set()

    async def watch(self, work: Awaitable[Result]) -> Result:
        """The work's result; CancelledUpdateError as soon as the cancellation is asked for."""
        working = asyncio.ensure_future(work)
        asked = asyncio.create_task(self._asked.wait())
        try:
            await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise CancelledUpdateError
            return working.result()
        finally:
            working.cancel()
            asked.cancel()
