"""A cancellation ends what waits, at once; what is done keeps its result."""

import asyncio

import pytest

from provider_kit.cancellation import Cancellation, CancelledUpdateError
from tests.waiting import PATIENCE


def test_a_cancellation_ends_the_work_at_once() -> None:
    async def run() -> None:
        cancellation, ended = Cancellation(), asyncio.Event()
        assert await cancellation.watch(asyncio.sleep(0, "done")) == "done"

        async def work() -> None:
            try:
                await asyncio.sleep(10 * PATIENCE)
            finally:
                ended.set()

        asyncio.get_running_loop().call_later(0.01, cancellation.ask)
        with pytest.raises(CancelledUpdateError):
            await cancellation.watch(work())
        await asyncio.wait_for(ended.wait(), PATIENCE)

    asyncio.run(run())
