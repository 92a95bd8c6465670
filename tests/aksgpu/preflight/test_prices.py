"""What the nodes cost: the one right row among many, ranges, and what is not known."""

import io
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from aks_catalogue.today import today
from aksgpu.outcome import Cause
from aksgpu.preflight import costs, requirements
from aksgpu.preflight.access import Access
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import Price, PriceList
from aksgpu.preflight.report import render
from aksgpu.report import ReportConsole
from tests.aksgpu.preflight.conftest import T4, Place, facts_with, stack_of, the

SIZE = T4["vmSize"]
ROW: dict[str, Any] = {
    "armSkuName": SIZE,
    "armRegionName": "eastus",
    "serviceName": "Virtual Machines",
    "type": "Consumption",
    "unitOfMeasure": "1 Hour",
    "tierMinimumUnits": Decimal(0),
    "productName": "Virtual Machines NCasT4 v3 Series",
    "skuName": "NC8as T4 v3",
    "meterName": "NC8as T4 v3",
    "effectiveStartDate": "2024-01-01T00:00:00Z",
    "retailPrice": Decimal("0.752"),
}
# Rows that stand beside the right one in Azure's own list, and cost something else.
TRAPS: dict[str, dict[str, Any]] = {
    "Windows": {"productName": "Virtual Machines NCasT4 v3 Series Windows"},
    "Windows, shortened": {"productName": "Virtual Machines NCCads v5 Series Win"},
    "spot": {"skuName": "NC8as T4 v3 Spot", "meterName": "NC8as T4 v3 Spot"},
    "low priority": {"skuName": "NC8as T4 v3 Low Priority"},
    "reservation": {"type": "Reservation", "reservationTerm": "1 Year"},
    "dev and test": {"type": "DevTestConsumption"},
    "another case": {"armSkuName": SIZE.lower()},
    "another region": {"armRegionName": "westus"},
    "cloud services": {"productName": "NCasT4 v3 Series Cloud Services"},
    "cloud services, in one word": {"productName": "NCasT4 v3 Series CloudServices"},
    "a dedicated host": {"productName": "NCasT4 v3 Series Dedicated Host"},
    "another service": {"serviceName": "Azure Machine Learning"},
    "a month": {"unitOfMeasure": "1/Month"},
    "an old price": {"effectiveStartDate": "2021-01-01T00:00:00Z"},
    "a price to come": {"effectiveStartDate": "2999-01-01T00:00:00Z"},
}


def listed(*rows: dict[str, Any]) -> PriceList:
    day = date(2026, 11, 21)
    return PriceList(items=rows, currency="USD", source="s", asked_on=day)


@pytest.mark.parametrize("trap", TRAPS)
def test_the_price_of_a_size_comes_from_its_row(trap: str) -> None:
    wrong = ROW | {"retailPrice": Decimal("9.99")} | TRAPS[trap]
    for rows in ([ROW, wrong], [wrong, ROW]):
        price = listed(*rows).price(SIZE, "eastus", spot=False)
        assert isinstance(price, Price)
        assert price.hourly == Decimal("0.752")
    if trap != "an old price":
        assert isinstance(listed(wrong).price(SIZE, "eastus", spot=False), Unanswered)


def test_the_price_of_spot_comes_from_the_spot_row() -> None:
    spot = ROW | TRAPS["spot"] | {"retailPrice": Decimal("0.1")}
    price = listed(ROW, spot).price(SIZE, "eastus", spot=True)
    assert isinstance(price, Price)
    assert price.hourly == Decimal("0.1")
    assert isinstance(listed(ROW).price(SIZE, "eastus", spot=True), Unanswered)


def test_several_matching_prices_are_reported_as_unknown() -> None:
    price = listed(ROW, ROW | {"retailPrice": Decimal("0.8")}).price(SIZE, "eastus", spot=False)
    assert isinstance(price, Unanswered)
    assert price.reason == "the price list has several on-demand prices for it: 0.752, 0.8"
    # The same one twice is one.
    assert isinstance(listed(ROW, ROW).price(SIZE, "eastus", spot=False), Price)


def test_a_stack_costs_from_its_fewest_nodes_to_its_most(place: Place) -> None:
    spot = T4 | {"name": "spot", "spot": True, "count": 0, "minCount": 0, "maxCount": 10}
    result = place.ask(gpuPools=[T4, spot])
    sums = result.costs
    assert sums is not None
    (system, t4, cheap) = sums.pools
    # The rehearsal's formula: 0.05 for a core and 1 for a GPU, a fifth of it for spot.
    assert (t4.hourly, cheap.hourly) == (
        costs.Range(Decimal("2.8"), Decimal("2.8")),
        costs.Range(Decimal("0.00"), Decimal("2.8")),
    )
    assert system.hourly == costs.Range(Decimal("0.2"), Decimal("0.2"))
    assert sums.hourly == costs.Range(Decimal("3.0"), Decimal("5.8"))
    assert sums.hourly.monthly == costs.Range(Decimal("2190.0"), Decimal("4234.0"))
    document = result.to_json()["costs"]
    assert document["currency"] == "USD"
    assert document["askedOn"] == today().isoformat()
    assert "disks" in document["leftOut"]
    assert document["monthly"] == {"fewest": 2190.0, "most": 4234.0}
    page = io.StringIO()
    render(result, ReportConsole(file=page, width=80), "go on")
    lines = [line.split() for line in page.getvalue().splitlines()]
    assert ["spot", SIZE + ",", "spot", *["0", "to", "10", "0.2800", "0.00", "to", "2.80"]] in lines
    assert ["A", "month", "of", "730", "hours:", "2,190", "to", "4,234."] in lines
    # The rehearsal's prices say that they are none.
    assert document["remark"] == "Rehearsal: these prices are made up"


def test_a_size_in_another_case_has_its_price(place: Place) -> None:
    result = place.ask(systemPool={"vmSize": "standard_d4DS_V5"})
    assert result.costs is not None
    assert result.costs.unpriced == []


def test_a_size_without_a_price_is_left_out_of_the_sum(place: Place) -> None:
    place.offer(sizes=[{"size": SIZE, "is": "absent"}])
    result = place.ask(gpuPools=[T4])
    assert result.costs is not None
    assert result.costs.unpriced == ["t4"]
    assert result.costs.hourly == costs.Range(Decimal("0.2"), Decimal("0.2"))
    assert the(result, "price", "t4").answer == "unknown"


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 400, "body": {"Error": {"Code": "BadRequest"}}},
        {"status": 200, "body": {"Items": []}},
        {"status": 200, "body": {"BillingCurrency": "USD", "Items": 3}},
        {"drop": "before"},
    ],
)
def test_an_unreadable_price_list_leaves_the_price_unknown(
    place: Place, answer: dict[str, Any]
) -> None:
    place.fault({"path": "/api/retail/prices"} | answer)
    result = place.ask(gpuPools=[T4])
    row = the(result, "price")
    assert row.answer == "unknown"
    assert result.verdict is Cause.READY
    assert result.costs is not None
    assert result.costs.hourly is None
    document = result.to_json()["costs"]
    assert document["unavailable"] == row.what
    assert document["hourly"] is None
    assert [pool["nodeHour"] for pool in document["pools"]] == [None, None]


def test_an_unreachable_price_list_leaves_the_price_unknown(place: Place) -> None:
    nowhere = Access(
        place.access.configuration, place.access.authorities, "https://localhost:9/prices"
    )
    result = place.ask(access=nowhere, gpuPools=[T4])
    assert "the price list cannot be read: Cannot connect to host" in the(result, "price").what
    assert result.exit_code == 0


def test_a_spot_price_above_the_pools_limit_is_a_warning() -> None:
    row = ROW | TRAPS["spot"]
    for most, warns in ((0.5, True), (1.0, False), (-1, False)):
        pool = T4 | {"spot": True, "spotMaxPrice": most}
        pools = requirements.pools(stack_of(gpuPools=[pool]))[1:]
        rows = costs.judge(costs.costs(pools, listed(row), facts_with()))
        assert [(row.answer, row.key) for row in rows] == (
            [("warning", "gpuPools[0].spotMaxPrice")] if warns else []
        )
