"""The price list: Azure's Retail Prices API, for the one query that `aksgpu preflight` sends.

On Azure it is at prices.azure.com and needs no token. The prices here are made up by a simple
formula; every response and row states that.
"""

import re
import uuid
from collections.abc import Iterator
from urllib.parse import quote

from aiohttp import web

from aks_catalogue.sizes import GpuSize, Size
from rehearsal.arm.offers import Offers, family_stem, listed_gpus
from rehearsal.arm.request import NUMBER, Json

PATH = "/api/retail/prices"
NAMES = r"armSkuName eq '\w+'(?: or armSkuName eq '\w+')*"
QUERY = re.compile(
    r"serviceName eq 'Virtual Machines' and armRegionName eq '(?P<location>\w+)' "
    rf"and priceType eq 'Consumption' and \((?P<names>{NAMES})\)"
)
# Azure accepts at most twenty comparisons: three, and one for each size.
MOST_SIZES = 17
MADE_UP = "Rehearsal: these prices are made up"
PER_CORE, PER_GPU, WINDOWS_PER_CORE = 0.05, 1.0, 0.046
KINDS = {"": 1.0, " Spot": 0.2, " Low Priority": 0.25}


def answer(request: web.Request, offers: Offers) -> web.Response | None:
    """Returns the response to a request for prices; None for any other request."""
    if request.path.rstrip("/") != PATH:
        return None
    query = QUERY.fullmatch(request.query.get("$filter", ""))
    skip = request.query.get("$skip", "0")
    names = re.findall(r"armSkuName eq '(\w+)'", query["names"]) if query else []
    if (
        request.method != "GET"
        or not query
        or not NUMBER.fullmatch(skip)
        or len(names) > MOST_SIZES
    ):
        message = "The rehearsal supports only the query of aksgpu preflight"
        return web.json_response({"Error": {"Code": "BadRequest", "Message": message}}, status=400)
    rows = [row for name in names for row in _rows(offers, name, query["location"])]
    end = int(skip) + offers.script.page_size
    page = rows[int(skip) : end]
    # The API writes dollar signs without escapes.
    link = f"https://{request.host}{PATH}?$filter={quote(query[0], safe='')}&$skip={end}"
    return web.json_response(
        {
            "BillingCurrency": "USD",
            "CustomerEntityId": MADE_UP,
            "CustomerEntityType": "Retail",
            "Items": page,
            "NextPageLink": link if end < len(rows) else None,
            "Count": len(page),
        }
    )


def _rows(offers: Offers, name: str, location: str) -> Iterator[Json]:
    """Yields all meters of a size in a region: the one that a client needs, and similar ones."""
    offer = offers.find(name, location)
    # The API compares names with case.
    if offer is None or offer.size.name != name:
        return
    for system in ("", " Windows"):
        for kind in KINDS:
            price = an_hour(offer.size, kind, is_windows=bool(system))
            yield _row(offer.size, location, system, kind, price)


def an_hour(size: Size, kind: str, *, is_windows: bool) -> float:
    """Returns the made-up price of a node."""
    linux = PER_CORE * size.vcpus + PER_GPU * (listed_gpus(size) or isinstance(size, GpuSize))
    return round((linux + WINDOWS_PER_CORE * size.vcpus * is_windows) * KINDS[kind], 6)


def _row(size: Size, location: str, system: str, kind: str, price: float) -> Json:
    product = f"Virtual Machines {family_stem(size.quota_family or size.name)} Series{system}"
    meter = size.name.removeprefix("Standard_").replace("_", " ") + kind
    return {
        "armRegionName": location,
        "armSkuName": size.name,
        "currencyCode": "USD",
        "effectiveStartDate": "2026-01-01T00:00:00Z",
        "meterId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{location}/{product}/{meter}")),
        "meterName": meter,
        "productId": "MADE-UP-BY-THE-REHEARSAL",
        "productName": product,
        "retailPrice": price,
        "serviceName": "Virtual Machines",
        "skuName": meter,
        "tierMinimumUnits": 0.0,
        "type": "Consumption",
        "unitOfMeasure": "1 Hour",
        "unitPrice": price,
    }
