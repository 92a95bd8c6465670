"""What the nodes of a stack cost: of every pool, and of all, from the fewest nodes to the most."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.price_list import Price, PriceList
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.wanted import WantedPool

HOURS_A_MONTH = 730
LEFT_OUT = (
    "disks",
    "network traffic and addresses",
    "the tier of the control plane",
    "support",
    "the nodes that an upgrade adds for its time",
    "reservations, savings plans and agreements",
)


@dataclass(frozen=True)
class Range:
    """Money for an hour, with the fewest nodes and with the most."""

    fewest: Decimal
    most: Decimal

    @property
    def monthly(self) -> "Range":
        return Range(self.fewest * HOURS_A_MONTH, self.most * HOURS_A_MONTH)

    def document(self) -> dict[str, float]:
        return {"fewest": float(self.fewest), "most": float(self.most)}


@dataclass(frozen=True)
class PoolCost:
    """What one pool costs."""

    pool: WantedPool
    price: Price | Unanswered

    @property
    def hourly(self) -> Range | None:
        if isinstance(self.price, Unanswered):
            return None
        node = self.price.hourly
        return Range(self.pool.fewest * node, self.pool.most * node)


@dataclass(frozen=True)
class Costs:
    """What a stack costs; without the price list, why that is not known."""

    pools: Sequence[PoolCost]
    prices: PriceList | Unanswered

    @property
    def unpriced(self) -> list[str]:
        return [cost.pool.name for cost in self.pools if cost.hourly is None]

    @property
    def hourly(self) -> Range | None:
        """Of all pools that have a price; None where none has."""
        known = [cost.hourly for cost in self.pools if cost.hourly is not None]
        if not known:
            return None
        return Range(
            sum((one.fewest for one in known), Decimal()),
            sum((one.most for one in known), Decimal()),
        )

    def document(self) -> dict[str, Any]:
        hourly = self.hourly
        return {
            **_source(self.prices),
            "hoursAMonth": HOURS_A_MONTH,
            "leftOut": list(LEFT_OUT),
            "pools": [_document(cost) for cost in self.pools],
            "unpriced": self.unpriced,
            "hourly": hourly.document() if hourly else None,
            "monthly": hourly.monthly.document() if hourly else None,
        }


def costs(pools: Sequence[WantedPool], prices: PriceList | Unanswered, facts: Facts) -> Costs:
    """What the pools cost, by a price list."""

    def price(pool: WantedPool) -> Price | Unanswered:
        if isinstance(prices, Unanswered):
            return prices
        return prices.price(name_in_prices(pool, facts), facts.location, spot=pool.spot)

    return Costs([PoolCost(pool, price(pool)) for pool in pools], prices)


def name_in_prices(pool: WantedPool, facts: Facts) -> str:
    """How the price list writes a pool's size: with case, as the list of sizes does."""
    size = facts.size(pool.vm_size)
    return size.name if size else pool.vm_size


def judge(costs: Costs) -> list[Row]:
    """What about the prices is worth a word. None of it stands against the stack."""
    if isinstance(costs.prices, Unanswered):
        about = About("price")
        return [about.unknown(costs.prices.reason, "look the prices up by hand", cause=None)]
    rows = []
    for one in costs.pools:
        about = About("price", one.pool.name, f"{one.pool.key}.vmSize")
        if isinstance(one.price, Unanswered):
            rows.append(about.unknown(one.price.reason, "look its price up by hand", cause=None))
        elif one.pool.spot and 0 <= one.pool.spot_max_price < one.price.hourly:
            rows.append(_too_dear(one.pool, one.price))
    return rows


def _too_dear(pool: WantedPool, price: Price) -> Row:
    return About("price", pool.name, f"{pool.key}.spotMaxPrice").warning(
        f"a spot node costs {price.hourly:f} an hour now, more than spotMaxPrice, "
        f"{pool.spot_max_price:g}: there will be none",
        "offer more, or -1 for as much as on demand",
    )


def _source(prices: PriceList | Unanswered) -> dict[str, Any]:
    """Where the prices are from; without them the same keys, and why."""
    if isinstance(prices, Unanswered):
        known = dict.fromkeys(("currency", "source", "remark", "askedOn"))
        return {**known, "unavailable": prices.reason}
    return {
        "currency": prices.currency,
        "source": prices.source,
        "remark": prices.remark or None,
        "askedOn": prices.asked_on.isoformat(),
        "unavailable": None,
    }


def _document(cost: PoolCost) -> dict[str, Any]:
    hourly = cost.hourly
    return {
        "pool": cost.pool.name,
        "size": cost.pool.vm_size,
        "spot": cost.pool.spot,
        "nodes": {"fewest": cost.pool.fewest, "most": cost.pool.most},
        **_price(cost.price),
        "hourly": hourly.document() if hourly else None,
        "monthly": hourly.monthly.document() if hourly else None,
    }


def _price(price: Price | Unanswered) -> dict[str, Any]:
    if isinstance(price, Unanswered):
        return {"nodeHour": None, "meter": None, "priceSince": None, "unknown": price.reason}
    return {
        "nodeHour": float(price.hourly),
        "meter": price.meter,
        "priceSince": price.since,
        "unknown": None,
    }
