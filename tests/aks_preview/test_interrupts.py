"""A cancellation ends the work within seconds, whatever Azure leaves unanswered just then."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from provider_kit import cancellation
from tests.aks_preview.odd.azure import FEATURE, POOL, Answer, OddAzure, refusal, serving
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, Work, driving
from tests.aks_preview.odd.test_events import PENDING, REGISTERING, UNREGISTERED, create, update
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

# Far less than the provider waits for an answer by itself, and far more than it takes here.
_PATIENCE = 25
_FEATURE = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
_LATER = refusal(429, "Throttled", **{"Retry-After": "86400"})


class SilentAzure(OddAzure):
    """Leaves the requests of one phase without an answer, or says always the same."""

    def __init__(self, silent: str, says: Answer | None = None) -> None:
        super().__init__()
        self._silent, self._says = silent, says
        self.is_asked, self.is_over = asyncio.Event(), asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self._phase(request.method, request.path) != self._silent or self.is_over.is_set():
            return await super().answer(request)
        self.bend(self._silent, for_ever=self._says)
        answer = await super().answer(request) if self._says else web.Response(status=503)
        self.is_asked.set()
        if self._says is None:
            await self.is_over.wait()
        return answer


def cancelled(azure: SilentAzure, work: Work, **configuration: Any) -> Outcome:
    """What the engine learns of work that is cancelled while the silence lasts."""

    async def ask() -> Outcome:
        async with serving(azure), driving(azure, **configuration) as provider:
            try:
                working = asyncio.ensure_future(work(provider))
                await asyncio.wait_for(azure.is_asked.wait(), _PATIENCE)
                await provider.provider.cancel()
                return await asyncio.wait_for(working, _PATIENCE)
            finally:
                azure.is_over.set()

    outcome = asyncio.run(ask())
    assert "The update was cancelled" in outcome.error
    return outcome


async def register(provider: Driver) -> Outcome:
    return await provider.create(_FEATURE, kind=FEATURE_TYPE)


async def read(provider: Driver) -> Outcome:
    return await provider.read(POOL, POOL_INPUTS, POOL_INPUTS)


async def delete(provider: Driver) -> Outcome:
    return await provider.delete(POOL, POOL_INPUTS)


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
        azure.put(POOL, {"properties": {"count": 1, "provisioningState": "Succeeded"}})

    outcome = cancelled(azure, work)

    assert bool(outcome.reasons) is bool(kept)
    # The engine keeps what it has, and gets what is new.
    assert outcome.id == (POOL if work in (update, delete, read) else kept)
    if kept == POOL:
        assert outcome.outputs["count"] == (2 if work is update else 1)


def test_a_cancellation_ends_the_wait_for_the_registration_of_a_provider() -> None:
    azure = SilentAzure("provider", REGISTERING)
    azure.bend("put", UNREGISTERED)

    # Whether the PUT is sent again by then, nobody can say.
    assert cancelled(azure, create).id == POOL


@pytest.mark.parametrize("method", ["delete", "put", "register", "unregister"])
def test_no_request_starts_after_a_cancellation(method: str) -> None:
    """A deletion was still sent, in the seconds that are for the answers to come."""
    azure = OddAzure()
    azure.put(POOL, {"properties": {"provisioningState": "Succeeded", "count": 1}})

    async def live() -> str:
        async with serving(azure), driving(azure) as provider:
            # Signed in, it could send at once.
            await read(provider)
            await provider.provider.cancel()
            if method == "unregister":
                known = _FEATURE | {"unregisterOnDelete": True}
                return (await provider.delete(FEATURE, known, kind=FEATURE_TYPE)).error
            work = {"delete": delete, "put": update, "register": register}[method]
            return (await work(provider)).error

    assert "cancelled" in asyncio.run(live())
    assert method not in azure.phases()
