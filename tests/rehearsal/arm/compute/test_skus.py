"""The list of sizes, read with Azure's own client."""

from collections import Counter
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute.models import ResourceSku

from aks_catalogue import regions
from rehearsal.arm.compute.skus import OF_ALL_REGIONS
from rehearsal.arm.offer_script import PAGE_SIZE

V = "?api-version=2021-07-01"
NOTHING: Any = ()
GONE = ("Standard_NC6", "Standard_NC6s_v3", "Standard_NV4as_v4")


def sizes(azure: Any, location: str = "eastus") -> dict[str, ResourceSku]:
    skus = azure.compute.resource_skus.list(filter=f"location eq '{location}'")
    return {str(sku.name): sku for sku in skus if sku.resource_type == "virtualMachines"}


def capabilities(sku: ResourceSku) -> dict[str, str]:
    return {str(capability.name): str(capability.value) for capability in sku.capabilities or ()}


def test_a_size_has_the_capabilities_of_the_catalogue(shop: Any) -> None:
    t4 = sizes(shop)["Standard_NC8as_T4_v3"]
    assert (t4.tier, t4.size, t4.locations) == ("Standard", "NC8as_T4_v3", ["eastus"])
    assert t4.family == "StandardNCASv3_T4Family"
    assert t4.restrictions == []
    [place] = t4.location_info or NOTHING
    assert (place.location, place.zones) == ("eastus", ["1", "2", "3"])
    expected = {
        "vCPUs": "8",
        "MemoryGB": "56",
        "GPUs": "1",
        "HyperVGenerations": "V1,V2",
        "CpuArchitectureType": "x64",
        "LowPriorityCapable": "True",
        "EncryptionAtHostSupported": "True",
    }
    assert expected.items() <= capabilities(t4).items()


def test_a_size_without_gpus_has_no_gpu_capability(shop: Any) -> None:
    plain = capabilities(sizes(shop)["Standard_D4ds_v5"])
    assert "GPUs" not in plain
    assert (plain["vCPUs"], plain["MemoryGB"]) == ("4", "16")
    assert capabilities(sizes(shop)["Standard_B2ms"])["LowPriorityCapable"] == "False"


def test_the_local_disks_of_a_size_are_listed(shop: Any) -> None:
    """Tools that choose ephemeral disks by them read 0."""
    by_size = {name: capabilities(sku) for name, sku in sizes(shop).items()}
    names = ("EphemeralOSDiskSupported", "CachedDiskBytes", "MaxResourceVolumeMB")
    assert [by_size["Standard_DS2_v2"].get(name) for name in names] == [
        "True",
        str(86 * 2**30),
        str(14 * 1024),
    ]
    assert [by_size["Standard_D2s_v5"].get(name) for name in names] == ["False", None, "0"]


def test_the_arm_architecture_of_a_size_is_listed(shop: Any) -> None:
    """All sizes without GPUs were x64, those with Arm as well."""
    by_size = {name: capabilities(sku)["CpuArchitectureType"] for name, sku in sizes(shop).items()}
    arm = {name for name, architecture in by_size.items() if architecture == "Arm64"}
    assert {"Standard_D4pds_v5", "Standard_E4ps_v6", "Standard_ND128isr_GB300_v6"} < arm
    assert not {"Standard_D4ds_v5", "Standard_E4as_v5", "Standard_ND96isr_H100_v5"} & arm


def test_gpu_counts_are_listed_as_by_azure(shop: Any) -> None:
    """A part of a GPU counts for one, and of some sizes nothing is said."""
    by_size = {name: capabilities(sku).get("GPUs") for name, sku in sizes(shop).items()}
    assert by_size["Standard_NV6ads_A10_v5"] == "1"
    assert by_size["Standard_NC64as_T4_v3"] == "4"
    assert by_size["Standard_ND96is_MI300X_v5"] is None


def test_retired_sizes_are_not_offered_today(shop: Any, azure: Any) -> None:
    assert not set(GONE) & set(sizes(shop))
    assert set(GONE) < set(sizes(azure))


def test_a_size_in_a_region_without_zones_has_no_zones(shop: Any) -> None:
    [place] = sizes(shop, "westus")["Standard_NC8as_T4_v3"].location_info or NOTHING
    assert place.zones == []


def test_the_list_has_pages_and_other_resource_types(shop: Any) -> None:
    shop.cloud.offer({"pageSize": 10})
    everything = list(shop.compute.resource_skus.list(filter="location eq 'EastUS'"))
    assert {"availabilitySets", "disks"} < {sku.resource_type for sku in everything}
    path = f"/providers/Microsoft.Compute/skus{V}&$filter=location%20eq%20%27eastus%27"
    pages, names = 0, []
    while path:
        page = shop.call("GET", path).body
        assert len(page["value"]) <= 200
        names += [sku["name"] for sku in page["value"]]
        path = shop.below(page["nextLink"]) if "nextLink" in page else ""
        pages += 1
    assert pages > 4
    assert names == [sku.name for sku in everything]

    shop.cloud.offer({"pageSize": 1000})
    filtered = f"/providers/Microsoft.Compute/skus{V}&$filter=location%20eq%20%27eastus%27"
    assert len(shop.call("GET", filtered).body["value"]) == len(names)


def test_the_list_without_a_filter_has_every_region_in_one_page(shop: Any) -> None:
    """`az vm list-skus` needs it: 280 pages took minutes on a busy machine."""
    each = len(list(shop.compute.resource_skus.list(filter="location eq 'eastus'")))
    assert each * len(regions.regions()) < PAGE_SIZE * OF_ALL_REGIONS
    shop.cloud.offer({"pageSize": 1})
    page = shop.call("GET", f"/providers/Microsoft.Compute/skus{V}").body
    locations = Counter(sku["locations"][0] for sku in page["value"])
    assert locations.total() == OF_ALL_REGIONS
    assert len(locations) > 1


def test_an_unsupported_filter_is_refused(shop: Any) -> None:
    assert list(shop.compute.resource_skus.list(filter="location eq 'atlantis'")) == []
    with pytest.raises(HttpResponseError, match="does not have the filter"):
        list(shop.compute.resource_skus.list(filter="name eq 'Standard_NC6'"))


def test_scripted_restrictions_are_listed(shop: Any) -> None:
    shop.cloud.offer(
        {
            "sizes": [
                {"size": "Standard_NC8as_T4_v3", "location": "eastus", "is": "restricted"},
                {
                    "size": "standard_nc24ads_a100_v4",
                    "location": "East US",
                    "is": "restricted",
                    "zones": ["1", "3"],
                    "reason": "QuotaId",
                },
                {"size": "Standard_ND*", "location": "eastus", "is": "absent"},
                {"size": "Standard_NC4as_T4_v3", "is": "soldOut"},
            ]
        }
    )
    here, elsewhere = sizes(shop), sizes(shop, "westeurope")

    [whole] = here["Standard_NC8as_T4_v3"].restrictions or NOTHING
    assert (whole.type, whole.reason_code) == ("Location", "NotAvailableForSubscription")
    assert whole.values_property == ["eastus"]
    [part] = here["Standard_NC24ads_A100_v4"].restrictions or NOTHING
    assert (part.type, part.reason_code) == ("Zone", "QuotaId")
    assert part.restriction_info
    assert part.restriction_info.zones == ["1", "3"]
    assert not [name for name in here if name.startswith("Standard_ND")]
    # No list tells that a size is sold out.
    assert here["Standard_NC4as_T4_v3"].restrictions == []
    assert elsewhere["Standard_NC8as_T4_v3"].restrictions == []
    assert "Standard_ND96asr_v4" in elsewhere


def test_a_new_script_applies_at_once(shop: Any) -> None:
    for _ in range(2):
        shop.cloud.offer({"sizes": [{"size": "Standard_D2s_v3", "is": "absent"}]})
        assert "Standard_D2s_v3" not in sizes(shop)
        shop.cloud.offer({})
        assert "Standard_D2s_v3" in sizes(shop)


def test_a_request_without_a_token_is_refused(shop: Any) -> None:
    refused = shop.call("GET", f"/providers/Microsoft.Compute/skus{V}", token=None)
    assert (refused.status, refused.body["error"]["code"]) == (401, "AuthenticationFailed")
