"""The answers about versions, registrations, and what exists already."""

from collections.abc import Mapping
from typing import Any

import pytest
from azure.mgmt.containerservice.models import KubernetesVersion

from aksgpu.outcome import Cause
from aksgpu.preflight import registrations, requirements, versions
from aksgpu.preflight.facts import Facts
from aksgpu.preflight.rows import Row
from stack_settings.model import Settings
from tests.aksgpu.preflight.conftest import (
    ELSEWHERE,
    GROUP_VERSION,
    T4,
    Place,
    cluster_with,
    facts_with,
    stack_of,
    the,
)
from tests.rehearsal.conftest import API_VERSION

OFFERED = [
    KubernetesVersion(
        {
            "version": minor,
            "patchVersions": {f"{minor}.2": {}, f"{minor}.1": {}},
            "isDefault": minor == "1.35",
            "isPreview": minor == "1.37",
            "capabilities": {
                "supportPlan": ["KubernetesOfficial"] * (minor != "1.32") + ["AKSLongTermSupport"]
            },
        }
    )
    for minor in ("1.32", "1.34", "1.35", "1.37")
]


def of_versions(settings: Settings, facts: Facts) -> list[Row]:
    return [*versions.judge(settings, requirements.pools(settings), facts)]


def of_features(settings: Settings, facts: Facts) -> list[Row]:
    return [*registrations.features(settings, requirements.pools(settings), facts)]


@pytest.mark.parametrize(
    ("version", "answer", "words"),
    [
        ("1.35", "ok", "Kubernetes 1.35 is offered in eastus"),
        ("1.35.2", "ok", "Kubernetes 1.35.2 is offered in eastus"),
        ("", "ok", "AKS uses its default, 1.35"),
        ("1.345", "problem", "Kubernetes 1.345 is not offered in eastus"),
        ("1.30", "problem", "Kubernetes 1.30 is not offered in eastus"),
        ("1.35.99", "problem", "1.35.99 is not offered in eastus, only 1.35.2, 1.35.1"),
        ("1.32", "problem", "offered only with long-term support"),
        ("1.37", "warning", "is a preview"),
    ],
)
def test_a_kubernetes_version_is_checked_against_the_offered_ones(
    version: str, answer: str, words: str
) -> None:
    settings = stack_of(cluster={"kubernetesVersion": version})
    (row,) = of_versions(settings, facts_with(versions=OFFERED))
    assert (row.answer, row.key) == (answer, "cluster.kubernetesVersion")
    assert words in row.what


def test_the_kubernetes_version_of_a_pool_is_checked() -> None:
    """Only the cluster's was asked for; a pool's that is not offered passed."""
    pools = [
        T4 | {"name": name, "kubernetesVersion": version}
        for name, version in (("same", "1.35"), ("old", "1.34"), ("odd", "1.34.99"))
    ]
    own = [{"name": "more", "vmSize": "Standard_D4ds_v5", "kubernetesVersion": "1.33"}]
    stack = stack_of(cluster={"kubernetesVersion": "1.35"}, gpuPools=pools, systemPools=own)
    rows = of_versions(stack, facts_with(versions=OFFERED))
    assert [(row.pool, row.answer, row.key) for row in rows] == [
        ("", "ok", "cluster.kubernetesVersion"),
        ("more", "problem", "systemPools[0].kubernetesVersion"),
        ("old", "ok", "gpuPools[1].kubernetesVersion"),
        ("odd", "problem", "gpuPools[2].kubernetesVersion"),
    ]
    has = {"name": "odd", "vmSize": T4["vmSize"], "currentOrchestratorVersion": "1.34.99"}
    there = cluster_with(has)
    *_, odd = of_versions(stack, facts_with(versions=OFFERED, cluster=there))
    assert (odd.answer, odd.what) == ("ok", "the pool already has 1.34.99")


def test_a_pool_of_a_cluster_with_long_term_support_may_have_its_versions() -> None:
    """It was refused where the pack and AKS take it."""
    cluster = cluster_with(version="1.33.2", supportPlan="AKSLongTermSupport")
    stack = stack_of(
        resourceGroup={"name": "g", "existing": True},
        cluster={"name": "c", "existing": True},
        gpuPools=[T4 | {"kubernetesVersion": "1.32"}],
    )
    *_, row = of_versions(stack, facts_with(versions=OFFERED, cluster=cluster))
    assert (row.answer, row.what) == ("ok", "Kubernetes 1.32 is offered in eastus")


def test_a_version_that_is_only_in_another_region_is_reported(place: Place) -> None:
    place.offer(versions=[{"location": "eastus", "offered": ["1.34"]}])
    result = place.ask(cluster={"kubernetesVersion": "1.36"})
    assert result.verdict is Cause.NOT_OFFERED
    row = the(result, "version")
    assert row.advice == "use one of 1.34, or remove the setting"
    here = place.ask(cluster={"kubernetesVersion": "1.36"}, location="westeurope")
    assert the(here, "version").answer == "ok"


@pytest.mark.parametrize(
    ("state", "answer"),
    [("Registered", "ok"), ("Registering", "warning"), ("NotRegistered", "problem")],
)
def test_unregistered_resource_providers_are_reported(state: str, answer: str) -> None:
    facts = facts_with(providers={"Microsoft.Network": state})
    (row,) = registrations.providers(facts)
    assert row.answer == answer
    assert row.cause is (Cause.NOT_REGISTERED if answer == "problem" else None)
    if answer == "problem":
        assert row.advice == "`az provider register --namespace Microsoft.Network --wait`"


def test_an_unregistered_provider_explains_failed_requests(place: Place) -> None:
    path = "/providers/Microsoft.Compute"
    version = "?api-version=2021-04-01"

    def state(expected: str) -> None:
        place.azure.wait(
            f"{path}{version}", lambda reply: reply.body["registrationState"] == expected
        )

    place.azure.call("POST", f"{path}/unregister{version}")
    try:
        state("Unregistered")
        result = place.ask(gpuPools=[T4])
    finally:
        place.azure.call("POST", f"{path}/register{version}")
        state("Registered")
    assert result.verdict is Cause.NOT_REGISTERED
    row = the(result, "size")
    assert row.answer == "unknown"
    assert "MissingSubscriptionRegistration" in row.what


@pytest.mark.parametrize(
    ("state", "answer", "words"),
    [
        ("Registered", "ok", "is registered"),
        ("Registering", "warning", "is being registered"),
        ("NotRegistered", "problem", "is NotRegistered"),
        ("Pending", "problem", "waits for approval by Azure"),
    ],
)
def test_the_feature_of_a_custom_header_is_checked(state: str, answer: str, words: str) -> None:
    name = "Microsoft.ContainerService/SomePreview"
    settings = stack_of(gpuPools=[T4 | {"customHeaders": {"AKSHTTPCustomFeatures": name}}])
    facts = facts_with(features={name.lower(): state})
    (row,) = of_features(settings, facts)
    assert row.answer == answer
    assert words in row.what
    assert row.cause is (Cause.NOT_REGISTERED if answer == "problem" else None)


def test_a_feature_that_does_not_exist_is_reported(place: Place) -> None:
    pool = T4 | {"customHeaders": {"akshttpcustomfeatures": "Microsoft.ContainerService/Gone"}}
    row = the(place.ask(gpuPools=[pool]), "feature")
    assert (row.answer, row.what) == (
        "problem",
        "Azure knows no feature Microsoft.ContainerService/Gone",
    )


def test_a_feature_that_the_stack_registers_passes(place: Place) -> None:
    result = place.ask(allowRetired="true", gpuPools=[T4 | {"image": "specialized"}])
    assert the(result, "feature").answer == "ok"
    assert "the stack registers it" in the(result, "feature").what


@pytest.mark.parametrize(
    ("who", "state", "answer", "words"),
    [
        ("assume", "Registered", "ok", "is registered"),
        ("assume", "NotRegistered", "problem", "set managedGpuFeature: register, or run `az feat"),
        ("assume", "Registering", "warning", "wait until it is"),
        ("assume", None, "warning", "AKS may not need it any more"),
        ("register", "NotRegistered", "ok", "the stack registers it"),
        ("register", None, "problem", "Azure knows no feature"),
    ],
)
def test_the_feature_of_managed_gpus_is_checked_unless_the_stack_registers_it(
    who: str, state: str | None, answer: str, words: str
) -> None:
    name = "Microsoft.ContainerService/ManagedGPUExperiencePreview"
    settings = stack_of(gpuStack="managed", managedGpuFeature=who, gpuPools=[T4])
    (row,) = of_features(settings, facts_with(features={name.lower(): state}))
    assert row.answer == answer
    assert words in f"{row.what}: {row.advice}"
    assert not of_features(stack_of(gpuStack="managed"), facts_with(features={}))


@pytest.mark.parametrize(
    ("more", "state", "answer", "words"),
    [
        ({"count": 2}, "NotRegistered", "warning", "may be on several InfiniBand networks"),
        ({"count": 2}, "NotRegistered", "warning", "set infinibandFeature: register, or run `az"),
        ({"count": 2}, "Registered", "ok", "is registered"),
        ({"minCount": 0, "maxCount": 2, "count": 0}, None, "warning", "Azure knows no feature"),
        ({"count": 1}, "NotRegistered", None, ""),
        ({"count": 2, "vmSize": T4["vmSize"]}, "NotRegistered", None, ""),
    ],
)
def test_infiniband_wants_a_feature_without_which_aks_makes_the_pool_all_the_same(
    more: dict[str, Any], state: str | None, answer: str | None, words: str
) -> None:
    name = "microsoft.containerservice/aksinfinibandsupport"
    pool = {"name": "training", "vmSize": "Standard_ND96isr_H100_v5", **more}
    rows = of_features(stack_of(gpuPools=[pool]), facts_with(features={name: state}))
    assert [row.answer for row in rows] == [answer] * (answer is not None)
    assert all(words in f"{row.what}: {row.advice}" and row.cause is None for row in rows)
    registering = stack_of(gpuPools=[pool], infinibandFeature="register")
    rows = of_features(registering, facts_with(features={name: "NotRegistered"}))
    assert [row.answer for row in rows] == ["ok"] * (answer is not None)


@pytest.mark.parametrize(
    "question",
    [
        {"systemPool": {"hostEncryption": True}},
        {"systemPools": [{"name": "two", "hostEncryption": True}]},
        {"gpuPools": [T4 | {"hostEncryption": True}]},
    ],
)
def test_encryption_at_the_host_needs_a_feature(place: Place, question: dict[str, Any]) -> None:
    """On a new subscription AKS refused such pools, of which nothing here had said a word."""
    place.offer(features=[])
    row = the(place.ask(**question), "feature")
    assert (row.answer, row.cause) == ("problem", Cause.NOT_REGISTERED)
    assert row.what == "Microsoft.Compute/EncryptionAtHost is NotRegistered"
    assert "`az feature register --namespace Microsoft.Compute --name EncryptionAtHost`" in str(
        row.advice
    )
    place.offer(features=["microsoft.compute/encryptionathost"])
    # It is so in every rehearsal, and on a new subscription it is not.
    row = the(place.ask(**question), "feature")
    assert (row.answer, row.cause) == ("warning", None)
    assert not [row for row in place.ask(gpuPools=[T4]).rows if row.question == "feature"]


def test_a_feature_by_invitation_is_there_in_a_rehearsal_which_says_so(place: Place) -> None:
    """The example of a rack ended before it began: the rehearsal knew no such feature."""
    asked = {"AKSHTTPCustomFeatures": "Microsoft.ContainerService/UseCustomizedOSImage"}
    row = the(place.ask(gpuPools=[T4 | {"customHeaders": asked}]), "feature")
    assert (row.answer, row.cause) == ("warning", None)


def test_missing_existing_resources_are_reported(place: Place, there: Mapping[str, Any]) -> None:
    nowhere: dict[str, Any] = {"name": "nowhere", "existing": True}
    result = place.ask(resourceGroup=nowhere, cluster=nowhere, gpuPools=[T4])
    for question in ("resource group", "cluster"):
        row = the(result, question)
        assert (row.answer, row.cause) == ("problem", Cause.EXISTENCE)
    assert result.verdict is Cause.EXISTENCE
    result = place.ask(**there, gpuPools=[T4])
    assert result.exit_code == 0
    # The system pool belongs to that cluster, and is not this stack's to ask about or to pay for.
    assert {row.pool for row in result.rows} == {"", "t4"}
    assert result.costs is not None
    assert [cost.pool.name for cost in result.costs.pools] == ["t4"]


def test_an_existing_cluster_decides_the_location_of_its_pools(
    place: Place, there: Mapping[str, Any]
) -> None:
    place.offer(sizes=[{"size": T4["vmSize"], "location": ELSEWHERE, "is": "absent"}])
    result = place.ask(**{**there, "location": "westeurope"}, gpuPools=[T4])
    assert result.location == ELSEWHERE
    assert the(result, "location").answer == "warning"
    assert result.verdict is Cause.NOT_OFFERED


def test_names_must_be_free_or_owned_by_the_stack(place: Place) -> None:
    group = place.group()
    identity = place.cluster(group, {"name": "t4", "vmSize": T4["vmSize"], "count": 1})
    keys: dict[str, Any] = {
        "location": ELSEWHERE,
        "resourceGroup": {"name": group},
        "cluster": {"name": "there"},
        "gpuPools": [T4, T4 | {"name": "new"}],
    }
    own = {identity, identity.partition("/providers/")[0], f"{identity}/agentPools/t4"}

    def answers(owned: frozenset[str] | None) -> dict[tuple[str, str], str]:
        rows = place.ask(lambda: owned, **keys).rows
        asked = ("resource group", "cluster", "name")
        return {(row.question, row.pool): row.answer for row in rows if row.question in asked}

    where = [("resource group", ""), ("cluster", ""), ("name", "system"), ("name", "t4")]
    assert answers(frozenset()) == dict.fromkeys(where, "problem")
    assert answers(frozenset(map(str.lower, own))) == dict.fromkeys(where, "ok")
    # Where nobody knows whose they are, nobody is kept from going on.
    assert answers(None) == dict.fromkeys(where, "warning")


def test_existing_true_for_a_resource_of_the_stack_is_refused(place: Place) -> None:
    """`existing: true` takes it out of the program, and so `pulumi up` would delete it."""
    group = place.group()
    identity = place.cluster(group)
    keys: dict[str, Any] = {
        "location": ELSEWHERE,
        "resourceGroup": {"name": group, "existing": True},
        "cluster": {"name": "there", "existing": True},
    }
    own = frozenset({identity.lower(), identity.partition("/providers/")[0].lower()})
    for owned, answer in ((own, "problem"), (frozenset(), "ok"), (None, "ok")):
        result = place.ask(lambda owned=owned: owned, **keys)  # type: ignore[misc]
        for question in ("resource group", "cluster"):
            row = the(result, question)
            assert row.answer == answer
            if answer == "problem":
                assert row.cause is Cause.EXISTENCE
                assert row.advice == "remove existing: true"


def test_the_state_is_read_only_if_a_name_is_taken(place: Place) -> None:
    def owned() -> None:
        raise AssertionError("nothing is there that could be owned")

    assert place.ask(owned, resourceGroup={"name": "free"}).exit_code == 0


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        ({"powerState": {"code": "Stopped"}}, "Stopped"),
        ({"provisioningState": "Failed"}, "Failed"),
    ],
)
def test_a_cluster_that_accepts_no_pools_is_reported(
    place: Place, there: Mapping[str, Any], state: Any, trouble: str
) -> None:
    group = there["resourceGroup"]["name"]
    below = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/there"
    body = place.azure.call("GET", f"{below}?api-version={API_VERSION}").body
    body["properties"] |= state
    place.fault({"path": f"{below}$", "status": 200, "body": body})
    row = the(place.ask(**there, gpuPools=[T4]), "cluster")
    assert row.answer == "problem"
    assert f"the cluster is {trouble}" in row.what


def test_the_current_version_of_a_cluster_passes_without_an_offer(
    place: Place, there: Mapping[str, Any]
) -> None:
    place.offer(versions=[{"offered": ["1.37"]}])
    own = {
        **there,
        "resourceGroup": {"name": there["resourceGroup"]["name"]},
        "cluster": {"name": "there", "kubernetesVersion": "1.36"},
    }
    assert the(place.ask(lambda: None, **own), "version").answer == "ok"


def test_a_capacity_reservation_group_must_be_in_the_region(place: Place) -> None:
    name = place.group()
    group = f"/resourceGroups/{name}/providers/Microsoft.Compute/capacityReservationGroups/r"
    pool = T4 | {"capacityReservationGroupId": f"{place.azure.subscription}{group}"}
    identity = "/subscriptions/s/.../userAssignedIdentities/i"
    keys: dict[str, Any] = {"cluster": {"userAssignedIdentityId": identity}, "gpuPools": [pool]}
    row = the(place.ask(**keys, location=ELSEWHERE), "reservation", "t4")
    assert (row.cause, "does not exist" in row.what) == (Cause.EXISTENCE, True)
    place.azure.call("PUT", f"{group}?{GROUP_VERSION}", {"location": ELSEWHERE})
    assert the(place.ask(**keys, location=ELSEWHERE), "reservation", "t4").answer == "ok"
    row = the(place.ask(**keys), "reservation", "t4")
    assert (row.cause, "in northeurope, and the pool in eastus" in row.what) == (
        Cause.EXISTENCE,
        True,
    )
