"""What is in Azure belongs to one resource of one program, and to one provider."""

import json
from typing import Any

import pytest

from tests.aks_preview.odd.azure import FEATURE, POOL, SUBSCRIPTION, Answer, OddAzure, refusal
from tests.aks_preview.odd.driver import (
    FEATURE_TYPE,
    POOL_TYPE,
    Driver,
    Outcome,
    RefusedError,
    outcome_of,
)
from tests.aks_preview.odd.test_events import BROKEN, DROPPED, PENDING, SLOW, ended
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

SCALED = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9}
# How a user may name the pool to take over, and what names another one or none.
NAMING = (f"{POOL}/", f'"{POOL}"', f"' {POOL} ' ,", f"\n{POOL}\n", f"/another, {POOL.upper()}")
NOT_NAMING = ("", POOL[:-1], f"{POOL}2", POOL.rpartition("/")[2], f"{POOL}/a,/b{POOL}")


class Shared(OddAzure):
    """Where somebody else has made the pool after the look for it."""

    def __init__(self, *, is_taken: bool) -> None:
        super().__init__()
        self.bend("look", refusal(404, "NotFound"))
        if is_taken:
            self.put(POOL, {"properties": {"vmSize": "another"}})


@pytest.mark.parametrize(
    ("is_taken", "answers"),
    [
        *((True, answers) for answers in ([], [PENDING], [SLOW])),
        # Nobody else was there: what is there now is of the first try.
        *((False, answers) for answers in ([], [DROPPED], [DROPPED, PENDING], [BROKEN])),
    ],
)
def test_a_pool_that_another_client_creates_at_the_same_time_is_not_taken(
    is_taken: bool, answers: list[Answer]
) -> None:
    """Two programs looked, found nothing, and both had made it."""
    azure = Shared(is_taken=is_taken)
    azure.bend("put", *answers)

    made = outcome_of(azure, lambda provider: provider.create(POOL_INPUTS))

    assert made.id == ("" if is_taken else POOL)
    assert ("exists already" in made.error) is bool(made.error) is is_taken
    pool = azure.get(POOL)
    assert pool is not None
    assert (pool["properties"]["vmSize"] == "another") is is_taken


def take_over(azure: OddAzure, words: str) -> Outcome:
    azure.put(POOL, {"properties": {**SCALED, "count": 9}})
    inputs = {**POOL_INPUTS, **SCALED, "customHeaders": {"A": "b"}}
    return outcome_of(azure, lambda provider: provider.create(inputs), takeOver=words)


@pytest.mark.parametrize("words", NAMING)
def test_what_a_killed_update_made_is_taken_over(words: str) -> None:
    """With a slash at the end, or quotes, nothing was taken over; and its nodes were made one."""
    azure = OddAzure()

    outcome = take_over(azure, words)

    assert (outcome.id, outcome.error) == (POOL, "")
    assert outcome.outputs["customHeaders"] == {"A": "b"}
    (put,) = [made for made in azure.requests if made.phase == "put"]
    assert json.loads(put.body)["properties"]["count"] == 9
    assert put.headers["A"] == "b"


@pytest.mark.parametrize("words", NOT_NAMING)
def test_what_take_over_does_not_name_is_refused_with_all_ways_out(words: str) -> None:
    azure = OddAzure()

    error = take_over(azure, words).error

    assert f"`AKS_PREVIEW_TAKE_OVER={POOL} pulumi up`" in error
    assert f"`pulumi import {POOL_TYPE} subject {POOL}`" in error
    assert "`aliases`" in error
    assert "`deleteBeforeReplace`" in error
    assert "put" not in azure.phases()


def test_a_take_over_that_fails_is_in_the_state() -> None:
    azure = OddAzure()
    azure.bend("poll", ended("Failed"))

    outcome = take_over(azure, POOL)

    assert (outcome.id, bool(outcome.reasons)) == (POOL, True)


@pytest.mark.parametrize("subscription", [SUBSCRIPTION.upper(), SUBSCRIPTION.replace("1", "0")])
@pytest.mark.parametrize("kind", [POOL_TYPE, FEATURE_TYPE])
def test_a_resource_outside_the_configured_subscription_is_refused(
    subscription: str, kind: str
) -> None:
    """It looks like a deleted one: a preview said nothing, and the refresh dropped it."""
    feature = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
    path, inputs = (POOL, POOL_INPUTS) if kind == POOL_TYPE else (FEATURE, feature)

    async def move(provider: Driver) -> Outcome:
        try:
            await provider.diff(path, inputs, inputs, inputs, kind=kind)
        except RefusedError as error:
            return Outcome(error=str(error))
        return await provider.read(path, inputs, inputs, kind=kind)

    azure = OddAzure()
    error = outcome_of(azure, move, subscriptionId=subscription).error

    is_other = subscription != SUBSCRIPTION.upper()
    assert ("is not in the configured subscription" in error) is is_other


@pytest.mark.parametrize("resource_id", [POOL.partition("/agentPools")[0], "gpu"])
def test_an_import_by_an_id_of_something_else_is_refused(resource_id: str) -> None:
    azure = OddAzure()

    outcome = outcome_of(azure, lambda provider: provider.read(resource_id, {}, {}))

    assert "is not the ID of a AgentPool: use the form" in outcome.error
    assert not azure.phases()


MANAGED = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}
STREAMING = {"artifactStreamingProfile": {"enabled": True}}
HEADERS = {"customHeaders": {"A": "b"}}


def moved(news: dict[str, Any], **more: Any) -> Any:
    """The diff of a pool in a state of azure-native, which has no names of its path in it."""
    profile = {"gpuProfile": {"driver": "Install"}, **more}
    outputs = {"id": POOL, "name": "gpu", "vmSize": POOL_INPUTS["vmSize"], **profile}
    answers = list[Any]()

    async def compare(provider: Driver) -> Outcome:
        try:
            answers.append(await provider.diff(POOL, outputs, POOL_INPUTS | profile, news))
        except RefusedError as error:
            return Outcome(error=str(error))
        return Outcome()

    outcome = outcome_of(OddAzure(), compare)
    return answers[0] if answers else outcome.error


@pytest.mark.parametrize("more", [{}, STREAMING, HEADERS])
@pytest.mark.parametrize(
    "replacing", [MANAGED, {"gpuProfile": {"driver": "None"}}, {"vmSize": "other"}]
)
def test_a_pool_of_azure_native_moves_to_aks_preview_only_in_a_replacement(
    more: dict[str, Any], replacing: dict[str, Any]
) -> None:
    answer = moved({**POOL_INPUTS, "customHeaders": {}, **more, **replacing})
    assert answer.replaces
    # The new pool has the name of the old one.
    assert answer.deleteBeforeReplace


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "remove customHeaders; or create another pool"),
        ({**HEADERS, **STREAMING}, "remove customHeaders and artifactStreaming"),
        (STREAMING, "az aks nodepool update --resource-group group --cluster-name cluster --name"),
    ],
)
def test_a_pool_of_azure_native_stays_there_in_an_update(more: dict[str, Any], words: str) -> None:
    inputs = {**POOL_INPUTS, "gpuProfile": {"driver": "Install"}, "customHeaders": {}, **more}
    # AKS has raised the number of nodes meanwhile: that is no replacement.
    for error in (moved(inputs), moved(inputs, count=3)):
        assert words in error
