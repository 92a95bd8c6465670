"""What Azure has no room for fails: at once where AKS knows it, in the operation where it does not.

Each refusal has its counterpart in the lists that a client may read before.
"""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.rehearsal.conftest import new_cluster

V = "?api-version=2026-08-01"
T4, T4_FAMILY = "Standard_NC8as_T4_v3", "Standard NCASv3_T4 Family"


@pytest.fixture(scope="module")
def place(shop_of_the_session: Any) -> str:
    """A cluster in a location that these tests alone use; every pool that they add they remove."""
    return str(shop_of_the_session.cluster_in("swedencentral"))


def put(azure: Any, cluster: str, name: str, **properties: Any) -> Any:
    body = {"properties": {"vmSize": T4, **properties}}
    return azure.call("PUT", f"{cluster}/agentPools/{name}{V}", body)


def settled(azure: Any, cluster: str, name: str) -> str:
    path = f"{cluster}/agentPools/{name}{V}"
    done = azure.wait(
        path, lambda reply: reply.body["properties"]["provisioningState"] in ("Succeeded", "Failed")
    )
    return str(done.body["properties"]["provisioningState"])


def remove(azure: Any, cluster: str, name: str) -> None:
    path = f"{cluster}/agentPools/{name}{V}"
    azure.call("DELETE", path)
    azure.wait(path, lambda reply: reply.status == 404)


def by_sdk(azure: Any, cluster: str, name: str, **properties: Any) -> Any:
    _, _, group, *_, cluster_name = cluster.split("/")
    body = {"properties": {"vmSize": T4, **properties}}
    pools = azure.aks.agent_pools
    return pools.begin_create_or_update(group, cluster_name, name, body).result()


def used(azure: Any, name: str) -> int:
    usages = {usage.name.value: usage for usage in azure.compute.usage.list("swedencentral")}
    return int(usages[name].current_value)


@pytest.mark.parametrize(
    "line",
    [
        {"size": T4, "location": "swedencentral", "is": "restricted"},
        {"size": "standard_nc*as_t4_v3", "location": "Sweden Central", "is": "absent"},
    ],
)
def test_a_size_that_is_restricted_for_the_subscription_is_refused(
    shop: Any, place: str, line: dict[str, str]
) -> None:
    shop.cloud.offer({"sizes": [line]})
    refused = put(shop, place, "gpu")
    assert (refused.status, refused.body["code"]) == (400, "BadRequest")
    assert refused.body["subcode"] == "VMSizeNotSupported"
    words = f"The VM size of {T4} is not allowed in your subscription in location 'swedencentral'."
    assert refused.body["message"].startswith(words)
    available = refused.body["message"].split("'")[3].split(",")
    assert "standard_d4ds_v5" in available
    assert T4.lower() not in available
    assert shop.call("GET", f"{place}/agentPools/gpu{V}").status == 404


@pytest.mark.parametrize("size", ["Standard_Unheard_of_v9", "Standard_NC999_v9"])
def test_an_unknown_size_is_refused(shop: Any, place: str, size: str) -> None:
    """The words were AKS's, "not allowed in your subscription", of sizes that Azure may have."""
    refused = put(shop, place, "gpu", vmSize=size).body
    assert refused["subcode"] == "VMSizeNotSupported"
    assert refused["message"].startswith(f"The rehearsal does not know the VM size {size}")


def test_an_existing_pool_keeps_a_size_that_is_no_longer_offered(shop: Any, place: str) -> None:
    put(shop, place, "kept")
    settled(shop, place, "kept")
    shop.cloud.offer({"sizes": [{"size": T4, "is": "absent"}]})
    assert put(shop, place, "kept", nodeLabels={"a": "b"}).status == 200
    assert settled(shop, place, "kept") == "Succeeded"
    remove(shop, place, "kept")


def test_zones_that_are_restricted_for_the_subscription_are_refused(shop: Any, place: str) -> None:
    line = {"size": T4, "is": "restricted", "zones": ["2"]}
    shop.cloud.offer({"sizes": [line]})
    refused = put(shop, place, "gpu", availabilityZones=["1", "2"])
    assert (refused.status, refused.body["code"]) == (400, "AvailabilityZoneNotSupported")
    assert refused.body["message"] == (
        "The zone(s) '2' for resource 'gpu' is not supported. The supported zones for location "
        "'swedencentral' are '1,3'"
    )
    assert put(shop, place, "gpu", availabilityZones=["4"]).status == 400
    assert put(shop, place, "gpu", availabilityZones=["1", "3"]).status == 201
    settled(shop, place, "gpu")
    remove(shop, place, "gpu")


def test_zones_in_a_region_without_zones_are_refused(shop: Any) -> None:
    cluster = shop.cluster_in("westus")
    refused = put(shop, cluster, "gpu", availabilityZones=["1"])
    assert refused.body["code"] == "AvailabilityZoneNotSupported"
    assert refused.body["message"] == "Availability zone is not supported in this region."


def test_a_put_beyond_the_quota_of_its_family_is_refused(shop: Any, place: str) -> None:
    shop.cloud.offer({"limits": [{"name": T4_FAMILY, "limit": 24}]})
    put(shop, place, "one", count=2)
    settled(shop, place, "one")

    with pytest.raises(HttpResponseError) as refused:
        by_sdk(shop, place, "two", count=2)
    assert refused.value.error
    assert refused.value.error.code == "ErrCode_InsufficientVCPUQuota"
    assert refused.value.message
    assert (
        "Insufficient vcpu quota requested 16, remaining 8 for family Standard NCASv3_T4 Family "
        "for region swedencentral." in refused.value.message
    )
    assert shop.call("GET", f"{place}/agentPools/two{V}").status == 404
    # Up to the limit there is room, other families have their own, and less is no growth.
    assert put(shop, place, "one", count=3).status == 200
    settled(shop, place, "one")
    assert put(shop, place, "one", count=4).status == 400
    assert used(shop, T4_FAMILY) == 24
    shop.cloud.offer({"limits": [{"name": T4_FAMILY, "limit": 0}]})
    assert put(shop, place, "one", count=1).status == 200
    settled(shop, place, "one")
    assert put(shop, place, "other", vmSize="Standard_D4ds_v5").status == 201
    settled(shop, place, "other")
    for name in ("one", "other"):
        remove(shop, place, name)


def test_a_put_beyond_the_quota_of_its_region_is_refused(shop: Any, place: str) -> None:
    present = used(shop, "cores")
    shop.cloud.offer({"limits": [{"name": "cores", "limit": present + 8}]})
    refused = put(shop, place, "gpu", count=2)
    assert (refused.status, refused.body["code"]) == (400, "ErrCode_InsufficientVCPUQuota")
    assert refused.body["message"].startswith(
        "Insufficient regional vcpu quota left for location swedencentral. left regional vcpu "
        "quota 8, requested quota 16."
    )
    assert put(shop, place, "gpu", count=1).status == 201
    settled(shop, place, "gpu")
    remove(shop, place, "gpu")


def test_an_upgrade_needs_quota_for_its_surge(shop: Any, place: str) -> None:
    surge = {"upgradeSettings": {"maxSurge": "2"}}
    put(shop, place, "old", count=3, orchestratorVersion="1.34", **surge)
    settled(shop, place, "old")
    for limit, status in ((24 + 8, 400), (24 + 16, 200)):
        shop.cloud.offer({"limits": [{"name": T4_FAMILY, "limit": limit}]})
        upgraded = put(shop, place, "old", count=3, orchestratorVersion="1.35", **surge)
        assert upgraded.status == status, upgraded
    settled(shop, place, "old")
    assert used(shop, T4_FAMILY) == 24
    remove(shop, place, "old")


def test_inline_pools_of_one_put_share_the_quota(shop: Any) -> None:
    shop.cloud.offer({"limits": [{"name": "standardDSv3Family", "limit": 6}]})
    group = "/resourceGroups/together"
    shop.call("PUT", f"{group}{V}", {"location": "norwayeast"})
    path = f"{group}/providers/Microsoft.ContainerService/managedClusters/cluster{V}"
    pool = {"name": "one", "mode": "System", "vmSize": "Standard_D2s_v3", "count": 2}
    body = new_cluster(agentPoolProfiles=[pool, pool | {"name": "two"}])
    refused = shop.call("PUT", path, body | {"location": "norwayeast"})
    assert "requested 8, remaining 6 for family standardDSv3Family" in refused.body["message"]
    assert shop.call("GET", path).status == 404
    body = new_cluster(agentPoolProfiles=[pool, pool | {"name": "two", "count": 1}])
    assert shop.call("PUT", path, body | {"location": "norwayeast"}).status == 201


def test_a_spot_pool_beyond_its_quota_fails_in_the_operation(shop: Any, place: str) -> None:
    limits = [{"name": "lowPriorityCores", "limit": 8}, {"name": T4_FAMILY, "limit": 0}]
    shop.cloud.offer({"limits": limits})
    with pytest.raises(HttpResponseError) as failed:
        by_sdk(shop, place, "spot", count=2, scaleSetPriority="Spot")
    assert failed.value.error
    assert failed.value.error.code == "QuotaExceeded"
    assert failed.value.message
    assert "exceeding approved LowPriorityCores quota" in failed.value.message
    assert "Current Limit: 8, Current Usage: 0, Additional Required: 16" in failed.value.message
    assert settled(shop, place, "spot") == "Failed"
    assert used(shop, "lowPriorityCores") == 0

    assert by_sdk(shop, place, "spot", count=1, scaleSetPriority="Spot").properties.count == 1
    assert used(shop, "lowPriorityCores") == 8
    remove(shop, place, "spot")


def test_a_sold_out_size_fails_in_the_operation(shop: Any, place: str) -> None:
    assert by_sdk(shop, place, "gpu", count=1).properties.provisioning_state == "Succeeded"
    shop.cloud.offer({"sizes": [{"size": T4, "is": "soldOut"}]})
    for name in ("gpu", "more"):
        with pytest.raises(HttpResponseError) as failed:
            by_sdk(shop, place, name, count=3)
        assert failed.value.error
        assert failed.value.error.code == "AllocationFailed"
        assert failed.value.message
        assert (
            "sufficient capacity for the requested VM size in this region" in failed.value.message
        )
        assert settled(shop, place, name) == "Failed"
    # What was there before is there still, and nothing else.
    assert used(shop, T4_FAMILY) == 8
    assert by_sdk(shop, place, "more", count=0).properties.provisioning_state == "Succeeded"

    shop.cloud.offer({})
    assert by_sdk(shop, place, "gpu", count=3).properties.provisioning_state == "Succeeded"
    assert used(shop, T4_FAMILY) == 24
    for name in ("gpu", "more"):
        remove(shop, place, name)


def test_a_part_of_a_rack_fails(shop: Any, place: str) -> None:
    rack: dict[str, Any] = {"vmSize": "Standard_ND128isr_GB300_v6"}
    words = "Capacity must be a multiple of 18 for SKUs that support vertical connect."
    with pytest.raises(HttpResponseError) as failed:
        by_sdk(shop, place, "rack", count=20, **rack)
    assert words in str(failed.value.message)
    assert by_sdk(shop, place, "rack", count=18, **rack).properties.count == 18
    with pytest.raises(HttpResponseError) as failed:
        by_sdk(shop, place, "rack", count=17, **rack)
    assert words in str(failed.value.message)
    remove(shop, place, "rack")


SPOT: dict[str, Any] = {"scaleSetPriority": "Spot"}
SKU = f"'Following SKUs have failed for Capacity Restrictions: {T4}' is currently not available in"
ZONE = "sufficient capacity for the requested VM size in this zone"


@pytest.mark.parametrize(
    ("line", "pool", "code", "words"),
    [
        ({"priority": "spot"}, SPOT, "SkuNotAvailable", SKU),
        ({"zones": ["1", "2"]}, {"availabilityZones": ["1"]}, "ZonalAllocationFailed", ZONE),
        ({"zones": ["1", "2"]}, {"availabilityZones": ["2", "1"]}, "ZonalAllocationFailed", ZONE),
        # Machines of the other priority, of a zone that is open, and of a later time are there.
        ({"priority": "spot"}, {}, None, ""),
        ({"priority": "regular"}, SPOT, None, ""),
        ({"zones": ["1", "2"]}, {"availabilityZones": ["1", "3"]}, None, ""),
        ({"zones": ["1", "2"]}, {}, None, ""),
        ({"from": 3600}, {}, None, ""),
    ],
)
def test_a_size_is_sold_out_by_priority_zone_and_time(
    shop: Any, place: str, line: dict[str, Any], pool: dict[str, Any], code: str | None, words: str
) -> None:
    """A sold-out size was so for spot and others, in all zones, with one error for all."""
    shop.cloud.offer({"sizes": [{"size": T4, "is": "soldOut", **line}]})
    if code is None:
        assert by_sdk(shop, place, "part", count=1, **pool).properties.count == 1
    else:
        with pytest.raises(HttpResponseError) as failed:
            by_sdk(shop, place, "part", count=1, **pool)
        assert failed.value.error
        assert failed.value.error.code == code
        assert words in str(failed.value.message)
    remove(shop, place, "part")
