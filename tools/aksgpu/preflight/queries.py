"""Asks Azure for all facts that the questions need: one request per fact."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
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
from aksgpu.preflight.facts import Fact, Facts, Quota, Unanswered
from aksgpu.preflight.pages import MALFORMED, pages
from aksgpu.preflight.requirements import PlannedPool
from machine_setup.cache import Say
from provider_kit.errors import explained
from provider_kit.serving import ProviderError
from stack_settings.model import Settings

if TYPE_CHECKING:
    from azure.mgmt.containerservice.models import KubernetesVersion, ManagedCluster

# Returns the ids of the resources in a stack's state; None if the state cannot be read.
Owned = Callable[[], frozenset[str] | None]

# The time for a request with all its retries, whatever Retry-After says.
SECONDS = 60
_SKUS_VERSION, _RESERVATIONS_VERSION = "2021-07-01", "2024-07-01"
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


class NoAccessError(Exception):
    """Azure answers nothing here."""

    def __init__(self, why: Unanswered) -> None:
        super().__init__(why.reason)
        self.why = why


async def ask(
    settings: Settings, planned: Sequence[PlannedPool], clients: Clients, say: Say
) -> Facts:
    """All facts about a stack. Raises NoAccessError if the first question is not answered."""
    group, name = settings.resource_group.name, settings.cluster.name
    cluster = await _answer(_cluster(clients, group, name))
    location = settings.location
    if isinstance(cluster, Unanswered):
        if cluster.cause in (Cause.CREDENTIALS_REFUSED, Cause.AZURE_UNREACHABLE):
            raise NoAccessError(cluster)
    elif cluster and settings.cluster.existing:
        # Its pools are in its location, whatever the stack file says.
        location = plain(str(cluster.location))
    providers = requirements.providers(settings)
    reserved = {each.pool.text("capacityReservationGroupID").lower() for each in planned} - {""}
    questions: dict[str, Awaitable[Any]] = {
        "sizes": _sizes(clients, location),
        "quotas": _quotas(clients, location),
        "versions": _versions(clients, location),
        "features": _features(clients, requirements.features(settings, planned)),
        "group": _group(clients, group),
        **{name: _provider(clients, name) for name in providers},
        **{group: _reservation_group(clients, group) for group in reserved},
    }
    say(f"Azure is asked {len(questions) + 1} questions")
    # One gather for all: when it is cancelled, no request goes on with a closed client.
    answered = await asyncio.gather(*map(_answer, questions.values()))
    answers: dict[str, Any] = dict(zip(questions, answered, strict=True))
    known = Facts(
        location=location,
        subscription=clients.subscription,
        cluster=cluster,
        providers={name: answers[name] for name in providers},
        reservation_groups={group: answers[group] for group in reserved},
        sizes=answers["sizes"],
        quotas=answers["quotas"],
        versions=answers["versions"],
        features=answers["features"],
        group=answers["group"],
    )
    return replace(known, scores=await _answer(scores.ask(clients, known, planned)))


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


async def _answer(question: Awaitable[Fact]) -> Fact | Unanswered:
    try:
        async with asyncio.timeout(SECONDS):
            return await question
    except (AzureError, ProviderError, TimeoutError, *MALFORMED) as error:
        return why(error)


async def _sizes(clients: Clients, location: str) -> dict[str, facts.OfferedSize]:
    # Not with the SDK's models: there are hundreds, and they take a second.
    where = f"/subscriptions/{quote(clients.subscription)}/providers/Microsoft.Compute/skus"
    # HttpRequest sends parameters as they are.
    query = {"api-version": _SKUS_VERSION, "$filter": quote(f"location eq '{location}'")}
    listed = pages(clients.compute, HttpRequest("GET", where, params=query), "nextLink")
    return facts.sizes([sku async for page in listed for sku in page["value"]], location)


async def _quotas(clients: Clients, location: str) -> dict[str, Quota]:
    usages = await _all(clients.compute.usage.list(location))
    return {
        plain(str(usage.name.value)): Quota(
            name=str(usage.name.value), limit=int(usage.limit), used=int(usage.current_value)
        )
        for usage in usages
    }


async def _versions(clients: Clients, location: str) -> "list[KubernetesVersion]":
    listed = await clients.aks.managed_clusters.list_kubernetes_versions(location)
    return listed.values_property or []


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


async def _cluster(clients: Clients, group: str, name: str) -> "ManagedCluster | None":
    return await _if_there(clients.aks.managed_clusters.get(group, name))


async def _reservation_group(clients: Clients, identifier: str) -> str | None:
    """The region of a capacity reservation group, which can be in another subscription."""
    asked = clients.resources.resources.get_by_id(
        identifier.removeprefix("/"), api_version=_RESERVATIONS_VERSION
    )
    found = await _if_there(asked)
    return plain(str(found.location)) if found else None


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
