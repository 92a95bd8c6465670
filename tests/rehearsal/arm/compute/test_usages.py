"""Quota, and what the pools of the cloud take of it, read with Azure's own client."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

V = "?api-version=2026-08-01"


def usages(azure: Any, location: str) -> dict[str, tuple[int, int]]:
    """By name, what is used and the limit."""
    listed = azure.compute.usage.list(location)
    return {usage.name.value: (usage.current_value, usage.limit) for usage in listed}


def pool(azure: Any, cluster: str, name: str, **properties: Any) -> None:
    path = f"{cluster}/agentPools/{name}{V}"
    made = azure.call("PUT", path, {"properties": properties})
    assert made.status in (200, 201), made
    azure.wait(path, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")


def test_usage_is_counted_in_the_region_of_the_pools(shop: Any) -> None:
    before = usages(shop, "koreacentral")
    assert before["cores"] == (0, 1_000_000)
    cluster = shop.cluster_in("koreacentral")
    assert usages(shop, "koreacentral")["standardDSv3Family"] == (2, 100_000)

    pool(shop, cluster, "t4", vmSize="Standard_NC8as_T4_v3", count=3)
    pool(shop, cluster, "spot", vmSize="standard_nc24ads_a100_v4", count=2, scaleSetPriority="Spot")

    after = usages(shop, "koreacentral")
    assert after["Standard NCASv3_T4 Family"] == (24, 100_000)
    assert after["StandardNCADSA100v4Family"] == (0, 100_000)
    assert after["lowPriorityCores"] == (48, 100_000)
    assert after["cores"] == (26, 1_000_000)
    assert after["virtualMachines"][0] == 6
    assert after["virtualMachineScaleSets"][0] == 3
    assert usages(shop, "koreasouth") == before

    pool(shop, cluster, "t4", vmSize="Standard_NC8as_T4_v3", count=1)
    assert usages(shop, "koreacentral")["Standard NCASv3_T4 Family"][0] == 8
    shop.call("DELETE", f"{cluster}/agentPools/t4{V}")
    shop.wait(f"{cluster}/agentPools/t4{V}", lambda reply: reply.status == 404)
    assert usages(shop, "koreacentral")["Standard NCASv3_T4 Family"][0] == 0


def test_usage_names_have_the_spelling_of_azure(shop: Any) -> None:
    named = {
        usage.name.value: usage.name.localized_value for usage in shop.compute.usage.list("eastus")
    }
    assert named["cores"] == "Total Regional vCPUs"
    assert named["lowPriorityCores"] == "Total Regional Low-priority vCPUs"
    assert named["standardDSv3Family"] == "Standard DSv3 Family vCPUs"
    assert named["Standard NCASv3_T4 Family"] == "Standard NCASv3_T4 Family vCPUs"
    assert named["StandardNCADSA100v4Family"] == "Standard NCADS_A100_v4 Family vCPUs"
    assert named["standardNCPromoFamily"] == "Standard NC Promo Family vCPUs"


def test_every_family_of_the_size_list_has_a_usage(shop: Any) -> None:
    names = {"".join(name.split()).lower() for name in usages(shop, "eastus")}
    skus = shop.compute.resource_skus.list(filter="location eq 'eastus'")
    families = {sku.family for sku in skus if sku.family}
    assert not [family for family in families if " " in family]
    assert {family.lower() for family in families} <= names


def test_usages_are_listed_on_one_page(shop: Any) -> None:
    """It came in pages of fifty; Azure's, of 165 entries, was one."""
    path = f"/providers/Microsoft.Compute/locations/East%20US/usages{V}"
    page = shop.call("GET", path).body
    assert len(page["value"]) > 50
    assert page.keys() == {"value"}


def test_scripted_limits_are_listed(shop: Any) -> None:
    shop.cloud.offer(
        {
            "limits": [
                {"name": "standardncasv3_t4family", "location": "East US", "limit": 8},
                {"name": "cores", "limit": 10},
                {"name": "lowPriorityCores", "location": "west*", "limit": 0},
            ]
        }
    )
    east, west = usages(shop, "eastus"), usages(shop, "westeurope")
    assert (east["Standard NCASv3_T4 Family"][1], west["Standard NCASv3_T4 Family"][1]) == (
        8,
        100_000,
    )
    assert (east["cores"][1], west["cores"][1]) == (10, 10)
    assert (east["lowPriorityCores"][1], west["lowPriorityCores"][1]) == (100_000, 0)


def test_an_unknown_location_is_refused(shop: Any) -> None:
    with pytest.raises(HttpResponseError, match="NoRegisteredProviderFound"):
        list(shop.compute.usage.list("atlantis"))
