"""A cancellation ends the work within seconds, whatever Azure leaves unanswered just then."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from provider_kit import cancellation
from tests.aks_preview.odd.azure import FEATURE, POOL, Answer, OddAzure, refusal, serving
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

# Far less than the provider waits for an answer by itself, and far more than it takes here.
_PATIENCE = 25
_FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
_MORE = POOL_INPUTS | {"count": 2}

Work = Callable[[Driver], Awaitable[Outcome]]


class SilentAzure(OddAzure):
    """Leaves the requests of one phase without an answer, or with one; if others came before."""

    def __init__(self, silent: str, says: Answer | None = None, *, after: str = "") -> None:
        super().__init__()
        self._silent, self._says, self._after = silent, says, after
        self.is_asked, self.is_over = asyncio.Event(), asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        phase = self._phase(request.method, request.path)
        is_time = not self._after or self._after in self.phases()
        if phase != self._silent or not is_time or self.is_over.is_set():
            return await super().answer(request)
        self.is_asked.set()
        if self._says is not None:
            return await self._sent(request, self._says)
        await self.is_over.wait()
        return web.Response(status=503)

    async def cancelled(self, work: Work, **configuration: Any) -> Outcome:
        """What the engine learns of work that is cancelled while the silence lasts."""
        async with serving(self), driving(self, **configuration) as provider:
            try:
                working = asyncio.ensure_future(work(provider))
                await asyncio.wait_for(self.is_asked.wait(), _PATIENCE)
                await provider.provider.cancel()
                return await asyncio.wait_for(working, _PATIENCE)
            finally:
                self.is_over.set()


def create(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(POOL_INPUTS)


def register(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(_FEATURE_INPUTS, kind=FEATURE_TYPE)


def update(provider: Driver) -> Awaitable[Outcome]:
    return provider.update(POOL, POOL_INPUTS, POOL_INPUTS, _MORE)


@pytest.fixture(autouse=True)
def _little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "_SECONDS_OF_GRACE", 0.1)


@pytest.mark.parametrize(
    ("work", "silent", "kept"),
    [
        (create, "metadata", ""),
        (create, "token", ""),
        (create, "look", ""),
        # Nobody knows whether it arrived.
        (create, "put", POOL),
        (create, "poll", POOL),
        (create, "get", POOL),
        (register, "register", FEATURE),
        (register, "feature", FEATURE),
        (register, "register provider", FEATURE),
        (register, "provider", FEATURE),
    ],
)
def test_a_cancellation_ends_a_creation(work: Work, silent: str, kept: str) -> None:
    """An unanswered PUT was waited for as long as five minutes; CI's runners kill before that."""
    outcome = asyncio.run(SilentAzure(silent).cancelled(work))

    assert "The update was cancelled" in outcome.error
    assert outcome.id == kept
    assert bool(outcome.reasons) is bool(kept)


@pytest.mark.parametrize(("silent", "kept"), [("look", ()), ("put", 2), ("poll", 2), ("get", 2)])
def test_a_cancellation_ends_an_update(silent: str, kept: Any) -> None:
    """What may have arrived is in the state, to be sent again."""
    azure = SilentAzure(silent)
    azure.put(POOL, {"properties": {"count": 1, "vmSize": POOL_INPUTS["vmSize"]}})

    outcome = asyncio.run(azure.cancelled(update))

    assert "The update was cancelled" in outcome.error
    assert outcome.outputs.get("count", ()) == kept


@pytest.mark.parametrize("silent", ["delete", "delete poll"])
def test_a_cancellation_ends_a_deletion(silent: str) -> None:
    azure = SilentAzure(silent)
    azure.put(POOL, {"properties": {}})

    outcome = asyncio.run(azure.cancelled(lambda provider: provider.delete(POOL, POOL_INPUTS)))

    assert "The update was cancelled" in outcome.error
    assert outcome.id == POOL


def test_a_cancellation_ends_a_refresh() -> None:
    work: Work = lambda provider: provider.read(POOL, POOL_INPUTS, POOL_INPUTS)  # noqa: E731

    assert "The update was cancelled" in asyncio.run(SilentAzure("look").cancelled(work)).error


def test_a_cancellation_ends_the_get_after_an_unanswered_put() -> None:
    """Nobody can say what became of the request: it stays in the state."""
    azure = SilentAzure("look", after="put")

    async def refused(provider: Driver) -> Outcome:
        azure.bend("put", for_ever=refusal(501, "Refused"))
        return await provider.create(POOL_INPUTS)

    outcome = asyncio.run(azure.cancelled(refused))

    assert "Refused" in outcome.error
    assert outcome.id == POOL


@pytest.mark.parametrize("phase", ["metadata", "token", "look", "put", "poll", "get"])
def test_a_cancellation_ends_the_pause_before_a_retry(phase: str) -> None:
    throttled = refusal(429, "Throttled", **{"Retry-After": "86400"})

    outcome = asyncio.run(SilentAzure(phase, throttled).cancelled(create))

    assert "The update was cancelled" in outcome.error
    assert bool(outcome.id) is (phase in ("poll", "get"))
