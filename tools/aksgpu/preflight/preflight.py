"""A preflight from start to end: asks Azure, and judges the facts."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from azure.core.exceptions import AzureError

from aksgpu.outcome import Cause, verdict
from aksgpu.preflight import (
    costs,
    existence,
    quota,
    registrations,
    requirements,
    reservations,
    scores,
    sizes,
    versions,
)
from aksgpu.preflight.access import Access, connected
from aksgpu.preflight.costs import Costs
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.price_list import PriceList, ask_prices
from aksgpu.preflight.queries import NoAccessError, Owned, ask, why
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from machine_setup.cache import Say
from provider_kit.serving import ProviderError
from stack_settings.model import Settings

_ADVICE = {
    Cause.CREDENTIALS_REFUSED: "run `az login`. Without the Azure CLI, set a valid ARM_CLIENT_ID "
    "and ARM_CLIENT_SECRET (or ARM_USE_OIDC). `az account list` shows your subscriptions, and "
    "docs/aks-preview.md has all ways to sign in and to select a subscription",
    Cause.AZURE_UNREACHABLE: "check the network and the proxy settings of this machine",
}


@dataclass
class Preflight:
    """What is known so far about a stack; it is kept when a later step fails."""

    stack: str
    location: str = ""
    # Which cloud was asked; empty if none was.
    cloud: str = ""
    subscription: str = ""
    rows: list[Row] = field(default_factory=list)
    costs: Costs | None = None

    @property
    def verdict(self) -> Cause:
        return verdict((row.cause for row in self.rows if row.cause), Cause.READY)

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    def to_json(self) -> dict[str, Any]:
        return {
            "stack": self.stack,
            "cloud": self.cloud or None,
            "location": self.location or None,
            "subscription": self.subscription or None,
            **self.verdict.document(),
            "rows": [row.document() for row in self.rows],
            "costs": self.costs.document() if self.costs else None,
        }


def run(stack: str, settings: Settings, access: Access, owned: Owned, say: Say) -> Preflight:
    """Asks Azure about a stack. `owned` reads the stack's state; it is called only if needed."""
    result = Preflight(stack, settings.location, access.cloud)
    pools = requirements.pools(settings)
    try:
        facts, prices = asyncio.run(_ask(settings, pools, access, say))
    except (AzureError, NoAccessError, ProviderError, TimeoutError) as error:
        failure = error.why if isinstance(error, NoAccessError) else why(error)
        advice = _ADVICE.get(failure.cause, "try again")
        result.rows.append(About("azure").problem(failure.cause, failure.reason, advice))
        return result
    facts = replace(facts, is_rehearsal=access.is_rehearsal)
    if facts.are_names_taken:
        facts = replace(facts, owned=owned())
    result.location, result.subscription = facts.location, facts.subscription
    result.rows += judge(settings, pools, facts, access.today)
    if prices is not None:
        result.costs = costs.costs(pools, prices, facts)
        result.rows += costs.judge(result.costs)
    return result


async def _ask(
    settings: Settings, pools: Sequence[PlannedPool], access: Access, say: Say
) -> tuple[Facts, PriceList | Unanswered | None]:
    say(f"Signing in to {access.cloud}")
    async with connected(access) as clients:
        facts = await ask(settings, pools, clients, say)
        if clients.prices_url is None:
            return facts, None
        names = [costs.name_in_prices(pool, facts) for pool in pools]
        say("Reading the price list")
        return facts, await ask_prices(clients.prices, clients.prices_url, facts.location, names)


def judge(settings: Settings, pools: Sequence[PlannedPool], facts: Facts, today: date) -> list[Row]:
    """All answers except those about prices, as of a day."""
    order = {"": -1} | {pool.name: position for position, pool in enumerate(pools)}
    rows = _answers(settings, pools, facts, today)
    # Answers about the whole stack come first, then pool by pool.
    return sorted(rows, key=lambda row: order[row.pool])


def _answers(
    settings: Settings, pools: Sequence[PlannedPool], facts: Facts, today: date
) -> Iterator[Row]:
    yield from existence.judge(settings, pools, facts)
    yield from versions.judge(settings, pools, facts)
    yield from registrations.providers(facts)
    yield from registrations.features(settings, pools, facts)
    yield from sizes.judge(pools, facts, today)
    yield from quota.judge(pools, facts)
    yield from reservations.judge(pools, facts)
    yield from scores.judge(pools, facts)
