"""Azure's public price list: what an hour of a virtual machine costs."""

import asyncio
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

from aks_catalogue.today import today
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.pages import MALFORMED, pages
from provider_kit.errors import explained

_AZURE_PRICES = "https://prices.azure.com/api/retail/prices"
# For networks that have a copy of it.
VARIABLE = "AKS_GPU_PRICE_LIST"

Client = AsyncPipelineClient[HttpRequest, AsyncHttpResponse]
Item = Mapping[str, Any]

# The API refuses a filter of more than twenty comparisons: three, and one for each size.
_SIZES_PER_REQUEST = 17
_MACHINES = "Virtual Machines"
# Products that use the same VM sizes for another operating system or another service.
_OTHER_PRODUCT = re.compile(r"\b(Win|Windows|Cloud ?Services|Dedicated Host)\b", re.IGNORECASE)
_HOUR = "1 Hour"
# The prices are not worth a long wait.
SECONDS = 30
# The customer ids of the public prices.
_EVERYBODY = ("", "Default")


def price_list_url() -> str:
    """The URL of Azure's price list, or the one in AKS_GPU_PRICE_LIST."""
    return os.environ.get(VARIABLE) or _AZURE_PRICES


@dataclass(frozen=True)
class Price:
    """The price of one node for an hour."""

    hourly: Decimal


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """The prices of some sizes in one region on one day."""

    items: Sequence[Item]
    currency: str
    source: str
    asked_on: date
    # The customer that the prices are for; empty for public prices.
    remark: str = ""

    @property
    def name(self) -> str:
        host = urlsplit(self.source).hostname
        return "Azure's price list" if self.source == _AZURE_PRICES else f"the price list of {host}"

    def price(self, size: str, location: str, *, spot: bool) -> Price | Unanswered:
        """The current price of a size for Linux, on demand or as spot. Never a guess."""
        matching = [item for item in self.items if _matches(item, size, location, spot=spot)]
        started = [(str(item.get("effectiveStartDate", "")), item) for item in matching]
        now = datetime.now(UTC).isoformat()
        newest = max((start for start, _ in started if start <= now), default="")
        amounts = {item["retailPrice"] for start, item in started if start == newest}
        kind = "spot" if spot else "on-demand"
        if not amounts:
            return Unanswered(f"the price list has no {kind} price for it in this region")
        if len(amounts) > 1:
            prices = ", ".join(str(amount) for amount in sorted(amounts))
            return Unanswered(f"the price list has several {kind} prices for it: {prices}")
        return Price(Decimal(*amounts))


async def ask_prices(
    client: Client, url: str, location: str, names: Iterable[str]
) -> PriceList | Unanswered:
    """The prices of these sizes. Their names must have the case that Azure uses."""
    sizes = sorted(set(names))
    starts = range(0, len(sizes), _SIZES_PER_REQUEST)
    parts = [sizes[start : start + _SIZES_PER_REQUEST] for start in starts]
    try:
        async with asyncio.timeout(SECONDS):
            lists = await asyncio.gather(*(_pages(client, url, location, part) for part in parts))
        return _combined([page for pages in lists for page in pages], url)
    except AzureError as error:
        return Unanswered(f"the price list cannot be read: {explained(error)}")
    except TimeoutError:
        return Unanswered(f"the price list did not answer within {SECONDS} seconds")
    except MALFORMED as error:
        return Unanswered(f"the price list is not valid ({type(error).__name__})")


def _combined(pages: Sequence[Item], url: str) -> PriceList:
    customers = {str(page.get("CustomerEntityId") or "") for page in pages}
    return PriceList(
        items=[item for page in pages for item in page["Items"]],
        currency=next((page["BillingCurrency"] for page in pages), "USD"),
        source=url,
        asked_on=today(),
        remark="; ".join(sorted(customers.difference(_EVERYBODY))),
    )


async def _pages(client: Client, url: str, location: str, names: Sequence[str]) -> list[Item]:
    any_size = " or ".join(f"armSkuName eq '{name}'" for name in names)
    odata_filter = (
        f"serviceName eq '{_MACHINES}' and armRegionName eq '{location}' "
        f"and priceType eq 'Consumption' and ({any_size})"
    )
    request = HttpRequest("GET", f"{url}?$filter={quote(odata_filter)}")
    return [page async for page in pages(client, request, "NextPageLink")]


def _matches(item: Item, size: str, location: str, *, spot: bool) -> bool:
    names = f"{item.get('skuName', '')} {item.get('meterName', '')}"
    return (
        item.get("armSkuName") == size
        and item.get("armRegionName") == location
        and item.get("serviceName") == _MACHINES
        and item.get("type") == "Consumption"
        and item.get("unitOfMeasure") == _HOUR
        and not item.get("tierMinimumUnits")
        and not item.get("reservationTerm")
        and not _OTHER_PRODUCT.search(str(item.get("productName", "")))
        and "Low Priority" not in names
        and ("Spot" in names) == spot
    )
