"""The price list: asked as the Retail Prices API is, and with its traps."""

from typing import Any
from urllib.parse import quote

import pytest

PATH = "//api/retail/prices"
MACHINES = "serviceName eq 'Virtual Machines' and armRegionName eq 'eastus'"
T4 = f"{MACHINES} and armSkuName eq 'Standard_NC8as_T4_v3'"


def ask(azure: Any, wanted: str = "", more: str = "") -> Any:
    query = f"?$filter={quote(wanted)}{more}" if wanted else f"?{more}"
    return azure.call("GET", PATH + query, token=None)


def items(azure: Any, wanted: str, more: str = "") -> list[dict[str, Any]]:
    reply = ask(azure, wanted, more)
    assert reply.status == 200, reply
    found: list[dict[str, Any]] = reply.body["Items"]
    assert reply.body["Count"] == len(found)
    return found


def test_anybody_may_ask_and_is_told_that_the_prices_are_made_up(shop: Any) -> None:
    reply = ask(shop, T4)
    assert reply.status == 200
    assert reply.body["CustomerEntityId"] == "Rehearsal: these prices are made up"
    assert (reply.body["BillingCurrency"], reply.body["CustomerEntityType"]) == ("USD", "Retail")
    assert reply.body["NextPageLink"] is None
    assert {row["productId"] for row in reply.body["Items"]} == {"MADE-UP-BY-THE-REHEARSAL"}
    assert shop.requests("/api/retail/prices")[-1]["withheld"] == []


def test_the_rows_of_a_size(shop: Any) -> None:
    found = items(shop, T4)
    linux = "Virtual Machines NCASv3_T4 Series"
    windows = f"{linux} Windows"
    assert [(row["type"], row["productName"], row["skuName"]) for row in found] == [
        ("Consumption", linux, "NC8as T4 v3"),
        ("Consumption", linux, "NC8as T4 v3 Spot"),
        ("Consumption", linux, "NC8as T4 v3 Low Priority"),
        ("Reservation", linux, "NC8as T4 v3"),
        ("Reservation", linux, "NC8as T4 v3"),
        ("Consumption", windows, "NC8as T4 v3"),
        ("Consumption", windows, "NC8as T4 v3 Spot"),
        ("Consumption", windows, "NC8as T4 v3 Low Priority"),
        ("DevTestConsumption", windows, "NC8as T4 v3"),
    ]
    assert [row.get("reservationTerm") for row in found].count(None) == 7
    assert {row["reservationTerm"] for row in found if "reservationTerm" in row} == {
        "1 Year",
        "3 Years",
    }
    assert {row["unitOfMeasure"] for row in found} == {"1 Hour"}
    assert len({row["meterId"] for row in found}) == 6  # reservations and tests share meters


def test_a_whole_row(shop: Any) -> None:
    [row] = items(shop, f"{T4} and meterName eq 'NC8as T4 v3' and priceType eq 'Consumption'")[:1]
    price = 8 * 0.05 + 1.0
    assert row.pop("meterId")
    assert row == {
        "armRegionName": "eastus",
        "armSkuName": "Standard_NC8as_T4_v3",
        "currencyCode": "USD",
        "effectiveStartDate": "2026-01-01T00:00:00Z",
        "isPrimaryMeterRegion": True,
        "location": "US East",
        "meterName": "NC8as T4 v3",
        "productId": "MADE-UP-BY-THE-REHEARSAL",
        "productName": "Virtual Machines NCASv3_T4 Series",
        "retailPrice": pytest.approx(price),
        "serviceFamily": "Compute",
        "serviceId": "DZH313Z7MMC8",
        "serviceName": "Virtual Machines",
        "skuId": "MADE-UP-BY-THE-REHEARSAL/Standard_NC8as_T4_v3",
        "skuName": "NC8as T4 v3",
        "tierMinimumUnits": 0.0,
        "type": "Consumption",
        "unitOfMeasure": "1 Hour",
        "unitPrice": pytest.approx(price),
    }


def test_which_row_is_dearer(shop: Any) -> None:
    named = {
        (row["type"], row["productName"].endswith("Windows"), row["meterName"]): row["retailPrice"]
        for row in items(shop, T4)
    }
    linux = named["Consumption", False, "NC8as T4 v3"]
    assert named["Consumption", False, "NC8as T4 v3 Spot"] == pytest.approx(linux * 0.2)
    assert named["Consumption", False, "NC8as T4 v3 Low Priority"] == pytest.approx(linux * 0.25)
    assert named["Consumption", True, "NC8as T4 v3"] > linux
    # The price of a whole term.
    assert named["Reservation", False, "NC8as T4 v3"] > 1000 * linux


def test_the_mark_of_windows_is_not_always_a_whole_word(shop: Any) -> None:
    found = items(shop, f"{MACHINES} and armSkuName eq 'Standard_NCC40ads_H100_v5'")
    products = {row["productName"] for row in found}
    assert {name.rpartition(" ")[2] for name in products} == {"Series", "Win"}


def test_a_name_in_another_case_is_another_name(shop: Any) -> None:
    assert items(shop, f"{MACHINES} and armSkuName eq 'standard_nc8as_t4_v3'") == []
    assert items(shop, T4.replace("eastus", "EastUS")) == []


def test_many_sizes_in_one_request_and_its_pages(shop: Any) -> None:
    names = ("Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3", "Standard_D4ds_v5")
    either = " or ".join(f"armSkuName eq '{name}'" for name in names)
    shop.cloud.offer({"pageSize": 10})
    reply = ask(shop, f"{MACHINES} and ({either})", "&currencyCode='USD'")
    found, links = reply.body["Items"], []
    while link := reply.body["NextPageLink"]:
        links.append(link)
        assert "&$skip=" in link
        reply = shop.call("GET", "/" + link.removeprefix(shop.cloud.url), token=None)
        assert reply.status == 200, reply
        found += reply.body["Items"]
    assert len(links) == 2
    assert {row["armSkuName"] for row in found} == set(names)
    assert len({(row["meterId"], row["type"], row.get("reservationTerm")) for row in found}) == 27


def test_what_is_not_offered_has_no_price(shop: Any) -> None:
    assert items(shop, f"{MACHINES} and armSkuName eq 'Standard_NC6'") == []
    line = {"size": "Standard_NC8as_T4_v3", "location": "eastus", "is": "absent"}
    shop.cloud.offer({"sizes": [line]})
    assert items(shop, T4) == []
    assert len(items(shop, T4.replace("eastus", "westus"))) == 9


def test_savings_plans_are_told_to_who_knows_to_ask(shop: Any) -> None:
    plain = items(shop, f"{T4} and priceType eq 'Consumption'")
    assert not [row for row in plain if "savingsPlan" in row]
    told = items(shop, f"{T4} and priceType eq 'Consumption'", "&api-version=2023-01-01-preview")
    [row] = [row for row in told if "savingsPlan" in row]
    assert row["skuName"] == "NC8as T4 v3"
    assert [plan["term"] for plan in row["savingsPlan"]] == ["1 Year", "3 Years"]


def test_another_currency(shop: Any) -> None:
    [dollars, *_], [euros, *_] = items(shop, T4), items(shop, T4, "&currencyCode='EUR'")
    assert (dollars["currencyCode"], euros["currencyCode"]) == ("USD", "EUR")
    assert euros["retailPrice"] == pytest.approx(dollars["retailPrice"] * 0.9)


@pytest.mark.parametrize(
    ("wanted", "more", "status", "message"),
    [
        ("armSkuName in ('a')", "", 400, "Invalid OData parameters supplied"),
        (" or ".join(["skuId eq 'a'"] * 21), "", 400, "Invalid OData parameters supplied"),
        (T4, "&currencyCode='XXX'", 400, "Invalid parameters supplied"),
        (T4, "&$skip=some", 400, "Invalid parameters supplied"),
        (T4, "&api-version=2023-01-01", 400, "Unsupported API version"),
        (f"skuName eq '{'a' * 2048}'", "", 404, "The address is too long"),
    ],
)
def test_what_is_refused(shop: Any, wanted: str, more: str, status: int, message: str) -> None:
    refused = ask(shop, wanted, more)
    assert (refused.status, refused.body["Error"]["Message"]) == (status, message)


def test_a_list_without_a_filter_begins_somewhere(shop: Any) -> None:
    reply = ask(shop)
    assert (reply.status, reply.body["Count"]) == (200, 50)
    assert reply.body["NextPageLink"]


def test_the_list_can_be_down(shop: Any) -> None:
    """By the script of faults, as anything of the cloud."""
    faults = shop.cloud.home / "faults.json"
    faults.write_text('[{"path": "^/api/retail/prices", "status": 503}]')
    try:
        assert ask(shop, T4).status == 503
    finally:
        faults.unlink()
    assert ask(shop, T4).status == 200
