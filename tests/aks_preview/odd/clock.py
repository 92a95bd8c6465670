"""A clock that leaps over the waiting: what waits an hour for Azure ends at once."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from unittest import mock

import aiohttp

Result = TypeVar("Result")

# So long, in true seconds, nothing has to happen before a leap: little where somebody only sleeps;
# enough for what is under way between two threads. While an answer is under way there is no leap.
_ASLEEP, _PATIENT = 0.01, 0.5
_sleep = asyncio.sleep


class _Selector(selectors.DefaultSelector):
    """Waits a moment for what is under way, and then not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.leapt = 0.0
        # Until when somebody sleeps.
        self.asleep: list[float] = []
        # How many answers somebody waits for.
        self.under_way = 0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0 or self.under_way:
            return super().select(timeout)
        next_timer = asyncio.get_running_loop().time() + timeout
        # Connections that are kept have timers too, which end before a long sleep does.
        is_asleep = any(until > next_timer - 0.1 for until in self.asleep)
        grace = _ASLEEP if is_asleep else _PATIENT
        if not (ready := super().select(min(timeout, grace))) and timeout > grace:
            self.leapt += timeout - grace
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _Selector()
        super().__init__(self._leaping)

    def time(self) -> float:
        return super().time() + self._leaping.leapt

    async def sleep(self, delay: float, result: Any = None) -> Any:
        until = self.time() + delay
        self._leaping.asleep.append(until)
        try:
            return await _sleep(delay, result)
        finally:
            self._leaping.asleep.remove(until)

    def still(self, ask: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Returns a function during which there is no leap."""

        async def asked(*args: Any, **options: Any) -> Any:
            self._leaping.under_way += 1
            try:
                return await ask(*args, **options)
            finally:
                self._leaping.under_way -= 1

        return asked


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs work by such a clock. It shows in the time of the event loop alone."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, _Loop)
        session, response = aiohttp.ClientSession, aiohttp.ClientResponse
        with (
            mock.patch.object(asyncio, "sleep", loop.sleep),
            mock.patch.object(session, "_request", loop.still(session._request)),
            mock.patch.object(response, "read", loop.still(response.read)),
        ):
            return runner.run(work)
