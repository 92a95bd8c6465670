"""What the nodes of a stack cost an hour, before and after: by Azure's public price list.

It needs no credentials, so that a review on the rehearsal cloud has it too. Nothing stands or falls
with it: a list that cannot be read is told, and no more.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from pulumi.runtime.rpc import UNKNOWN

from aksgpu.preflight.access import price_client
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import PriceList, ask_prices, price_list_url
from aksgpu.review.masking import clean
from aksgpu.review.model import Costs, Span
from aksgpu.review.pools import GpuPool, all_pools
from aksgpu.review.seen import Step, inputs_of
from catalogue.regions import plain

_SECONDS = 30
_ID = re.compile(r"/resourceGroups/(?P<group>[^/]+)/.*/managedClusters/(?P<name>[^/]+)", re.I)

# A pool's machines, and the region they are in; empty: not known.
_Placed = tuple[GpuPool, str]
# The names of its group and of itself.
_Cluster = tuple[str, str]
_Lists = Mapping[str, PriceList | Unanswered]


@dataclass(frozen=True)
class PriceSource:
    """A price list, and how long to wait for it."""

    url: str = field(default_factory=price_list_url)
    seconds: float = _SECONDS
    # Certificates to trust instead of this machine's own.
    authorities: Path | None = None


def costs(steps: Collection[Step], source: PriceSource | None = None) -> Costs | Unanswered | None:
    """What the nodes cost before and after; None if there are no pools."""
    before = [*_placed(steps, was=True)]
    after = [*_placed(steps, was=False)]
    if not before and not after:
        return None
    wanted: dict[str, set[str]] = defaultdict(set)
    for pool, region in chain(before, after):
        if region:
            wanted[region].add(pool.vm_size)
    if not wanted:
        return Unanswered("no region is known before the update")
    lists = asyncio.run(_ask(wanted, source or PriceSource()))
    known = [prices for prices in lists.values() if isinstance(prices, PriceList)]
    if not known:
        return next(prices for prices in lists.values() if isinstance(prices, Unanswered))
    priced = {placed: _cost(*placed, lists) for placed in chain(before, after)}
    return Costs(
        before=_sum(priced[placed] for placed in before),
        after=_sum(priced[placed] for placed in after),
        currency=known[0].currency,
        source=known[0].name,
        asked_on=known[0].asked_on,
        unpriced=sorted({clean(pool.name) for (pool, _), cost in priced.items() if cost is None}),
    )


async def _ask(wanted: Mapping[str, Iterable[str]], source: PriceSource) -> _Lists:
    lists: dict[str, PriceList | Unanswered] = dict.fromkeys(
        wanted, Unanswered(f"the price list did not answer within {source.seconds:.0f} seconds")
    )
    trust = {"connection_verify": str(source.authorities)} if source.authorities else {}
    try:
        async with asyncio.timeout(source.seconds), price_client(source.url, **trust) as client:
            for region, sizes in wanted.items():
                lists[region] = await ask_prices(client, source.url, region, sizes)
    except TimeoutError:
        pass
    return lists


def _cost(pool: GpuPool, region: str, lists: _Lists) -> Span | None:
    """What a pool costs an hour; None where its nodes or its price are not known."""
    prices = lists.get(region)
    if pool.nodes is None or not isinstance(prices, PriceList):
        return None
    price = prices.price(pool.vm_size, region, spot=pool.spot)
    if price is None or isinstance(price, Unanswered):
        return None
    hourly = Fraction(price.hourly)
    return Span(pool.nodes.least * hourly, pool.nodes.most * hourly)


def _sum(costs: Iterable[Span | None]) -> Span:
    known = [cost for cost in costs if cost]
    return Span(
        sum((cost.least for cost in known), Fraction(0)),
        sum((cost.most for cost in known), Fraction(0)),
    )


def _placed(steps: Collection[Step], *, was: bool) -> Iterator[_Placed]:
    regions = _regions(steps, was=was)
    only = next(iter(regions.values())) if len(set(regions.values())) == 1 else ""
    for step in steps:
        state = step.old if was else step.new
        said = inputs_of(state)
        cluster = _cluster_of(said)
        # Of a cluster that is named and not the stack's, nobody knows the region here.
        region = _region(said.get("location")) or (regions.get(cluster, "") if cluster else only)
        yield from ((pool, region) for pool in all_pools(step.resource, state))


def _regions(steps: Collection[Step], *, was: bool) -> dict[_Cluster, str]:
    """The regions of the clusters, by the names that their pools have of them."""
    found = {}
    for step in steps:
        said = inputs_of(step.old if was else step.new)
        is_cluster = step.resource.type.endswith((":ManagedCluster", ":KubernetesCluster"))
        if is_cluster and (region := _region(said.get("location"))):
            found[_cluster_of(said) or (step.resource.urn, "")] = region
    return found


def _cluster_of(said: Mapping[str, Any]) -> _Cluster | None:
    """The cluster that inputs name, be they its own or its pool's; None where it is not known."""
    group = said.get("resourceGroupName")
    name = said.get("resourceName") or said.get("name")
    if found := _ID.search(str(said.get("kubernetesClusterId"))):
        group, name = found["group"], found["name"]
    elif "kubernetesClusterId" in said:
        return None
    if isinstance(group, str) and isinstance(name, str) and UNKNOWN not in (group, name):
        # Azure's names have no case.
        return group.lower(), name.lower()
    return None


def _region(region: object) -> str:
    """A region as the price list writes it: `East US` is eastus. Empty: not known."""
    text = plain(region) if isinstance(region, str) else ""
    return text if text.isalnum() else ""
