"""A cancellation ends the work within seconds, whatever Azure leaves unanswered just then."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from provider_kit import cancellation
from tests.aks_preview.odd.azure import FEATURE, POOL, Answer, OddAzure, refusal, serving
from tests.aks_preview.odd.driver import FEATURE_TYPE, POOL_INPUTS, Driver, Work, driving
from tests.aks_preview.odd.test_events import PENDING, REGISTERING, UNREGISTERED, create, update
from tests.aks_preview.test_features import FEATURE_INPUTS, register

# Far less than the provider waits for an answer by itself, and far more than it takes here.
_PATIENCE = 25
_LATER = refusal(429, "Throttled", **{"Retry-After": "86400"})


class SilentAzure(OddAzure):
    """Leaves the requests of one phase without an answer, or says always the same."""

    def __init__(self, silent: str, says: Answer | None = None) -> None:
        super().__init__()
        self._silent, self._says = silent, says
        self.is_asked, self.is_over = asyncio.Event(), asyncio.Event()
        self.bend(silent, for_ever=says)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.phase(request.method, request.path) != self._silent:
            return await super().answer(request)
        self.is_asked.set()
        if self._says is None:
            await self.is_over.wait()
        return await super().answer(request)


async def read(provider: Driver) -> Any:
    return await provider.read(POOL, POOL_INPUTS, POOL_INPUTS)


async def delete(provider: Driver) -> Any:
    return await provider.delete(POOL, POOL_INPUTS)


async def unregister(provider: Driver) -> Any:
    known = FEATURE_INPUTS | {"unregisterOnDelete": True}
    return await provider.delete(FEATURE, known, FEATURE_TYPE)


@pytest.fixture(autouse=True)
def _little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "_SECONDS_OF_GRACE", 0.1)


@pytest.mark.parametrize(
    ("work", "silent", "says", "kept"),
    [
        *((create, phase, None, "") for phase in ("metadata", "token", "look")),
        # Nobody knows whether it arrived.
        (create, "put", None, POOL),
        *((create, phase, says, POOL) for phase in ("poll", "get") for says in (None, _LATER)),
        *((create, "put", says, "") for says in (_LATER, PENDING)),
        (create, "provider", REGISTERING, POOL),
        (update, "look", None, ""),
        *((update, phase, None, POOL) for phase in ("put", "poll", "get")),
        *((register, phase, None, FEATURE) for phase in ("register", "feature", "provider")),
        (register, "register provider", None, FEATURE),
        *((delete, phase, None, "") for phase in ("delete", "delete poll")),
        (read, "look", None, ""),
    ],
)
def test_a_cancellation_ends_the_work_and_keeps_what_azure_may_have(
    work: Work, silent: str, says: Answer | None, kept: str
) -> None:
    """An unanswered PUT was waited for as long as five minutes; CI's runners kill before that."""
    azure = SilentAzure(silent, says)
    if work is not create:
        azure.put(count=1)
    if says is REGISTERING:
        azure.bend("put", UNREGISTERED)

    async def cancelled() -> Any:
        async with serving(azure), driving(azure) as provider:
            try:
                working = asyncio.ensure_future(work(provider))
                await asyncio.wait_for(azure.is_asked.wait(), _PATIENCE)
                await provider.provider.cancel()
                return await asyncio.wait_for(working, _PATIENCE)
            finally:
                azure.is_over.set()

    outcome = asyncio.run(cancelled())

    assert "The update was cancelled" in outcome.error
    assert bool(outcome.reasons) is bool(kept)
    # The engine keeps what it has, and gets what is new.
    assert outcome.id == (POOL if work in (update, delete, read) else kept)
    if kept == POOL:
        assert outcome.outputs["count"] == (2 if work is update else 1)


@pytest.mark.parametrize("work", [delete, update, register, unregister])
def test_no_request_starts_after_a_cancellation(work: Work) -> None:
    """A deletion was still sent, in the seconds that are for the answers to come."""
    azure = OddAzure()
    azure.put(count=1)

    async def live() -> str:
        async with serving(azure), driving(azure) as provider:
            # Signed in, it could send at once.
            await read(provider)
            await provider.provider.cancel()
            return (await work(provider)).error

    assert "cancelled" in asyncio.run(live())
    assert {*azure.phases()} == {"look"}
