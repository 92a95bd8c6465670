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
def test_two_resources_with_one_azure_name_are_refused(
    other: dict[str, str], is_rival: bool
) -> None:
    """Both were made, and stood in the state; to take one out deleted the pool of the other."""

    async def check() -> list[str]:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            assert not await failures(provider, "one", POOL_INPUTS)
            return await failures(provider, "two", POOL_INPUTS | other)

    errors = run(check())

    assert [failure.partition(":")[0] for failure in errors] == ["agentPoolName"] * is_rival
    assert all("::one. Remove one of the two" in failure for failure in errors)


def test_a_resource_that_is_checked_twice_is_accepted() -> None:
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
def test_a_resource_outside_the_configured_subscription_is_refused(
    kind: str, path: str, inputs: dict[str, Any]
) -> None:
    """A preview said that nothing changes, and then every refresh, update and deletion failed."""

    async def move(subscription: str) -> None:
        azure = OddAzure()
        async with serving(azure), driving(azure, subscriptionId=subscription) as provider:
            await provider.diff(path, inputs, inputs, inputs, kind=kind)

    run(move(SUBSCRIPTION.upper()))
    with pytest.raises(grpc.aio.AioRpcError, match="is not in the configured subscription"):
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
def test_a_pool_that_another_client_creates_at_the_same_time_is_not_taken(
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


MADE = POOL_INPUTS | {"customHeaders": {}, "provisioningState": "Succeeded"}


class Program:
    """A program's resources under one provider, asked for as the engine does."""

    def __init__(self, provider: Driver) -> None:
        self._provider = provider

    async def compare(self, name: str, pool: str, new: str) -> Any:
        old = {"olds": of(pool, MADE), "old_inputs": of(pool, POOL_INPUTS)}
        request: dict[str, Any] = {"urn": urn(name), "id": path(pool), **old}
        return await self._provider.ask("Diff", news=of(new, POOL_INPUTS), **request)

    async def create(self, name: str, pool: str) -> Any:
        inputs = of(pool, POOL_INPUTS)
        return await self._provider.ask("Create", urn=urn(name), properties=inputs)

    async def update(self, name: str, pool: str) -> Any:
        inputs = of(pool, POOL_INPUTS)
        request: dict[str, Any] = {"olds": of(pool, MADE), "old_inputs": inputs, "news": inputs}
        return await self._provider.ask("Update", urn=urn(name), id=path(pool), **request)

    async def delete(self, name: str, pool: str) -> Any:
        about = {"urn": urn(name), "id": path(pool).upper()}
        return await self._provider.ask("Delete", properties=of(pool, MADE), **about)


def urn(name: str) -> str:
    return f"urn:pulumi:test::odd::{POOL_TYPE}::{name}"


def path(pool: str) -> str:
    return f"{POOL.rpartition('/')[0]}/{pool}"


def of(pool: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "agentPoolName": pool}


@pytest.mark.parametrize(
    ("steps", "is_left"),
    [
        # Renamed without an alias, and taken over.
        (["create b gpu", "delete a gpu"], True),
        # Two of the state, of which one is taken out of the program.
        (["compare b gpu gpu", "delete a gpu"], True),
        (["update b gpu", "delete a gpu"], True),
        # A destruction; a replacement, before and after the new one is made.
        (["delete a gpu"], False),
        (["delete a gpu", "delete b gpu"], False),
        (["compare a gpu other", "delete a gpu", "create a other"], False),
        (["compare a gpu gpu", "create a other", "delete a gpu"], False),
        # Renamed with an alias and replaced: the engine deletes it by its old name.
        (["compare b gpu other", "delete a gpu"], False),
        (["compare b gpu gpu", "create b other", "delete a gpu"], False),
        # A destruction after a refresh, which compares too.
        (["compare a gpu gpu", "compare b gpu gpu", "delete a gpu", "delete b gpu"], False),
        # Both are to be something else.
        (["compare a gpu x", "compare b gpu y", "delete a gpu", "delete b gpu"], False),
        # Two exchange their names: what the other has taken over stays.
        (
            ["compare a gpu x", "compare b x gpu", "create b gpu", "create a x", "delete a gpu"],
            True,
        ),
        (["compare a x gpu", "compare b gpu x", "create a gpu", "delete b gpu"], True),
        (["compare a gpu x", "compare b x gpu", "delete a gpu", "create b gpu"], False),
    ],
)
def test_a_resource_that_another_urn_owns_is_not_deleted(steps: list[str], is_left: bool) -> None:
    """Renamed and taken over, the running pool was deleted at the end of the same run."""
    azure = OddAzure()
    for pool in ("gpu", "other", "x"):
        azure.put(path(pool), {"properties": {"provisioningState": "Succeeded"}})

    async def live() -> list[str]:
        ids = ",".join(path(pool) for pool in ("gpu", "other", "x"))
        async with serving(azure), driving(azure, takeOver=ids) as provider:
            program = Program(provider)
            for step in steps:
                method, *names = step.split()
                await getattr(program, method)(*names)
            return provider.log

    warnings = [message for message in run(live()) if "is not deleted" in message]

    assert ("delete" in azure.phases()) is not is_left
    if is_left:
        other = {"a": "b", "b": "a"}[steps[-1].split()[1]]
        assert [message.lower() for message in warnings] == [
            f"{POOL} is not deleted in Azure, because {urn(other)} uses it now.".lower()
        ]


@pytest.mark.parametrize("is_taken_over", [True, False])
def test_what_a_urn_created_in_a_run_is_not_deleted_as_its_old_resource(
    is_taken_over: bool,
) -> None:
    """Tainted, a pool was taken over as its error said, and then deleted as the old one."""
    azure = OddAzure()
    if is_taken_over:
        azure.put(POOL, {"properties": {"provisioningState": "Succeeded"}})

    async def live() -> list[str]:
        async with serving(azure), driving(azure, takeOver=POOL) as provider:
            program = Program(provider)
            await program.create("a", "gpu")
            await program.delete("a", "gpu")
            return provider.log

    messages = run(live())

    assert azure.get(POOL) is not None
    assert any(
        "is not deleted in Azure, because this update created it" in message for message in messages
    )


def test_what_a_run_registered_is_not_unregistered_with_its_old_resource() -> None:
    """Replaced by `--replace`, a feature was registered and then unregistered."""
    azure, inputs = OddAzure(), FEATURE_INPUTS | {"unregisterOnDelete": True}

    async def live() -> None:
        async with serving(azure), driving(azure) as provider:
            made = await provider.create(inputs, kind=FEATURE_TYPE)
            await provider.delete(FEATURE, made.outputs, kind=FEATURE_TYPE)

    run(live())

    assert "unregister" not in azure.phases()


def test_a_replacement_that_an_option_asks_for_deletes_first() -> None:
    """With `replaceOnChanges`, the new pool met the old one of its name: up failed each time."""

    async def differences() -> Any:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            return await Program(provider).compare("a", "gpu", "gpu")

    assert run(differences()).deleteBeforeReplace


def test_a_refused_take_over_claims_no_resource() -> None:
    azure = OddAzure()
    azure.put(POOL, {"properties": {"provisioningState": "Succeeded"}})
    azure.bend("put", refusal(400, "No"))

    async def live() -> None:
        async with serving(azure), driving(azure, takeOver=POOL) as provider:
            program = Program(provider)
            with pytest.raises(grpc.aio.AioRpcError, match="No"):
                await program.create("b", "gpu")
            await program.delete("a", "gpu")

    run(live())

    assert azure.get(POOL) is None


def test_the_error_for_an_existing_resource_names_the_options_that_help() -> None:
    azure = OddAzure()
    azure.put(POOL, {"properties": {}})

    async def create() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            return await provider.create(POOL_INPUTS)

    error = run(create()).error
    assert "`aliases`" in error
    assert "`deleteBeforeReplace`" in error
