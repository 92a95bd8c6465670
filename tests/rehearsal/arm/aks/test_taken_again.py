"""What AKS gives back it takes again, and what it makes of a change."""

from typing import Any

import pytest

from tests.rehearsal.arm.in_process import GROUP, Arm

V, PREVIEW, OLD_PREVIEW = "2026-08-01", "2025-09-02-preview", "2024-07-02-preview"
GROUPS = "2025-04-01"
CPU, T4 = "Standard_D4ds_v5", "Standard_NC4as_T4_v3"
Sent = dict[str, Any]


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


def body(**properties: Any) -> Sent:
    system = {"name": "system", "mode": "System", "vmSize": CPU, "count": 1}
    return {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "properties": {"dnsPrefix": "x", "agentPoolProfiles": [system], **properties},
    }


def cluster(arm: Arm, version: str = V, **properties: Any) -> str:
    path = arm.name()
    made = arm.call("PUT", path, body(**properties), version)
    assert made.status == 201, made
    return path


def put(arm: Arm, path: str, version: str = V, **properties: Any) -> Any:
    return arm.call("PUT", path, {"properties": properties}, version)


def put_back(arm: Arm, path: str, version: str = V, **changed: Any) -> Any:
    """A PUT of what GET gives, with a change."""
    body = arm.call("GET", path, None, version).body
    return arm.call("PUT", path, body | {"properties": body["properties"] | changed}, version)


@pytest.mark.parametrize("unavailable", ["1", "2", "50%", "0"])
def test_a_pool_with_max_unavailable_gets_no_default_surge(arm: Arm, unavailable: str) -> None:
    """A surge was filled in beside it, and the server refused its own answer."""
    path = f"{cluster(arm)}/agentPools/p"
    settings = {"maxUnavailable": unavailable}
    made = put(arm, path, vmSize=CPU, count=1, upgradeSettings=settings).body["properties"]
    assert ("maxSurge" in made["upgradeSettings"]) is (unavailable == "0")
    assert put_back(arm, path).status == 200


def test_what_a_preview_version_accepted_is_accepted_in_a_stable_one(arm: Arm) -> None:
    """A preview version takes a surge beside unavailable nodes, and the answer was refused."""
    path = f"{cluster(arm)}/agentPools/p"
    settings = {"maxSurge": "33%", "maxUnavailable": "1"}
    assert put(arm, path, PREVIEW, vmSize=CPU, count=1, upgradeSettings=settings).status == 201
    assert put_back(arm, path).status == 200
    assert put_back(arm, path, upgradeSettings={**settings, "maxUnavailable": "2"}).status == 400


def test_upgrade_settings_that_a_put_leaves_out_are_kept(arm: Arm) -> None:
    """They went, one by one, and a program that took one out was told that AKS keeps it."""
    path = f"{cluster(arm)}/agentPools/p"
    settings = {"maxSurge": "33%", "drainTimeoutInMinutes": 60, "undrainableNodeBehavior": "Cordon"}
    put(arm, path, vmSize=CPU, count=1, upgradeSettings=settings)
    changed = put(arm, path, upgradeSettings={"nodeSoakDurationInMinutes": 5}).body["properties"]
    assert changed["upgradeSettings"].items() >= settings.items()
    # So one of the two numbers alone is not enough.
    refused = put(arm, path, upgradeSettings={"maxUnavailable": "1"})
    assert "cannot both bigger than 0" in refused.body["message"]
    both = {"maxSurge": "0", "maxUnavailable": "1"}
    assert put(arm, path, upgradeSettings=both).status == 200


def test_a_pool_cannot_be_stopped_here(arm: Arm) -> None:
    refused = put(arm, f"{cluster(arm)}/agentPools/p", vmSize=CPU, powerState={"code": "Stopped"})
    assert refused.status == 501


def test_a_pool_of_a_stopped_cluster_is_refused_in_the_words_of_aks(arm: Arm) -> None:
    """az puts back the whole pool, with its power state, which was refused as not played."""
    above = cluster(arm)
    path = f"{above}/agentPools/p"
    put(arm, path, vmSize=CPU, count=1)
    assert put_back(arm, path, powerState={"code": "Stopped"}).status == 501
    arm.call("POST", f"{above}/stop", None, V)
    for refused in (put_back(arm, path, count=2), put_back(arm, above, enableRBAC=True)):
        assert refused.body["code"] == "OperationNotAllowed"
        assert "Power State(Stopped)" in refused.body["message"]


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ({str(number): "" for number in range(51)}, "InvalidTags"),
        ({"a<b": "x"}, "InvalidTagNameCharacters"),
        ({"a": "x" * 257}, "InvalidTags"),
        ({"x" * 513: "a"}, "InvalidTags"),
    ],
)
def test_tags_have_the_same_limits_on_all_resources(arm: Arm, tags: Sent, code: str) -> None:
    """PATCH took what PUT refused, and so did resource groups: the next PUT failed."""
    path = cluster(arm)
    for method, where, sent, version in (
        ("PUT", path, body() | {"tags": tags}, V),
        ("PATCH", path, {"tags": tags}, V),
        ("PUT", f"{GROUP}2", {"location": "eastus", "tags": tags}, GROUPS),
        ("PATCH", GROUP, {"tags": tags}, GROUPS),
    ):
        refused = arm.call(method, where, sent, version)
        assert refused.status == 400, (method, where)
        assert code in str(refused.body)


@pytest.mark.parametrize(
    ("name", "before", "after", "status"),
    [
        ("networkPlugin", "azure", "kubenet", 400),
        ("loadBalancerSku", "standard", "basic", 400),
        ("networkPlugin", "azure", "Azure", 200),
    ],
)
def test_some_network_changes_are_accepted_in_one_direction_only(
    arm: Arm, name: str, before: str, after: str, status: int
) -> None:
    """They were taken, and a stack that made them was green here alone."""
    path = cluster(arm, networkProfile={name: before})
    changed = {"location": "eastus", "properties": {"networkProfile": {name: after}}}
    answer = arm.call("PUT", path, changed, V)
    assert answer.status == status, answer
    if status == 400:
        assert answer.body["code"] == "PropertyChangeNotAllowed"
        assert answer.body["target"] == f"networkProfile.{name}"


@pytest.mark.parametrize(
    "services", ["172.56.0.0/16", "172.30.0.0/16", "192.0.2.0/24", "112.0.0.0/16"]
)
def test_unusual_service_cidrs_are_accepted(arm: Arm, services: str) -> None:
    """AKS took 172.56.0.0/16 (recorded, 2023-11 and 2023-12): it was refused as public."""
    address = services.replace("0/16", "10").replace("0/24", "10")
    cluster(arm, networkProfile={"serviceCidr": services, "dnsServiceIP": address})
