"""What the nodes of a stack cost: each pool and their sum, from the fewest nodes to the most."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.price_list import Price, PriceList
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row

HOURS_A_MONTH = 730
LEFT_OUT = (
    "disks",
    "network traffic and addresses",
    "the tier of the control plane",
    "support",
    "the nodes that an upgrade adds while it runs",
    "reservations, savings plans and agreements",
)


@dataclass(frozen=True)
class Range:
    """The cost of an hour with the fewest nodes, and with the most."""

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

    pool: PlannedPool
    price: Price | Unanswered

    @property
    def hourly(self) -> Range | None:
        if isinstance(self.price, Unanswered):
            return None
        node = self.price.hourly
        return Range(self.pool.fewest * node, self.pool.most * node)

    def document(self) -> dict[str, Any]:
        return {
            "pool": self.pool.name,
            "size": self.pool.vm_size,
            "spot": self.pool.spot,
            "nodes": {"fewest": self.pool.fewest, "most": self.pool.most},
            "nodeHour": float(self.price.hourly) if isinstance(self.price, Price) else None,
            "unknown": self.price.reason if isinstance(self.price, Unanswered) else None,
        }


@dataclass(frozen=True)
class Costs:
    """What a stack costs, or why the prices are not known."""

    pools: Sequence[PoolCost]
    prices: PriceList | Unanswered

    @property
    def unpriced(self) -> list[str]:
        return [cost.pool.name for cost in self.pools if cost.hourly is None]

    @property
    def hourly(self) -> Range | None:
        """The sum of all pools that have a price; None if none has one."""
        ranges = [cost.hourly for cost in self.pools if cost.hourly is not None]
        if not ranges:
            return None
        return Range(
            sum((hourly.fewest for hourly in ranges), Decimal()),
            sum((hourly.most for hourly in ranges), Decimal()),
        )

    def document(self) -> dict[str, Any]:
        hourly, prices = self.hourly, self.prices
        known = None if isinstance(prices, Unanswered) else prices
        return {
            "currency": known and known.currency,
            "source": known and known.source,
            "remark": known and known.remark,
            "askedOn": known and known.asked_on.isoformat(),
            "unavailable": prices.reason if isinstance(prices, Unanswered) else None,
            "leftOut": list(LEFT_OUT),
            "pools": [cost.document() for cost in self.pools],
            "unpriced": self.unpriced,
            "hourly": hourly.document() if hourly else None,
            "monthly": hourly.monthly.document() if hourly else None,
        }


def costs(pools: Sequence[PlannedPool], prices: PriceList | Unanswered, facts: Facts) -> Costs:
    """What the pools cost, by a price list."""

    def price(pool: PlannedPool) -> Price | Unanswered:
        if isinstance(prices, Unanswered):
            return prices
        return prices.price(name_in_prices(pool, facts), facts.location, spot=pool.spot)

    return Costs([PoolCost(pool, price(pool)) for pool in pools], prices)


def name_in_prices(pool: PlannedPool, facts: Facts) -> str:
    """A pool's VM size as the price list writes it: the list of sizes has the same case."""
    size = facts.size(pool.vm_size)
    return size.name if size else pool.vm_size


def judge(costs: Costs) -> list[Row]:
    """The answers about prices. None of them is a problem."""
    if isinstance(costs.prices, Unanswered):
        about = About("price")
        advice = "look the prices up in Azure's price list"
        return [about.unknown(costs.prices.reason, advice, cause=None)]
    rows = []
    for cost in costs.pools:
        pool, price = cost.pool, cost.price
        about = About("price", pool.name, f"{pool.key}.vmSize")
        if isinstance(price, Unanswered):
            advice = "look its price up in Azure's price list"
            rows.append(about.unknown(price.reason, advice, cause=None))
        elif 0 <= (most := pool.request.get("spotMaxPrice") or -1) < price.hourly:
            what = (
                f"a spot node costs {price.hourly:f} an hour now, more than spotMaxPrice, "
                f"{most:g}: the pool gets no nodes"
            )
            advice = "raise it, or set -1 to pay up to the on-demand price"
            about = About("price", pool.name, f"{pool.key}.spotMaxPrice")
            rows.append(about.warning(what, advice))
    return rows
