"""The odd Azure is an ordinary one until it is bent, and the clock leaps over what only waits."""

from typing import Any

from tests.aks_preview.odd.azure import CLUSTER, POOL, OddAzure, refusal
from tests.aks_preview.odd.driver import Driver, Outcome, outcome_of

POOL_INPUTS: dict[str, Any] = {
    "resourceGroupName": "group",
    "resourceName": "cluster",
    "agentPoolName": "gpu",
    "vmSize": "Standard_NC8as_T4_v3",
    "count": 1,
}


def test_a_pool_lives_without_odd_answers_and_a_wait_of_a_day_ends_at_once() -> None:
    azure = OddAzure()
    azure.bend("look", refusal(429, "Slow", **{"Retry-After": "86400"}))

    async def live(provider: Driver) -> Outcome:
        made = await provider.create(POOL_INPUTS, timeout=100000)
        assert (made.id, made.outputs["provisioningState"]) == (POOL, "Succeeded")
        read = await provider.read(POOL, made.outputs, POOL_INPUTS)
        assert read.inputs == POOL_INPUTS
        more = POOL_INPUTS | {"count": 2}
        changed = await provider.update(POOL, made.outputs, POOL_INPUTS, more)
        assert (changed.outputs["count"], changed.error) == (2, "")
        return await provider.delete(POOL, changed.outputs)

    assert outcome_of(azure, live).error == ""
    assert azure.get(POOL) is None
    assert azure.get(CLUSTER) is not None
    put, taken_away = ["put", "poll", "get"], ["delete", "delete poll", "gone"]
    assert azure.phases() == ["look", "look", *put, "get", "get", *put, *taken_away]
    first, second, *_ = [made.time for made in azure.requests if made.phase == "look"]
    assert 86400 <= second - first < 86500
