"""The filters of the price list are evaluated, all that the API takes and nothing else."""

import pytest

from rehearsal.arm.retail_filter import FilterError, parse

ROW = {
    "armRegionName": "eastus",
    "armSkuName": "Standard_NC8as_T4_v3",
    "isPrimaryMeterRegion": True,
    "meterName": "NC8as T4 v3 Spot",
    "productName": "Bob's Machines",
    "reservationTerm": None,
    "serviceName": "Virtual Machines",
    "type": "Consumption",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("armRegionName eq 'eastus'", True),
        ("armRegionName eq 'EastUS'", False),
        ("armSkuName eq 'standard_nc8as_t4_v3'", False),
        ("  armRegionName   eq 'eastus'  and serviceName eq 'Virtual Machines' ", True),
        ("armRegionName eq 'eastus' and serviceName eq 'Storage'", False),
        ("armRegionName eq 'westus' or serviceName eq 'Virtual Machines'", True),
        # `and` binds closer than `or`.
        ("armRegionName eq 'eastus' or serviceName eq 'x' and serviceName eq 'y'", True),
        ("(armRegionName eq 'eastus' or serviceName eq 'x') and serviceName eq 'y'", False),
        ("priceType eq 'Consumption'", True),
        ("priceType eq 'Reservation'", False),
        ("priceType eq 'savingsplan'", False),
        ("contains(meterName, 'Spot')", True),
        ("contains(meterName,'spot')", False),
        ("startswith(meterName,'NC8as')", True),
        ("startswith(meterName,'T4')", False),
        ("productName eq 'Bob''s Machines'", True),
        ("isPrimaryMeterRegion eq true", True),
        ("isPrimaryMeterRegion eq false", False),
        ("reservationTerm eq '1 Year'", False),
        ("contains(reservationTerm, 'N')", False),
    ],
)
def test_what_a_filter_lets_through(text: str, expected: bool) -> None:
    assert parse(text)(ROW) is expected


@pytest.mark.parametrize(
    "text",
    [
        "armRegionName ne 'eastus'",
        "armRegionName in ('eastus','westus')",
        "not contains(productName, 'Windows')",
        "endswith(meterName, 'Spot')",
        "tolower(armRegionName) eq 'eastus'",
        "retailPrice gt 1",
        "armRegionName eq eastus",
        "armRegionName eq 'eastus",
        "armRegionName eq 'eastus' and",
        "(armRegionName eq 'eastus'",
        "armRegionName eq 'eastus')",
        "ArmRegionName eq 'eastus'",
        "region eq 'eastus'",
        "armRegionName 'eastus'",
        "armRegionName EQ 'eastus'",
        "priceType eq 'Spot'",
        "isPrimaryMeterRegion eq 'true'",
        "contains('Spot', meterName)",
        "armRegionName eq 'a' ; armRegionName eq 'b'",
        "and",
    ],
)
def test_what_the_api_does_not_take(text: str) -> None:
    with pytest.raises(FilterError):
        parse(text)


def test_twenty_comparisons_and_no_more() -> None:
    parse(" or ".join(["skuId eq 'a'"] * 20))
    with pytest.raises(FilterError):
        parse(" or ".join(["skuId eq 'a'"] * 21))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("armRegionName eq 'eastus' and meterName eq 'x'", None),
        ("armRegionName eq 'westus' and meterName eq 'x'", False),
        ("armRegionName eq 'eastus' or meterName eq 'x'", True),
        ("armRegionName eq 'westus' or meterName eq 'x'", None),
    ],
)
def test_a_row_that_is_known_in_part(text: str, expected: bool | None) -> None:
    """What cannot come true any more is known early; what still can is left open."""
    assert parse(text)({"armRegionName": "eastus"}) is expected
