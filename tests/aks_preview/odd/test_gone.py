"""Gone means gone: no other 404 drops a resource from the state, or calls it deleted."""

from typing import Any

import pytest

from tests.aks_preview.odd.azure import (
    CLUSTER,
    GROUP,
    OPERATION,
    POOL,
    Answer,
    OddAzure,
    refusal,
)
from tests.aks_preview.odd.driver import CLUSTER_TYPE, POOL_TYPE, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_events import CUT, PENDING, SLOW, ended, pool
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

CLUSTER_INPUTS = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    POOL: (POOL_TYPE, POOL_INPUTS),
    CLUSTER: (CLUSTER_TYPE, CLUSTER_INPUTS),
}
GONE = [
    "AgentPoolNotFound",
    "ManagedClusterNotFound",
    "NotFound",
    "ParentResourceNotFound",
    "ResourceGroupNotFound",
    "ResourceNotFound",
]
# Of another tenant or subscription, of an API that is not there, of a proxy.
NOT_GONE = [
    *(refusal(404, code) for code in ("SubscriptionNotFound", "InvalidResourceType", "Not Found")),
    Answer(404, b"", is_done=False),
    Answer(404, "<html><title>404 Not Found</title></html>", is_done=False),
    refusal(410, "ResourceNotFound"),
    refusal(403, "AuthorizationFailed"),
    refusal(401, "InvalidAuthenticationTokenTenant"),
    Answer(200, "<html>A proxy's own page</html>", is_done=False),
]


def there(subject: str = POOL) -> OddAzure:
    azure = OddAzure(subject)
    azure.put(subject, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    return azure


def read(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return outcome_of(azure, lambda provider: provider.read(subject, inputs, inputs, kind=kind))


def delete(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return outcome_of(azure, lambda odd: odd.delete(subject, inputs, kind=kind, seconds=100))


@pytest.mark.parametrize("code", GONE)
def test_six_codes_say_that_a_resource_is_gone(code: str) -> None:
    for body in (refusal(404, code), Answer(404, {"code": code, "message": "m"}, is_done=False)):
        azure = there()
        azure.bend("look", for_ever=body)
        assert (read(azure).id, read(azure).error) == ("", "")
    azure = there()
    azure.bend("delete", refusal(404, code))
    azure.bend("look", for_ever=refusal(404, code))
    assert (delete(azure).id, delete(azure).error) == ("", "")


@pytest.mark.parametrize("answer", NOT_GONE)
def test_another_answer_is_an_error(answer: Answer) -> None:
    """Signed in to another tenant, a refresh dropped running pools, and destroy left them."""
    for phase, ask in (("look", read), ("delete", delete), ("gone", delete)):
        azure = there()
        azure.bend(phase, for_ever=answer)
        outcome = ask(azure)
        if phase == "delete" and answer.status == 200:
            assert "still exists" in outcome.error
        assert (outcome.id, bool(outcome.error)) == (POOL, True), phase

    azure = OddAzure()
    azure.bend("look", for_ever=answer)
    assert outcome_of(azure, lambda provider: provider.create(POOL_INPUTS)).error
    assert "put" not in azure.phases()


@pytest.mark.parametrize("subject", [POOL, CLUSTER])
@pytest.mark.parametrize("gone", [POOL, CLUSTER, GROUP])
def test_a_deleted_resource_leaves_the_state(subject: str, gone: str) -> None:
    """Also with its cluster, and with `az group delete`."""
    azure = there(subject)
    azure.take_away(gone)
    lives = subject == CLUSTER and gone == POOL

    outcome = read(azure, subject)

    assert (outcome.id, outcome.error) == (subject if lives else "", "")
    assert (delete(azure, subject).id, azure.get(subject)) == ("", None)


POLLED = Answer(202, b"", {OPERATION: "{url}/operations/delete-poll"}, is_done=False)
DRAIN = {"code": "PodDrainFailure", "message": "A disruption budget forbids it."}
DELETIONS: dict[str, tuple[dict[str, list[Answer]], str]] = {
    "202 without an operation": ({"delete": [Answer(202)]}, ""),
    "another operation": ({"delete": [PENDING, PENDING]}, ""),
    "429": ({"delete": [SLOW]}, ""),
    "the network is cut": ({"delete": [CUT]}, ""),
    "a lost operation": ({"delete poll": [refusal(404, "NotFound")]}, ""),
    "it lags": ({"gone": [pool("Succeeded")] * 3 + [pool("Deleting")] * 3}, ""),
    "a lock": (
        {"delete": [refusal(409, "ScopeLocked", "The scope is locked.")]},
        "ScopeLocked: The scope is locked.",
    ),
    "a disruption budget": (
        {"delete": [POLLED], "delete poll": [ended("Failed", **DRAIN)]},
        "PodDrainFailure: A disruption budget forbids it.",
    ),
    "it is canceled": ({"delete": [POLLED], "delete poll": [ended("Canceled")]}, "Canceled"),
    "it ends, and the pool is there": ({"delete": [POLLED]}, "but it still exists"),
    "another subscription": (
        {"delete": [refusal(404, "SubscriptionNotFound", "There is none.")]},
        "SubscriptionNotFound: There is none.",
    ),
}


@pytest.mark.parametrize(("bent", "error"), DELETIONS.values(), ids=DELETIONS)
def test_an_event_at_a_deletion_ends_as_it_should(
    bent: dict[str, list[Answer]], error: str
) -> None:
    azure = there()
    for phase, answers in bent.items():
        azure.bend(phase, *answers)

    outcome = delete(azure)

    assert (outcome.id, azure.get(POOL) is not None) == (POOL if error else "", bool(error))
    assert error in outcome.error
    assert bool(outcome.error) is bool(error)


def test_a_new_pool_waits_until_the_old_pool_of_its_name_is_deleted() -> None:
    """It said that it exists already, and how to import it."""
    azure = OddAzure()
    azure.bend("look", *[pool("Deleting")] * 3)

    async def create(provider: Driver) -> Outcome:
        outcome = await provider.create(POOL_INPUTS)
        assert any("is being deleted" in message for message in provider.log)
        return outcome

    assert (outcome_of(azure, create).id, azure.phases().count("look")) == (POOL, 4)
