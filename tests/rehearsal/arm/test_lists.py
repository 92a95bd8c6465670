"""Lists: their pages, and what stands in them."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rehearsal.arm.aks import places
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.resources import groups
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster

V = f"?api-version={API_VERSION}"
GROUPS = "?api-version=2025-04-01"
CLUSTERS = "providers/Microsoft.ContainerService/managedClusters"


def pages(azure: Azure, path: str) -> list[Any]:
    """All pages of a list, followed to the last."""
    read_pages = [azure.call("GET", path).body]
    while "nextLink" in read_pages[-1]:
        read_pages.append(azure.call("GET", azure.below(read_pages[-1]["nextLink"])).body)
    return read_pages


@pytest.mark.parametrize("which", ["pools", "clusters of a group", "clusters"])
def test_the_last_page_of_a_list_is_empty(
    azure: Azure, group: str, cluster: str, which: str
) -> None:
    """Every list was one page: who forgets `nextLink`, or stops at an empty page, was green."""
    path = {
        "pools": f"{cluster}/agentPools",
        "clusters of a group": f"/resourceGroups/{group}/{CLUSTERS}",
        "clusters": f"/{CLUSTERS}",
    }[which]
    listed = pages(azure, path + V)
    assert len(listed) > 1
    assert all(page["value"] for page in listed[:-1])
    assert listed[-1] == {"value": []}
    query = parse_qs(urlsplit(listed[0]["nextLink"]).query)
    assert query["skipToken"] == query["$skipToken"]
    assert query["api-version"] == [API_VERSION]
    assert azure.call("GET", f"{path}{V}&$skipToken=first").status == 400


def test_an_empty_list_is_one_page(azure: Azure, group: str) -> None:
    assert pages(azure, f"/resourceGroups/{group}/{CLUSTERS}{V}") == [{"value": []}]


def test_pages_are_as_long_as_the_script_says(shop: Azure) -> None:
    cluster = shop.cluster_in("uksouth")
    for name in ("a", "b"):
        body = {"properties": {"vmSize": "Standard_D4s_v3"}}
        assert shop.call("PUT", f"{cluster}/agentPools/{name}{V}", body).status == 201
    shop.cloud.offer({"pageSize": 2})
    all_pages = pages(shop, f"{cluster}/agentPools{V}")
    assert [[pool["name"] for pool in page["value"]] for page in all_pages] == [
        ["system", "a"],
        ["b"],
        [],
    ]
    _, group, _, _, _, name = cluster[1:].split("/")[:6]
    listed = shop.aks.agent_pools.list(group, name)
    assert [pool.name for pool in listed] == ["system", "a", "b"]


def test_a_choice_that_the_rehearsal_does_not_have_is_not_ignored(azure: Azure) -> None:
    """`az group list --tag team=ml` listed every group, and what deleted those took all."""
    for query in ("$filter=tagName%20eq%20'team'", "$top=2"):
        reply = azure.call("GET", f"/resourceGroups{GROUPS}&{query}")
        assert (reply.status, reply.body["error"]["code"]) == (501, "NotImplemented")
    assert azure.call("GET", f"/resources{GROUPS}").status == 501


def test_locations_of_a_subscription_are_listed(azure: Azure) -> None:
    locations = azure.call("GET", f"/locations{GROUPS}").body["value"]
    [eastus] = [one for one in locations if one["name"] == "eastus"]
    assert eastus["displayName"] == "East US"
    assert eastus["id"] == f"{azure.subscription}/locations/eastus"
    assert len(eastus["availabilityZoneMappings"]) == 3


def test_a_provider_lists_the_locations_of_its_types(azure: Azure) -> None:
    """It had no locations."""
    provider = azure.call("GET", f"/providers/Microsoft.ContainerService{GROUPS}").body
    assert list(provider) == [
        "id",
        "namespace",
        "authorizations",
        "resourceTypes",
        "registrationState",
        "registrationPolicy",
    ]
    assert provider["authorizations"]
    kinds = {kind["resourceType"]: kind for kind in provider["resourceTypes"]}
    clusters = kinds["managedClusters"]
    assert "East US" in clusters["locations"]
    assert "SupportsTags" in clusters["capabilities"]


@pytest.mark.parametrize(
    "resource_type",
    [
        places.CLUSTER_TYPE,
        groups.TYPE,
        POOL_TYPE,
        "Microsoft.Compute/capacityReservationGroups/capacityReservations",
        "Microsoft.Compute/capacityReservationGroups",
    ],
)
def test_a_provider_lists_every_type_that_the_rehearsal_keeps(
    azure: Azure, resource_type: str
) -> None:
    """It did not list capacity reservations and their groups."""
    namespace, _, kind = resource_type.partition("/")
    provider = azure.call("GET", f"/providers/{namespace}{GROUPS}").body
    assert kind in [one["resourceType"] for one in provider["resourceTypes"]]


def test_kubernetes_versions_have_the_format_of_aks(shop: Azure) -> None:
    """Both marks stood with every version, and long-term versions went one minor further."""
    path = f"/providers/Microsoft.ContainerService/locations/eastus/kubernetesVersions{V}"
    body = shop.call("GET", path).body
    assert body.keys() == {"values"}
    by_name = {one["version"]: one for one in body["values"]}
    assert list(by_name) == sorted(by_name, reverse=True)
    assert [name for name, one in by_name.items() if "isDefault" in one] == ["1.36"]
    assert not [one for one in by_name.values() if "isPreview" in one]
    for one in by_name.values():
        assert list(one["patchVersions"]) == sorted(one["patchVersions"])
    upgrades = by_name["1.34"]["patchVersions"]["1.34.10"]["upgrades"]
    assert upgrades == ["1.34.12", "1.35.9", "1.35.7"]
    assert by_name["1.37"]["patchVersions"]["1.37.1"]["upgrades"] == []
    long_term = by_name["1.31"]["patchVersions"]["1.31.14"]["upgrades"]
    assert {".".join(release.split(".")[:2]) for release in long_term} == {"1.32", "1.33", "1.34"}


def test_a_patch_without_tags_keeps_the_tags(azure: Azure, group: str, cluster: str) -> None:
    """`PATCH {}` wiped them."""
    for path, version in ((f"/resourceGroups/{group}", GROUPS), (cluster, V)):
        tagged = azure.call("PATCH", path + version, {"tags": {"a": "b"}})
        assert tagged.body["tags"] == {"a": "b"}
        azure.wait(
            path + version,
            lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
        )
        assert azure.call("PATCH", path + version, {}).body["tags"] == {"a": "b"}


def test_the_next_link_keeps_the_query(azure: Azure, group: str) -> None:
    for name in ("one", "two"):
        azure.call("PUT", f"/resourceGroups/{group}/{CLUSTERS}/{name}{V}", new_cluster())
    first = azure.call("GET", f"/resourceGroups/{group}/{CLUSTERS}{V}&$expand=x").body
    assert parse_qs(urlsplit(first["nextLink"]).query)["$expand"] == ["x"]
