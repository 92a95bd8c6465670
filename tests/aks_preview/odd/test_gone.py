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
from tests.aks_preview.odd.driver import (
    CLUSTER_TYPE,
    POOL_INPUTS,
    POOL_TYPE,
    Driver,
    Outcome,
    outcome_of,
)
from tests.aks_preview.odd.test_events import CUT, MISSING, PENDING, SLOW, create, ended, pool

CLUSTER_INPUTS = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    POOL: (POOL_TYPE, POOL_INPUTS),
    CLUSTER: (CLUSTER_TYPE, CLUSTER_INPUTS),
}
ELSEWHERE = refusal(404, "SubscriptionNotFound", "There is none.")
# Each answer, and whether it says that the resource is gone.
ANSWERS = {
    **{code: (refusal(404, code), True) for code in (
        "AgentPoolNotFound", "ManagedClusterNotFound", "NotFound", "ParentResourceNotFound",
        "ResourceGroupNotFound", "ResourceNotFound")},
    "as AKS writes it": (Answer(404, {"code": "NotFound", "message": "m"}, is_done=False), True),
    # Another tenant or subscription, an API version that is not there, a proxy.
    "another subscription": (ELSEWHERE, False),
    **{code: (refusal(404, code), False) for code in ("InvalidResourceType", "Not Found")},
    "no text": (Answer(404, b"", is_done=False), False),
    "a page": (Answer(404, "<html><title>404 Not Found</title></html>", is_done=False), False),
    "410": (refusal(410, "ResourceNotFound"), False),
    "another tenant": (refusal(401, "InvalidAuthenticationTokenTenant"), False),
    "no rights": (refusal(403, "AuthorizationFailed"), False),
    "a page of a proxy": (Answer(200, "<html>Sign in</html>", is_done=False), False),
}  # fmt: skip


def there(subject: str = POOL) -> OddAzure:
    azure = OddAzure(subject)
    azure.put(subject, count=1)
    return azure


def read(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return outcome_of(azure, lambda provider: provider.read(subject, inputs, inputs, kind))


def delete(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return outcome_of(azure, lambda provider: provider.delete(subject, inputs, kind, timeout=100))


@pytest.mark.parametrize(("answer", "is_gone"), ANSWERS.values(), ids=ANSWERS)
def test_six_codes_say_that_a_resource_is_gone_and_nothing_else(
    answer: Answer, is_gone: bool
) -> None:
    """Signed in to another tenant, a refresh dropped running pools, and destroy left them."""
    for phase, ask in (("look", read), ("gone", delete)):
        azure = there()
        azure.bend(phase, for_ever=answer)
        outcome = ask(azure)
        assert (outcome.id, bool(outcome.error)) == ("" if is_gone else POOL, not is_gone)

    # A deletion that is answered so has not deleted what is still there.
    azure = there()
    azure.bend("delete", for_ever=answer)
    assert (delete(azure).id, azure.get(POOL) is None) == (POOL, False)
    azure = OddAzure()
    azure.bend("look", for_ever=answer)
    assert bool(outcome_of(azure, create).error) is not is_gone
    assert ("put" in azure.phases()) is is_gone


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
LOCK = refusal(409, "ScopeLocked", "The scope is locked.")
BUDGET = ended("Failed", code="PodDrainFailure", message="A disruption budget forbids it.")
DELETIONS: dict[str, tuple[dict[str, list[Answer]], str]] = {
    "202 without an operation": ({"delete": [Answer(202)]}, ""),
    "another operation": ({"delete": [PENDING, PENDING]}, ""),
    "429": ({"delete": [SLOW]}, ""),
    "the network is cut": ({"delete": [CUT]}, ""),
    "a lost operation": ({"delete poll": [MISSING]}, ""),
    "it lags": ({"gone": [pool("Succeeded")] * 3 + [pool("Deleting")] * 3}, ""),
    "a lock": ({"delete": [LOCK]}, "ScopeLocked: The scope is locked."),
    "a budget": ({"delete": [POLLED], "delete poll": [BUDGET]}, "PodDrainFailure: A disruption"),
    "it is canceled": ({"delete": [POLLED], "delete poll": [ended("Canceled")]}, "Canceled"),
    "it ends, and the pool is there": ({"delete": [POLLED]}, "but it still exists"),
    "another subscription": ({"delete": [ELSEWHERE]}, "SubscriptionNotFound: There is none."),
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
    assert (error in outcome.error, bool(outcome.error)) == (True, bool(error))


def test_a_new_pool_waits_until_the_old_pool_of_its_name_is_deleted() -> None:
    """It said that it exists already, and how to import it."""
    azure = OddAzure()
    azure.bend("look", *[pool("Deleting")] * 3)

    async def replace(provider: Driver) -> Outcome:
        outcome = await create(provider)
        assert any("is being deleted" in message for message in provider.log)
        return outcome

    assert (outcome_of(azure, replace).id, azure.phases().count("look")) == (POOL, 4)
