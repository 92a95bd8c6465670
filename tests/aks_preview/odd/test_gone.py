"""Gone means gone: no other 404 drops a resource from the state, or calls it deleted."""

from dataclasses import replace
from typing import Any

import pytest

from tests.aks_preview.odd.azure import (
    CLUSTER,
    GROUP,
    OPERATION,
    PLACE,
    POOL,
    Answer,
    OddAzure,
    refusal,
)
from tests.aks_preview.odd.driver import CLUSTER_TYPE, POOL_TYPE, Driver, Outcome
from tests.aks_preview.odd.test_accepted import exchanged, some_fast
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

CLUSTER_INPUTS = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    POOL: (POOL_TYPE, POOL_INPUTS),
    CLUSTER: (CLUSTER_TYPE, CLUSTER_INPUTS),
}
OTHER_CODES = [
    "SubscriptionNotFound",
    "InvalidResourceType",
    "InvalidResourceNamespace",
    "NoRegisteredProviderFound",
    "MissingSubscriptionRegistration",
    "InvalidApiVersionParameter",
    "TenantNotFound",
    "DeploymentNotFound",
    "Not Found",
    "",
]
OTHERS = [
    *(
        Answer(404, {"error": {"code": code, "message": "gpu cluster group"}})
        for code in OTHER_CODES
    ),
    refusal(404, "ResourceNotFound", "The Resource 'Microsoft.Web/sites/x' was not found."),
    Answer(404, b""),
    Answer(404, "<html><title>404 Not Found</title></html>", {"Content-Type": "text/html"}),
    Answer(404, "null"),
    Answer(404, "[]"),
    Answer(404, {"message": "Resource not found"}),
    Answer(404, {"error": "NotFound"}),
    Answer(404, b"NotFound: gpu"),
    Answer(410, {"error": {"code": "ResourceNotFound", "message": "gpu"}}),
]


def there(subject: str) -> OddAzure:
    azure = OddAzure(subject)
    azure.put(subject, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    return azure


def read(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return exchanged(azure, lambda provider: provider.read(subject, inputs, inputs, kind=kind))


def delete(azure: OddAzure, subject: str = POOL) -> Outcome:
    kind, inputs = KINDS[subject]
    return exchanged(azure, lambda odd: odd.delete(subject, inputs, kind=kind, seconds=100))


@pytest.mark.parametrize("answer", some_fast(OTHERS, 5))
def test_another_404_is_an_error(answer: Answer) -> None:
    """Signed in to another tenant, a refresh dropped running pools, and destroy left them."""
    for phase, ask in (("look", read), ("delete", delete), ("gone", delete)):
        azure = there(POOL)
        azure.bend(phase, for_ever=replace(answer, is_done=False))
        if phase != "look":
            azure.bend("look", for_ever=answer)
        outcome = ask(azure)
        assert (outcome.id, bool(outcome.error)) == (POOL, True), phase

    azure = OddAzure()
    azure.bend("look", for_ever=answer)

    async def create(provider: Driver) -> Outcome:
        return await provider.create(POOL_INPUTS, seconds=50)

    assert exchanged(azure, create).error
    assert "put" not in azure.phases()


def test_a_refused_deletion_reports_azures_reason() -> None:
    """It said that Azure gave no reason."""
    azure = there(POOL)
    azure.bend("delete", for_ever=refusal(404, "SubscriptionNotFound", "There is no such one."))

    outcome = delete(azure)

    assert (outcome.id, "gave no reason" in outcome.error) == (POOL, False)
    assert "SubscriptionNotFound: There is no such one." in outcome.error


@pytest.mark.nightly
@pytest.mark.parametrize("parent", ["cluster", "group", "subscription"])
@pytest.mark.parametrize(
    "answer", [OTHERS[0], Answer(404, b""), Answer(503, b""), Answer(200, "x")]
)
def test_an_unreadable_parent_proves_no_deletion(parent: str, answer: Answer) -> None:
    azure = OddAzure()
    azure.take_away({"cluster": POOL, "group": CLUSTER, "subscription": GROUP}[parent])
    azure.bend(parent, for_ever=answer)

    assert read(azure).id == POOL
    assert delete(azure).id == POOL


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


def test_a_missing_subscription_proves_no_deletion() -> None:
    azure = there(POOL)
    azure.take_away(PLACE)

    assert "SubscriptionNotFound" in read(azure).error
    assert delete(azure).id == POOL


@pytest.mark.parametrize("status", some_fast([202, 204, 200, 205, 299], 2))
def test_a_deletion_ends_when_the_resource_is_gone(status: int) -> None:
    """Without headers it was told as done at once; 200 was a failure."""
    azure = there(POOL)
    azure.bend("delete", Answer(status))
    assert (delete(azure).id, azure.get(POOL)) == ("", None)

    azure = there(POOL)
    azure.bend("delete", Answer(status, is_done=False))
    outcome = delete(azure)
    assert (outcome.id, "still exists" in outcome.error) == (POOL, True)


@pytest.mark.parametrize("status", ["Failed", "Canceled"])
def test_a_failed_deletion_reports_azures_reason(status: str) -> None:
    azure = there(POOL)
    why = {"code": "PodDrainFailure", "message": "A budget forbids it."}
    azure.bend(
        "delete", Answer(202, b"", {OPERATION: "{url}/operations/delete-poll"}, is_done=False)
    )
    azure.bend("delete poll", Answer(200, {"status": status, "error": why}))

    outcome = delete(azure)

    assert outcome.id == POOL
    assert "PodDrainFailure: A budget forbids it." in outcome.error


def test_a_new_pool_waits_until_the_old_pool_of_its_name_is_deleted() -> None:
    """It said that it exists already, and how to import it."""
    azure = OddAzure()
    deleting = {"id": POOL, "properties": {"provisioningState": "Deleting"}}
    azure.bend("look", *[Answer(200, deleting)] * 3)

    async def create(provider: Driver) -> Outcome:
        outcome = await provider.create(POOL_INPUTS)
        assert any("is being deleted" in message for message in provider.log)
        return outcome

    assert (exchanged(azure, create).id, azure.phases().count("look")) == (POOL, 4)


_NESTED = "Microsoft.ContainerService/managedClusters/cluster/agentPools/gpu"
_ABOVE = _NESTED.rpartition("/agentPools/")[0]
OF_THE_POOL = [
    ("AgentPoolNotFound", "Could not find agent pool gpu of cluster."),
    ("NotFound", "Could not find it."),
    ("ResourceNotFound", f"The Resource '{_NESTED}' under resource group 'group' was not found."),
    ("ResourceNotFound", f"The resource {POOL} was not found."),
]
OF_A_PARENT = [
    ("ResourceGroupNotFound", "Resource group 'group' could not be found."),
    ("ManagedClusterNotFound", "Could not find the cluster of gpu."),
    ("ResourceNotFound", f"The Resource '{_ABOVE}' under resource group 'group' was not found."),
    ("ResourceNotFound", f"The Resource '{CLUSTER}' was not found."),
    ("ParentResourceNotFound", f"The parent resource '{CLUSTER}' of agentPools/gpu is not there."),
]


@pytest.mark.parametrize("gone", ["", CLUSTER, GROUP])
@pytest.mark.parametrize(("code", "message"), [*OF_THE_POOL, *OF_A_PARENT])
def test_an_existing_parent_is_not_deleted(code: str, message: str, gone: str) -> None:
    """A refresh dropped a pool for want of its cluster, though the cluster answered."""
    is_gone = bool(gone) or (code, message) in OF_THE_POOL
    for phase, ask in (("look", read), ("gone", delete)):
        azure = there(POOL)
        if gone:
            azure.take_away(gone)
        azure.bend(phase, for_ever=refusal(404, code, message))
        outcome = ask(azure)
        assert (outcome.id, bool(outcome.error)) == (("", False) if is_gone else (POOL, True))


def test_a_404_of_a_proxy_proves_no_deletion() -> None:
    """The word of AKS for what it does not have is no word of ARM for a group."""
    azure = there(POOL)
    for phase in ("look", "cluster", "group"):
        azure.bend(phase, for_ever=refusal(404, "NotFound", "gpu in cluster in group: nothing."))

    assert read(azure).id == POOL
