"""The rows of the rehearsal's price list, in the shape of Azure's Retail Prices API.

The prices are made up, by a plain formula: a little for a core, more for a GPU. Every row says so
in its identifiers, and every answer in its head, where Azure's has its customer.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from catalogue import regions
from rehearsal.arm.call import Json
from rehearsal.arm.compute.offers import Offers, Size, family_stem
from rehearsal.arm.retail_filter import Test

MADE_UP = "Rehearsal: these prices are made up"
PRODUCT_ID = "MADE-UP-BY-THE-REHEARSAL"
PER_CORE, PER_GPU, WINDOWS_PER_CORE = 0.05, 1.0, 0.046
SPOT, LOW_PRIORITY = 0.2, 0.25
EFFECTIVE = "2026-01-01T00:00:00Z"
HOURS_A_YEAR = 8760
# What a term costs of the hourly price, by its name: how many years, and the share of the price.
TERMS = {"1 Year": (1, 0.6), "3 Years": (3, 0.4)}
SAVINGS = {"1 Year": 0.7, "3 Years": 0.5}
RATES = {"USD": 1.0, "EUR": 0.9, "GBP": 0.8, "CHF": 0.85}

OF_MACHINES: Json = {
    "serviceName": "Virtual Machines",
    "serviceId": "DZH313Z7MMC8",
    "serviceFamily": "Compute",
}


@dataclass(frozen=True)
class Terms:
    """What a request wants of every row."""

    currency: str = "USD"
    with_savings_plans: bool = False


def rows(offers: Offers, test: Test, terms: Terms) -> Iterator[Json]:
    """The rows that pass a test; whole regions and sizes that cannot are left out early."""
    for region in regions.regions().values():
        of_region = {
            **OF_MACHINES,
            "armRegionName": region.name,
            "location": region.price_location,
            "currencyCode": terms.currency,
        }
        if test(of_region) is False:
            continue
        for offer in offers.in_location(region.name):
            of_size = of_region | {"armSkuName": offer.size.name}
            if test(of_size) is not False:
                yield from filter(test, _of_size(offer.size, of_size, terms))


def _of_size(size: Size, common: Json, terms: Terms) -> Iterator[Json]:
    """All meters of a size in a region: those for Linux, and all that a client must not take."""
    linux = PER_CORE * size.vcpus + PER_GPU * (size.gpus or size.has_gpus)
    windows = linux + WINDOWS_PER_CORE * size.vcpus
    name = size.name.removeprefix("Standard_").replace("_", " ")
    for system, price in (("", linux), (_windows(size), windows)):
        product = f"Virtual Machines {_series(size)}{system}"
        for suffix, share in (("", 1.0), (" Spot", SPOT), (" Low Priority", LOW_PRIORITY)):
            row = _row(common, size, product, name + suffix, price * share, terms)
            if terms.with_savings_plans and not system and not suffix:
                row["savingsPlan"] = [
                    _savings(term, price * saved, terms) for term, saved in SAVINGS.items()
                ]
            yield row
        if system:
            yield _row(common, size, product, name, linux, terms) | {"type": "DevTestConsumption"}
            continue
        for term, (years, share) in TERMS.items():
            whole = price * share * years * HOURS_A_YEAR
            # The API calls the price of a whole term one of an hour.
            yield _row(common, size, product, name, whole, terms) | {
                "type": "Reservation",
                "reservationTerm": term,
            }


def _row(common: Json, size: Size, product: str, name: str, price: float, terms: Terms) -> Json:
    amount = round(price * RATES[terms.currency], 6)
    meter = f"{common['armRegionName']}/{product}/{name}"
    return {
        **common,
        "tierMinimumUnits": 0.0,
        "retailPrice": amount,
        "unitPrice": amount,
        "effectiveStartDate": EFFECTIVE,
        "meterId": str(uuid.uuid5(uuid.NAMESPACE_URL, meter)),
        "meterName": name,
        "productId": PRODUCT_ID,
        "skuId": f"{PRODUCT_ID}/{size.name}",
        "productName": product,
        "skuName": name,
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        # Of the meters of a size it may be that Spot's alone are primary here: the mark tells
        # nothing about which row to take.
        "isPrimaryMeterRegion": size.has_gpus or name.endswith("Spot"),
        "reservationTerm": None,
    }


def _savings(term: str, price: float, terms: Terms) -> Json:
    amount = round(price * RATES[terms.currency], 6)
    return {"term": term, "retailPrice": amount, "unitPrice": amount}


def _series(size: Size) -> str:
    """The series of a size, somewhat as the price list calls it."""
    return f"{family_stem(size.family or size.name)} Series"


def _windows(size: Size) -> str:
    """How the product of Windows machines ends: not always in the whole word."""
    return " Win" if size.name.startswith("Standard_NCC") else " Windows"
