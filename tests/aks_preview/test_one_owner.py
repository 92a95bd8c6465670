"""What is in Azure belongs to one resource of one program, and to one provider."""

from typing import Any

import pytest

from tests.aks_preview.odd import test_events as events
from tests.aks_preview.odd.azure import FEATURE, POOL, SUBSCRIPTION, Answer, OddAzure
from tests.aks_preview.odd.driver import (
    FEATURE_TYPE,
    POOL_INPUTS,
    POOL_TYPE,
    Driver,
    Outcome,
    outcome_of,
)
from tests.aks_preview.odd.driver import RefusedError as Refused
from tests.aks_preview.test_features import FEATURE_INPUTS
from tests.aks_preview.test_left_alone import SCALED

# How a user may name the pool to take over, and what names another one or none.
NAMING = (f"{POOL}/", f"/another, {POOL.upper()}")
NOT_NAMING = ("", POOL[:-1], f"{POOL}2", POOL.rpartition("/")[2], f"{POOL}/a,/b{POOL}")


@pytest.mark.parametrize(
    ("is_taken", "answers"),
    [
        *((True, answers) for answers in ([], [events.PENDING], [events.SLOW])),
        # Nobody else was there: what is there now is of the first try.
        *((False, answers) for answers in ([], [events.DROPPED], [events.BROKEN])),
        (False, [events.DROPPED, events.PENDING]),
    ],
)
def test_a_pool_that_another_client_creates_at_the_same_time_is_not_taken(
    is_taken: bool, answers: list[Answer]
) -> None:
    """Two programs looked, found nothing, and both had made it."""
    azure = OddAzure()
    azure.bend("look", events.MISSING)
    azure.bend("put", *answers)
    if is_taken:
        azure.put(vmSize="another")

    made = outcome_of(azure, events.create)

    assert made.id == ("" if is_taken else POOL)
    assert ("exists already" in made.error) is bool(made.error) is is_taken
    assert ((azure.get(POOL) or {})["properties"]["vmSize"] == "another") is is_taken


@pytest.mark.parametrize("words", [*NAMING, *NOT_NAMING])
def test_what_a_killed_update_made_is_taken_over_if_the_user_names_it(words: str) -> None:
    """With a slash at the end, or quotes, nothing was taken over; and its nodes were made one."""
    azure = OddAzure()
    azure.put(**SCALED, count=9)
    inputs = {**POOL_INPUTS, **SCALED, "customHeaders": {"A": "b"}}

    outcome = outcome_of(azure, lambda provider: provider.create(inputs), takeOver=words)

    if words in NAMING:
        assert (outcome.id, outcome.error) == (POOL, "")
        assert outcome.outputs["customHeaders"] == {"A": "b"}
        ((headers, body),) = azure.puts()
        assert (headers["A"], body["count"]) == ("b", 9)
    else:
        for way in (f"AKS_PREVIEW_TAKE_OVER={POOL} pulumi up", "aliases", "deleteBeforeReplace"):
            assert f"`{way}`" in outcome.error
        assert f"`pulumi import {POOL_TYPE} subject {POOL}`" in outcome.error
        assert not azure.puts()


def test_a_take_over_that_fails_is_in_the_state() -> None:
    azure = OddAzure()
    azure.put()
    azure.bend("poll", events.ended("Failed"))

    outcome = outcome_of(azure, events.create, takeOver=POOL)

    assert (outcome.id, bool(outcome.reasons)) == (POOL, True)


def compared(path: str, *values: Any, kind: str = POOL_TYPE, **configuration: Any) -> Any:
    """The diff that the provider answers with, or its error."""
    answers = list[Any]()

    async def compare(provider: Driver) -> Outcome:
        try:
            answers.append(await provider.diff(path, *values, kind=kind))
        except Refused as error:
            answers.append(error.args[0])
        return Outcome()

    outcome_of(OddAzure(), compare, **configuration)
    return answers[0]


@pytest.mark.parametrize(
    ("path", "kind", "inputs"),
    [(POOL, POOL_TYPE, POOL_INPUTS), (FEATURE, FEATURE_TYPE, FEATURE_INPUTS)],
)
def test_a_resource_outside_the_configured_subscription_is_refused(
    path: str, kind: str, inputs: Any
) -> None:
    """It looks like a deleted one: a preview said nothing, and the refresh dropped it."""
    values, other = (path, inputs, inputs, inputs), SUBSCRIPTION.replace("1", "0")
    assert compared(*values, kind=kind, subscriptionId=SUBSCRIPTION.upper()).changes
    refused = compared(*values, kind=kind, subscriptionId=other)
    assert "is not in the configured subscription" in refused


def test_an_import_by_an_id_of_something_else_is_refused() -> None:
    azure, cluster = OddAzure(), POOL.partition("/agentPools")[0]

    outcome = outcome_of(azure, lambda provider: provider.read(cluster, {}, {}))

    assert "is not the ID of a AgentPool: use the form" in outcome.error
    assert not azure.phases()


MANAGED = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}
INSTALL = {"gpuProfile": {"driver": "Install"}}
HEADERS = {"customHeaders": {"A": "b"}}


def moved(news: dict[str, Any], **more: Any) -> Any:
    """The diff of a pool in a state of azure-native, which has no names of its path in it."""
    outputs = {"id": POOL, "name": "gpu", "vmSize": POOL_INPUTS["vmSize"], **INSTALL, **more}
    inputs = {**POOL_INPUTS, **INSTALL, **more}
    return compared(POOL, outputs, inputs, {**POOL_INPUTS, **INSTALL, "customHeaders": {}, **news})


ASKED = {"replaceOnHeaderChange": True}


# An empty map of headers is no difference: whoever asked for the replacement got none, and the
# pool's PUT changed what Azure does not.
@pytest.mark.parametrize("more", [{}, HEADERS, ASKED, {**ASKED, **HEADERS}])
@pytest.mark.parametrize(
    "replacing", [MANAGED, {"gpuProfile": {"driver": "None"}}, {"vmSize": "other"}]
)
def test_a_pool_of_azure_native_moves_to_aks_preview_only_in_a_replacement(
    more: dict[str, Any], replacing: dict[str, Any]
) -> None:
    answer = moved({**more, **replacing})
    # The new pool has the name of the old one.
    assert (bool(answer.replaces), answer.deleteBeforeReplace) == (True, True)


def test_a_pool_of_azure_native_is_replaced_if_the_program_asks_for_it() -> None:
    assert moved(ASKED).replaces == ["replaceOnHeaderChange"]


def test_a_pool_of_azure_native_stays_there_in_an_update() -> None:
    # AKS has raised the number of nodes meanwhile: that is no replacement.
    for error in (moved({}), moved({}, count=3)):
        assert "cannot move to aks-preview: remove customHeaders, and what needs them" in error


def test_a_resource_with_a_new_name_that_was_taken_over_is_not_deleted_under_its_old_one() -> None:
    """Renamed in the program and taken over in one run, the pool was adopted, and then deleted."""
    azure, log = OddAzure(), list[str]()
    azure.put(**POOL_INPUTS)

    async def live(provider: Driver) -> Outcome:
        await provider.create(POOL_INPUTS)
        await provider.delete(POOL, POOL_INPUTS)
        log.extend(provider.log)
        return Outcome()

    outcome_of(azure, live, takeOver=POOL)

    assert azure.get(POOL) is not None
    assert any("not deleted" in line for line in log)
