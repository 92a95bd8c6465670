"""The price list: the one query of preflight, and the traps that lie beside the right rows."""

from typing import Any
from urllib.parse import quote

import pytest

PATH = "//api/retail/prices"
T4 = "Standard_NC8as_T4_v3"


def query(*names: str, location: str = "eastus") -> str:
    either = " or ".join(f"armSkuName eq '{name}'" for name in names)
    return (
        f"serviceName eq 'Virtual Machines' and armRegionName eq '{location}' "
        f"and priceType eq 'Consumption' and ({either})"
    )


def ask(azure: Any, filter_text: str, more: str = "", method: str = "GET") -> Any:
    return azure.call(method, f"{PATH}?$filter={quote(filter_text)}{more}", token=None)


def items(azure: Any, filter_text: str) -> list[dict[str, Any]]:
    reply = ask(azure, filter_text)
    assert reply.status == 200, reply
    rows: list[dict[str, Any]] = reply.body["Items"]
    assert reply.body["Count"] == len(rows)
    return rows


def test_prices_are_public_and_marked_as_made_up(shop: Any) -> None:
    reply = ask(shop, query(T4))
    assert reply.status == 200
    assert reply.body["CustomerEntityId"] == "Rehearsal: these prices are made up"
    assert (reply.body["BillingCurrency"], reply.body["CustomerEntityType"]) == ("USD", "Retail")
    assert reply.body["NextPageLink"] is None
    assert {row["productId"] for row in reply.body["Items"]} == {"MADE-UP-BY-THE-REHEARSAL"}
    assert shop.requests("/api/retail/prices")[-1]["withheld"] == []


def test_a_size_has_rows_for_linux_windows_and_spot(shop: Any) -> None:
    rows = items(shop, query(T4))
    linux = "Virtual Machines NCASv3_T4 Series"
    windows = f"{linux} Windows"
    assert [(row["type"], row["productName"], row["skuName"]) for row in rows] == [
        ("Consumption", linux, "NC8as T4 v3"),
        ("Consumption", linux, "NC8as T4 v3 Spot"),
        ("Consumption", linux, "NC8as T4 v3 Low Priority"),
        ("Consumption", windows, "NC8as T4 v3"),
        ("Consumption", windows, "NC8as T4 v3 Spot"),
        ("Consumption", windows, "NC8as T4 v3 Low Priority"),
    ]
    assert {row["unitOfMeasure"] for row in rows} == {"1 Hour"}
    assert len({row["meterId"] for row in rows}) == 6


def test_a_row_has_the_fields_of_azures_price_list(shop: Any) -> None:
    row = items(shop, query(T4))[0]
    price = 8 * 0.05 + 1.0
    assert row.pop("meterId")
    assert row == {
        "armRegionName": "eastus",
        "armSkuName": T4,
        "currencyCode": "USD",
        "effectiveStartDate": "2026-01-01T00:00:00Z",
        "meterName": "NC8as T4 v3",
        "productId": "MADE-UP-BY-THE-REHEARSAL",
        "productName": "Virtual Machines NCASv3_T4 Series",
        "retailPrice": pytest.approx(price),
        "serviceName": "Virtual Machines",
        "skuName": "NC8as T4 v3",
        "tierMinimumUnits": 0.0,
        "type": "Consumption",
        "unitOfMeasure": "1 Hour",
        "unitPrice": pytest.approx(price),
    }


def test_windows_costs_more_and_spot_less(shop: Any) -> None:
    named = {
        (row["productName"].endswith("Windows"), row["meterName"]): row["retailPrice"]
        for row in items(shop, query(T4))
    }
    linux = named[False, "NC8as T4 v3"]
    assert named[False, "NC8as T4 v3 Spot"] == pytest.approx(linux * 0.2)
    assert named[False, "NC8as T4 v3 Low Priority"] == pytest.approx(linux * 0.25)
    assert named[True, "NC8as T4 v3"] > linux


def test_size_names_are_case_sensitive(shop: Any) -> None:
    assert items(shop, query(T4.lower())) == []
    assert items(shop, query(T4, location="EastUS")) == []


def test_several_sizes_are_listed_in_pages(shop: Any) -> None:
    names = ("Standard_NC4as_T4_v3", T4, "Standard_D4ds_v5")
    shop.cloud.offer({"pageSize": 7})
    reply = ask(shop, query(*names))
    rows, links = reply.body["Items"], []
    while link := reply.body["NextPageLink"]:
        links.append(link)
        assert "&$skip=" in link
        reply = shop.call("GET", "/" + link.removeprefix(shop.cloud.url), token=None)
        assert reply.status == 200, reply
        rows += reply.body["Items"]
    assert len(links) == 2
    assert {row["armSkuName"] for row in rows} == set(names)
    assert len({row["meterId"] for row in rows}) == 18


def test_sizes_that_are_not_offered_have_no_price(shop: Any) -> None:
    assert items(shop, query("Standard_NC6")) == []
    shop.cloud.offer({"sizes": [{"size": T4, "location": "eastus", "is": "absent"}]})
    assert items(shop, query(T4)) == []
    assert len(items(shop, query(T4, location="westus"))) == 6


@pytest.mark.parametrize(
    ("filter_text", "more", "method"),
    [
        ("armSkuName in ('a')", "", "GET"),
        (f"armSkuName eq '{T4}'", "", "GET"),
        (query(T4) + " and skuName eq 'a'", "", "GET"),
        (query(T4).replace("Consumption", "Reservation"), "", "GET"),
        (query(*["a"] * 18), "", "GET"),
        ("", "", "GET"),
        (query(T4), "&$skip=some", "GET"),
        (query(T4), f"&$skip={'9' * 5000}", "GET"),
        (query(T4), "", "PUT"),
    ],
)
def test_any_other_query_is_refused(shop: Any, filter_text: str, more: str, method: str) -> None:
    refused = ask(shop, filter_text, more, method)
    assert (refused.status, refused.body["Error"]["Code"]) == (400, "BadRequest")


def test_the_price_list_can_be_unavailable(shop: Any) -> None:
    """By the script of faults, as anything of the cloud."""
    faults = shop.cloud.home / "faults.json"
    faults.write_text('[{"path": "^/api/retail/prices", "status": 503}]')
    try:
        assert ask(shop, query(T4)).status == 503
    finally:
        faults.unlink()
    assert ask(shop, query(T4)).status == 200
