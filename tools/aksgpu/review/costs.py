"""What the nodes of a stack cost an hour before and after, by Azure's public price list.

The list needs no credentials, so an offline review has it too. If it cannot be read, the report
says so; the review does not fail.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from aks_catalogue.regions import plain
from aks_pools.pools import is_cluster
from aksgpu.preflight.access import price_client
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import PriceList, ask_prices, price_list_url
from aksgpu.review.losses import rotates
from aksgpu.review.masking import clean
from aksgpu.review.model import Costs, Span, sum_of
from aksgpu.review.pools import Cluster, GpuPool, all_pools, cluster_of
from aksgpu.review.preview_result import Step, inputs_of

_SECONDS = 30

# A pool's nodes and their region; the region is empty if it is not known.
_Placed = tuple[GpuPool, str]
Lists = Mapping[str, PriceList | Unanswered]


@dataclass(frozen=True)
class PriceSource:
    """A price list, and how long to wait for it."""

    url: str = field(default_factory=price_list_url)
    seconds: float = _SECONDS
    # A file of certificates to trust instead of the machine's.
    authorities: Path | None = None


def costs(steps: Collection[Step], source: PriceSource | None = None) -> Costs | Unanswered | None:
    """What the nodes cost before and after; None if there are no pools."""
    before, after = ([*placed(steps, was=was)] for was in (True, False))
    if not before and not after:
        return None
    sizes_by_region: dict[str, set[str]] = defaultdict(set)
    for pool, region in (*before, *after):
        if region:
            sizes_by_region[region].add(pool.vm_size)
    if not sizes_by_region:
        return Unanswered("no region is known before the update")
    lists = asyncio.run(ask(sizes_by_region, source or PriceSource()))
    read = [prices for prices in lists.values() if isinstance(prices, PriceList)]
    if not read:
        return next(prices for prices in lists.values() if isinstance(prices, Unanswered))
    rotating = {step.resource for step in steps if rotates(step)}
    priced = {each: cost(*each, lists) for each in (*before, *after)}
    return Costs(
        before=total_of(priced[each] for each in before),
        after=total_of(priced[each] for each in after),
        rotating=total_of(priced[each] for each in before if each[0].resource in rotating),
        currency=read[0].currency,
        source=read[0].name,
        asked_on=read[0].asked_on,
        unpriced=sorted({clean(pool.name) for (pool, _), price in priced.items() if price is None}),
    )


async def ask(sizes_by_region: Mapping[str, Iterable[str]], source: PriceSource) -> Lists:
    lists: dict[str, PriceList | Unanswered] = dict.fromkeys(
        sizes_by_region,
        Unanswered(f"the price list did not answer within {source.seconds:.0f} seconds"),
    )
    client = price_client(source.url, source.authorities)
    try:
        async with asyncio.timeout(source.seconds), client:
            for region, sizes in sizes_by_region.items():
                lists[region] = await ask_prices(client, source.url, region, sizes)
    except TimeoutError:
        pass
    return lists


def cost(pool: GpuPool, region: str, lists: Lists) -> Span | None:
    """What a pool costs an hour; None if its nodes or its price are not known."""
    prices = lists.get(region)
    if pool.nodes is None or not isinstance(prices, PriceList):
        return None
    price = prices.price(pool.vm_size, region, spot=pool.spot)
    if isinstance(price, Unanswered):
        return None
    hourly = Fraction(price.hourly)
    return Span(pool.nodes.least * hourly, pool.nodes.most * hourly)


def total_of(costs: Iterable[Span | None]) -> Span:
    """The sum of those that are known."""
    return sum_of(filter(None, costs)) or Span(Fraction(0), Fraction(0))


def placed(steps: Collection[Step], *, was: bool) -> Iterator[_Placed]:
    regions = _regions(steps, was=was)
    only = next(iter(regions.values())) if len(set(regions.values())) == 1 else ""
    for step in steps:
        state = step.old if was else step.new
        inputs = inputs_of(state)
        cluster = cluster_of(inputs)
        # The region of a cluster outside of the stack is not known.
        region = _region(inputs.get("location")) or (regions.get(cluster, "") if cluster else only)
        yield from ((pool, region) for pool in all_pools(step.resource, state))


def _regions(steps: Collection[Step], *, was: bool) -> dict[Cluster, str]:
    """The regions of the clusters, by the names with which pools refer to them."""
    regions = {}
    for step in steps:
        inputs = inputs_of(step.old if was else step.new)
        if is_cluster(step.resource.type) and (region := _region(inputs.get("location"))):
            regions[cluster_of(inputs) or (step.resource.urn, "")] = region
    return regions


def _region(region: object) -> str:
    """A region as the price list writes it: `East US` is eastus. Empty if it is not known."""
    text = plain(region) if isinstance(region, str) else ""
    return text if text.isalnum() else ""
