"""The price list: Azure's Retail Prices API, which asks nobody who they are.

On Azure it has a host of its own, prices.azure.com; here it is `/api/retail/prices` of this server.
"""

from itertools import islice
from urllib.parse import quote

from aiohttp import web

from rehearsal.arm.call import Json
from rehearsal.arm.compute.offers import Offers
from rehearsal.arm.retail_filter import FilterError, Test, everything, parse
from rehearsal.arm.retail_rows import MADE_UP, RATES, Terms, rows

PATH = "/api/retail/prices"
# Of these the newest alone tells savings plans.
WITH_SAVINGS_PLANS = "2023-01-01-preview"
API_VERSIONS = ("", "2021-10-01-preview", WITH_SAVINGS_PLANS)
# Azure answers 404 to a longer address.
LONGEST_ADDRESS = 2048


class RetailError(Exception):
    """The API refuses a request."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def answer(request: web.Request, offers: Offers) -> web.Response | None:
    """The answer to a request for prices; None when it is not one."""
    if request.path.rstrip("/") != PATH:
        return None
    try:
        return web.json_response(_page(request, offers))
    except RetailError as error:
        body = {"Error": {"Code": error.code, "Message": error.message}}
        return web.json_response(body, status=error.status)


def _page(request: web.Request, offers: Offers) -> Json:
    if request.method != "GET":
        raise RetailError(405, "MethodNotAllowed", "The price list can only be read")
    if len(f"https://{request.host}{request.raw_path}") > LONGEST_ADDRESS:
        raise RetailError(404, "NotFound", "The address is too long")
    version = request.query.get("api-version", "")
    if version not in API_VERSIONS:
        raise RetailError(400, "BadRequest", "Unsupported API version")
    currency = request.query.get("currencyCode", "USD").strip("'")
    start = request.query.get("$skip", "0")
    if currency not in RATES or not start.isdecimal():
        raise RetailError(400, "BadRequest", "Invalid parameters supplied")
    terms = Terms(currency, version == WITH_SAVINGS_PLANS)
    end = int(start) + offers.script.page_size
    found = list(islice(rows(offers, _test(request), terms), int(start), end + 1))
    items = [_without_nothing(row) for row in found[: offers.script.page_size]]
    return {
        "BillingCurrency": currency,
        "CustomerEntityId": MADE_UP,
        "CustomerEntityType": "Retail",
        "Items": items,
        "NextPageLink": _next(request, end) if len(found) > len(items) else None,
        "Count": len(items),
    }


def _test(request: web.Request) -> Test:
    wanted = request.query.get("$filter", "")
    try:
        return parse(wanted) if wanted else everything
    except FilterError:
        raise RetailError(400, "BadRequest", "Invalid OData parameters supplied") from None


def _without_nothing(row: Json) -> Json:
    return {name: value for name, value in row.items() if value is not None}


def _next(request: web.Request, start: int) -> str:
    """The address of the next page, its dollars plain, as the API writes them."""
    query = {**request.query, "$skip": str(start)}
    parts = [f"{name}={quote(value, safe='')}" for name, value in query.items()]
    return f"https://{request.host}{PATH}?{'&'.join(parts)}"
