"""Asks Azure for all facts that the questions need, concurrently: one request per fact."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.core.rest import HttpRequest

from aks_catalogue.regions import plain
from aksgpu.outcome import Cause
from aksgpu.preflight import facts, requirements, scores
from aksgpu.preflight.access import Clients, UnreachableError
from aksgpu.preflight.facts import ExistingCluster, Fact, Facts, ReservationGroup, Unanswered
from aksgpu.preflight.pages import MALFORMED, pages
from machine_setup.cache import Say
from provider_kit.errors import explained
from provider_kit.serving import ProviderError
from stack_settings.model import Settings

# Returns the ids of the resources in a stack's state; None if the state cannot be read.
Owned = Callable[[], frozenset[str] | None]

# The time for a request with all its retries, whatever Retry-After says.
SECONDS = 60
_SKUS_VERSION = "2021-07-01"
_NO_SUBSCRIPTION = ("InvalidSubscriptionId", "SubscriptionNotFound")
_CAUSES: Mapping[type[Exception], Cause] = MappingProxyType(
    {
        ClientAuthenticationError: Cause.CREDENTIALS_REFUSED,
        ServiceRequestError: Cause.AZURE_UNREACHABLE,
        ServiceResponseError: Cause.AZURE_UNREACHABLE,
        UnreachableError: Cause.AZURE_UNREACHABLE,
        # A setting for signing in is missing, or a credential is not available.
        ProviderError: Cause.CREDENTIALS_REFUSED,
    }
)


async def ask(settings: Settings, clients: Clients, say: Say) -> Facts:
    """All facts about a stack."""
    tally = _Tally(say)
    group, cluster = settings.resource_group.name, settings.cluster.name
    location = settings.location
    cluster_task = asyncio.ensure_future(tally.ask("cluster", _cluster, clients, group, cluster))
    if settings.cluster.existing and isinstance(existing := await cluster_task, ExistingCluster):
        # Its pools are in its location, whatever the stack file says.
        location = existing.location
    features, needed = requirements.features(settings), requirements.providers(settings)
    pools = requirements.pools(settings)
    reserved = sorted({pool.reservation_group for pool in pools} - {""})
    # One gather for all: when it is cancelled, no request goes on with a closed client.
    answers = await asyncio.gather(
        tally.ask("sizes", _sizes, clients, location),
        tally.ask("quota", _quotas, clients, location),
        tally.ask("versions", _versions, clients, location),
        tally.ask("features", _features, clients, features),
        asyncio.gather(tally.ask("resource group", _group, clients, group), cluster_task),
        asyncio.gather(
            asyncio.gather(*(tally.ask(name, _provider, clients, name) for name in needed)),
            asyncio.gather(
                *(tally.ask("reservations", _reservations, clients, name) for name in reserved)
            ),
        ),
    )
    sizes, quotas, versions, feature_states, (group_id, existing_cluster), others = answers
    providers, reservation_groups = others
    known = Facts(
        location=location,
        subscription=clients.subscription,
        sizes=sizes,
        quotas=quotas,
        versions=versions,
        providers=dict(zip(needed, providers, strict=True)),
        features=feature_states,
        group=group_id,
        cluster=existing_cluster,
        reservation_groups=dict(zip(map(str.lower, reserved), reservation_groups, strict=True)),
    )
    return replace(known, scores=await tally.ask("scores", scores.ask, clients, known, pools))


def why(error: Exception) -> Unanswered:
    """Why there is no answer; of the response only Azure's error message is quoted."""
    if isinstance(error, TimeoutError):
        return Unanswered("no response in time", Cause.UNANSWERED)
    if isinstance(error, MALFORMED):
        what = f"the response is not valid ({type(error).__name__})"
        return Unanswered(what, Cause.UNANSWERED)
    if isinstance(error, HttpResponseError) and _code(error) in _NO_SUBSCRIPTION:
        return Unanswered(explained(error), Cause.CREDENTIALS_REFUSED)
    causes = (cause for kind, cause in _CAUSES.items() if isinstance(error, kind))
    is_forbidden = isinstance(error, HttpResponseError) and error.status_code == 403
    return Unanswered(explained(error), next(causes, Cause.UNANSWERED), is_forbidden)


class _Tally:
    """Shows how many of the questions are answered."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._open: list[str] = []
        self._answered = 0

    async def ask(
        self, what: str, question: Callable[..., Awaitable[Fact]], *about: Any
    ) -> Fact | Unanswered:
        self._open.append(what)
        try:
            async with asyncio.timeout(SECONDS):
                return await question(*about)
        except (AzureError, ProviderError, TimeoutError, *MALFORMED) as error:
            return why(error)
        finally:
            self._open.remove(what)
            self._answered += 1
            waiting = f"; waiting for {', '.join(self._open)}" if self._open else ""
            self._say(f"Azure has answered {self._answered} questions{waiting}")


async def _sizes(clients: Clients, location: str) -> dict[str, facts.OfferedSize]:
    # Not with the SDK's models: there are hundreds, and they take half a second.
    where = f"/subscriptions/{quote(clients.subscription)}/providers/Microsoft.Compute/skus"
    # HttpRequest sends parameters as they are.
    query = {"api-version": _SKUS_VERSION, "$filter": quote(f"location eq '{location}'")}
    listed = pages(clients.compute, HttpRequest("GET", where, params=query), "nextLink")
    return facts.sizes([sku async for page in listed for sku in page["value"]], location)


async def _quotas(clients: Clients, location: str) -> dict[str, facts.Quota]:
    return facts.quotas(await _all(clients.compute.usage.list(location)))


async def _versions(clients: Clients, location: str) -> list[facts.Version]:
    listed = await clients.aks.managed_clusters.list_kubernetes_versions(location)
    return [facts.version(version) for version in listed.values_property or ()]


async def _provider(clients: Clients, namespace: str) -> str:
    return str((await clients.resources.providers.get(namespace)).registration_state or "")


async def _features(clients: Clients, needed: Mapping[str, bool]) -> dict[str, str]:
    """The states of all features in the namespaces of the needed ones."""
    namespaces = sorted({name.partition("/")[0] for name in needed if "/" in name})
    lists = [await _all(clients.features.features.list(namespace)) for namespace in namespaces]
    return {
        plain(str(feature.name)): str(feature.properties.state if feature.properties else "")
        for listed in lists
        for feature in listed
    }


async def _group(clients: Clients, name: str) -> str | None:
    resource_group = await _if_there(clients.resources.resource_groups.get(name))
    return str(resource_group.id) if resource_group else None


async def _cluster(clients: Clients, group: str, name: str) -> ExistingCluster | None:
    managed_cluster = await _if_there(clients.aks.managed_clusters.get(group, name))
    return facts.cluster(managed_cluster) if managed_cluster else None


async def _reservations(clients: Clients, identifier: str) -> ReservationGroup | Unanswered | None:
    _, _, subscription, _, group, _, _, _, name = identifier.split("/")
    if subscription.lower() != clients.subscription.lower():
        return Unanswered("it is in another subscription", Cause.UNANSWERED)
    found = await _if_there(clients.compute.capacity_reservation_groups.get(group, name))
    if found is None:
        return None
    inside = clients.compute.capacity_reservations.list_by_capacity_reservation_group(group, name)
    return facts.reservation_group(str(found.location), await _all(inside))


async def _if_there(question: Awaitable[Fact]) -> Fact | None:
    """The resource, or None if it does not exist. Raises if the subscription does not exist."""
    try:
        return await question
    except ResourceNotFoundError as error:
        if _code(error) in _NO_SUBSCRIPTION:
            raise
        return None


def _code(error: HttpResponseError) -> str | None:
    return error.error.code if error.error is not None else None


async def _all(pages: AsyncIterable[Fact]) -> list[Fact]:
    """Every item of every page."""
    return [item async for item in pages]
