"""What is in Azure once belongs to one resource of one program, and to one provider."""

from collections.abc import Mapping
from typing import Any

import grpc
import pytest
from aiohttp import web

from provider_kit.exchange import ONLY_NEW
from tests.aks_preview.odd.azure import (
    FEATURE,
    POOL,
    SUBSCRIPTION,
    Answer,
    OddAzure,
    refusal,
    serving,
)
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import (
    FEATURE_TYPE,
    POOL_TYPE,
    UNKNOWN,
    Driver,
    Outcome,
    driving,
)
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}


async def failures(provider: Driver, name: str, inputs: Mapping[str, Any]) -> list[str]:
    urn = f"urn:pulumi:test::odd::{POOL_TYPE}::{name}"
    checked = await provider.ask("Check", urn=urn, news=inputs)
    return [f"{failure.property}: {failure.reason}" for failure in checked.failures]


@pytest.mark.parametrize(
    ("other", "is_rival"),
    [
        ({}, True),
        ({"agentPoolName": "GPU", "resourceGroupName": "Group"}, True),
        ({"agentPoolName": "gpu2"}, False),
        ({"resourceName": "cluster2"}, False),
        ({"agentPoolName": UNKNOWN}, False),
    ],
)
def test_two_resources_that_name_the_same(other: dict[str, str], is_rival: bool) -> None:
    """Both were made, and stood in the state; to take one out deleted the pool of the other."""

    async def check() -> list[str]:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            assert not await failures(provider, "one", POOL_INPUTS)
            return await failures(provider, "two", POOL_INPUTS | other)

    found = run(check())

    assert [failure.partition(":")[0] for failure in found] == ["agentPoolName"] * is_rival
    assert all("::one is already" in failure for failure in found)


def test_one_resource_that_is_checked_again() -> None:
    """A replacement is; and what it named before is free, for another too."""

    async def check() -> list[str]:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            for name in ("gpu", "gpu", "gpu2"):
                assert not await failures(provider, "one", POOL_INPUTS | {"agentPoolName": name})
            return await failures(provider, "two", POOL_INPUTS)

    assert not run(check())


@pytest.mark.parametrize(
    ("kind", "path", "inputs"),
    [(POOL_TYPE, POOL, POOL_INPUTS), (FEATURE_TYPE, FEATURE, FEATURE_INPUTS)],
)
def test_a_provider_of_another_subscription(kind: str, path: str, inputs: dict[str, Any]) -> None:
    """A preview said that nothing changes, and then every refresh, update and deletion failed."""

    async def move(subscription: str) -> None:
        azure = OddAzure()
        async with serving(azure), driving(azure, subscriptionId=subscription) as provider:
            await provider.diff(path, inputs, inputs, inputs, kind=kind)

    run(move(SUBSCRIPTION.upper()))
    with pytest.raises(grpc.aio.AioRpcError, match="lies in another subscription"):
        run(move("00000000-2222-3333-4444-555555555555"))


class Shared(OddAzure):
    """Where somebody else makes the pool after the look for it; new ones are only made as such."""

    def __init__(self, *, is_taken: bool) -> None:
        super().__init__()
        self.bend("look", self._missing())
        if is_taken:
            self.put(POOL, {"properties": {"vmSize": "another"}})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "PUT" and ONLY_NEW in request.headers and self.get(POOL):
            self.bend("put", refusal(412, "PreconditionFailed"))
        return await super().answer(request)


LOST = Answer(breaks="before")
BUSY = refusal(409, "OperationNotAllowed", "Another operation is in progress.")


@pytest.mark.parametrize(
    ("is_taken", "answers", "is_ours"),
    [
        (True, [], False),
        (True, [BUSY], False),
        (True, [refusal(429, "Throttled")], False),
        # Nobody else was there: what is there now is of the first try.
        (False, [LOST], True),
        (False, [LOST, BUSY], True),
        (False, [Answer(500)], True),
        (False, [], True),
    ],
)
def test_a_pool_that_somebody_else_makes_just_then(
    is_taken: bool, answers: list[Answer], is_ours: bool
) -> None:
    """Two programs looked, found nothing, and both had made it."""
    azure = Shared(is_taken=is_taken)

    async def create() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            azure.bend("put", *answers)
            return await provider.create(POOL_INPUTS)

    made = run(create())

    assert bool(made.id) is is_ours
    assert bool(made.error) is not is_ours
    assert ("exists already" in made.error) is not is_ours
    pool = azure.get(POOL)
    assert pool is not None
    assert (pool["properties"]["vmSize"] == "another") is not is_ours
