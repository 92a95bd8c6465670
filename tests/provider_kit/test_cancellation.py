import asyncio

import pytest

from provider_kit.cancellation import Cancellation, CancelledUpdateError
from tests.waiting import PATIENCE


def test_cancellation_returns_the_result_of_finished_work() -> None:
    assert asyncio.run(Cancellation().watch(asyncio.sleep(0, "done"))) == "done"


def test_cancellation_ends_the_work_at_once() -> None:
    async def run() -> bool:
        cancellation = Cancellation()
        ended = asyncio.Event()

        async def work() -> None:
            try:
                await asyncio.sleep(10 * PATIENCE)
            finally:
                ended.set()

        asyncio.get_running_loop().call_later(0.01, cancellation.ask)
        with pytest.raises(CancelledUpdateError):
            await cancellation.watch(work())
        await asyncio.wait_for(ended.wait(), PATIENCE)
        return True

    assert asyncio.run(run())
