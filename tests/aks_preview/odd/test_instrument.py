"""The odd Azure is an ordinary one until it is bent, and the clock leaps over what only waits."""

import asyncio
import time

from aiohttp import web

from tests.aks_preview.odd.azure import CLUSTER, POOL, OddAzure, refusal, serving
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import driving

POOL_INPUTS = {
    "resourceGroupName": "group",
    "resourceName": "cluster",
    "agentPoolName": "gpu",
    "vmSize": "Standard_NC8as_T4_v3",
    "count": 1,
}


def test_a_pool_is_created_updated_and_deleted_without_odd_answers() -> None:
    async def live() -> OddAzure:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            made = await provider.create(POOL_INPUTS)
            assert (made.id, made.error) == (POOL, "")
            assert made.outputs["provisioningState"] == "Succeeded"
            read = await provider.read(POOL, made.outputs, POOL_INPUTS)
            assert read.inputs == POOL_INPUTS | {"count": 1.0}
            more = POOL_INPUTS | {"count": 2}
            changed = await provider.update(POOL, made.outputs, POOL_INPUTS, more)
            assert (changed.outputs["count"], changed.error) == (2, "")
            assert not (await provider.delete(POOL, changed.outputs)).error
            return azure

    azure = run(live())

    assert azure.get(POOL) is None
    assert azure.get(CLUSTER) is not None
    put, taken_away = ["put", "poll", "get"], ["delete", "delete poll", "gone"]
    assert azure.phases() == ["look", *put, "get", "get", *put, *taken_away]


class SlowAzure(OddAzure):
    """Takes true seconds for an answer, as on a busy machine."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if not self.requests:
            await asyncio.to_thread(time.sleep, 1.2)
        return await super().answer(request)


def test_the_clock_leaps_over_a_day_but_not_while_an_answer_is_under_way() -> None:
    """It leapt over the patience with Azure's metadata, and a pool was not created."""

    async def wait() -> list[float]:
        async with serving(SlowAzure()) as azure, driving(azure) as provider:
            azure.bend("look", refusal(429, "Slow", **{"Retry-After": "86400"}))
            assert (await provider.create(POOL_INPUTS, seconds=100000)).error == ""
            return [made.time for made in azure.requests if made.phase == "look"]

    first, second = run(wait())

    assert 86400 <= second - first < 86500
