"""Azure's public price list: what an hour of a machine costs."""

import asyncio
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from azure.core import AsyncPipelineClient
from azure.core.exceptions import AzureError
from azure.core.rest import AsyncHttpResponse, HttpRequest

from aksgpu.preflight.facts import Unanswered
from catalogue.today import today
from provider_kit.errors import explained

_AZURES_OWN = "https://prices.azure.com/api/retail/prices"
# Where a network has a copy of it.
_VARIABLE = "AKS_GPU_PRICE_LIST"

Client = AsyncPipelineClient[HttpRequest, AsyncHttpResponse]
Item = Mapping[str, Any]

# The API refuses a filter of more than twenty comparisons: three, and one for each size.
_SIZES_A_REQUEST = 17
_MACHINES = "Virtual Machines"
# Products with machines of the same sizes that are other things: another system, another service.
_OTHER_PRODUCT = re.compile(r"\b(Win|Windows|Cloud ?Services|Dedicated Host)\b", re.IGNORECASE)
_HOUR = "1 Hour"
# The prices are worth knowing, and not worth waiting long for.
SECONDS = 30
# No machine costs as much in an hour.
_MOST = 100_000
# What the API calls whoever is not known to it.
_NOBODY = ("", "Default")


def price_list_url() -> str:
    """Azure's own price list, or what AKS_GPU_PRICE_LIST names in its place."""
    return os.environ.get(_VARIABLE) or _AZURES_OWN


@dataclass(frozen=True, kw_only=True)
class Price:
    """The price of one node for an hour, and the meter it is by."""

    hourly: Decimal
    meter: str
    since: str


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """The rows of some sizes in one region, as they were on a day."""

    items: Sequence[Item]
    currency: str
    source: str
    asked_on: date
    # Whom the list says it is for, where that is not everybody.
    remark: str = ""

    @property
    def name(self) -> str:
        host = urlsplit(self.source).hostname
        return "Azure's price list" if self.source == _AZURES_OWN else f"the price list of {host}"

    def price(self, size: str, location: str, *, spot: bool) -> Price | Unanswered:
        """The price of a size for Linux, on demand or as spot. Nothing is guessed."""
        meant = [item for item in self.items if _is_meant(item, size, location, spot=spot)]
        started = [(str(item.get("effectiveStartDate", "")), item) for item in meant]
        now = datetime.now(UTC).isoformat()
        newest = max((start for start, _ in started if start <= now), default="")
        amounts = {item["retailPrice"]: item for start, item in started if start == newest}
        kind = "spot" if spot else "on-demand"
        if not amounts:
            return Unanswered(f"the price list has no {kind} price of it here")
        if len(amounts) > 1:
            said_prices = ", ".join(str(amount) for amount in sorted(amounts))
            return Unanswered(f"the price list has several {kind} prices of it: {said_prices}")
        ((amount, item),) = amounts.items()
        return Price(hourly=Decimal(amount), meter=str(item.get("meterId", "")), since=newest)


async def ask_prices(
    client: Client, url: str, location: str, names: Iterable[str]
) -> PriceList | Unanswered:
    """The rows of all these sizes, whose names have to be written exactly as Azure does."""
    wanted = sorted(set(names))
    starts = range(0, len(wanted), _SIZES_A_REQUEST)
    parts = [wanted[start : start + _SIZES_A_REQUEST] for start in starts]
    try:
        async with asyncio.timeout(SECONDS):
            answers = await asyncio.gather(*(_pages(client, url, location, part) for part in parts))
        return _put_together([page for answer in answers for page in answer], url)
    except AzureError as error:
        return Unanswered(f"the price list cannot be read: {explained(error)}")
    except TimeoutError:
        return Unanswered(f"the price list did not answer within {SECONDS} seconds")
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        return Unanswered(f"the price list is not as it should be ({type(error).__name__})")


def _put_together(pages: Sequence[Item], url: str) -> PriceList | Unanswered:
    currencies = {str(page["BillingCurrency"]) for page in pages}
    if len(currencies) > 1:
        return Unanswered("the price list speaks of several currencies")
    items = [item for page in pages for item in page["Items"]]
    if not all(isinstance(item, dict) for item in items):
        raise TypeError(items)
    customers = {str(page.get("CustomerEntityId") or "") for page in pages}
    return PriceList(
        items=items,
        currency=next(iter(currencies), "USD"),
        source=url,
        asked_on=today(),
        remark="; ".join(sorted(customers.difference(_NOBODY))),
    )


async def _pages(client: Client, url: str, location: str, names: Sequence[str]) -> list[Item]:
    either = " or ".join(f"armSkuName eq '{name}'" for name in names)
    wanted = (
        f"serviceName eq '{_MACHINES}' and armRegionName eq '{location}' "
        f"and priceType eq 'Consumption' and ({either})"
    )
    address: str | None = f"{url}?$filter={quote(wanted)}"
    pages: list[Item] = []
    while address:
        answer = await client.send_request(HttpRequest("GET", address))
        answer.raise_for_status()
        page = json.loads(answer.text(), parse_float=Decimal)
        pages.append(page)
        address = _next(url, page.get("NextPageLink"))
    return pages


def _next(url: str, link: str | None) -> str | None:
    """The next page, which has to be where the first one was."""
    if not link:
        return None
    here, there = urlsplit(url), urlsplit(link)
    if (there.scheme, there.hostname) != (here.scheme, here.hostname):
        raise ValueError(link)
    return link


def _is_meant(item: Item, size: str, location: str, *, spot: bool) -> bool:
    names = f"{item.get('skuName', '')} {item.get('meterName', '')}"
    return (
        item.get("armSkuName") == size
        and item.get("armRegionName") == location
        and item.get("serviceName") == _MACHINES
        and item.get("type") == "Consumption"
        and item.get("unitOfMeasure") == _HOUR
        and isinstance(price := item.get("retailPrice"), int | Decimal)
        and 0 <= price < _MOST
        and not item.get("tierMinimumUnits")
        and not item.get("reservationTerm")
        and not _OTHER_PRODUCT.search(str(item.get("productName", "")))
        and "Low Priority" not in names
        and ("Spot" in names) == spot
    )
