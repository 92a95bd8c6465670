"""Stops running work when the engine cancels an update."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from provider_kit.serving import ProviderError

Result = TypeVar("Result")

# The time to wait for responses after a cancellation. CI runners kill processes after ten seconds.
_SECONDS_OF_GRACE = 5.0


class CancelledUpdateError(ProviderError):
    """The update was cancelled: perhaps before a request had a response."""

    def __init__(self, *, is_unanswered: bool = False) -> None:
        unknown = " before Azure answered, so whether the request arrived is unknown"
        super().__init__(f"The update was cancelled{unknown if is_unanswered else ''}.")


class Cancellation:
    """The cancellation of one provider. All work that it watches then ends within seconds."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._until = 0.0

    def ask(self) -> None:
        if not self._asked.is_set():
            self._until = asyncio.get_running_loop().time() + _SECONDS_OF_GRACE
            self._asked.set()

    def require_none(self) -> None:
        """Raises CancelledUpdateError after a cancellation."""
        if self._asked.is_set():
            raise CancelledUpdateError

    async def watch(self, work: Awaitable[Result]) -> Result:
        """Returns the work's result. Raises CancelledUpdateError at a cancellation."""
        return await self._watch(work, is_request=False)

    async def answered(self, request: Awaitable[Result]) -> Result:
        """Returns the response to a request. Raises the error seconds after a cancellation.

        For requests that change something: the response tells whether they did.
        """
        return await self._watch(request, is_request=True)

    async def _watch(self, work: Awaitable[Result], *, is_request: bool) -> Result:
        working = asyncio.ensure_future(work)
        asked = asyncio.create_task(self._asked.wait())
        try:
            await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done() and is_request:
                left = self._until - asyncio.get_running_loop().time()
                await asyncio.wait({working}, timeout=max(left, 0))
            if not working.done():
                raise CancelledUpdateError(is_unanswered=is_request)
            return working.result()
        finally:
            working.cancel()
            asked.cancel()
