"""Asks Azure everything that the questions need, side by side: one request a fact."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
)

from aksgpu.outcome import Cause
from aksgpu.preflight import facts, wanted
from aksgpu.preflight.access import Clients, UnreachableError
from aksgpu.preflight.facts import ExistingCluster, Fact, Facts, Unanswered
from catalogue.regions import plain
from engine.cache import Say
from provider_kit.errors import explained
from provider_kit.serving import ProviderError
from settings import Settings

# Gives the ids of all that a stack's state has; None where the state cannot be read.
Owned = Callable[[], frozenset[str] | None]

# Somebody is waiting: a question has as long, with all its repetitions, whatever Azure asks for.
SECONDS = 60
# What comes of an answer that is none of Azure's: a gateway's, or cut off.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_NO_SUBSCRIPTION = ("InvalidSubscriptionId", "SubscriptionNotFound")
_CAUSES: Mapping[type[Exception], Cause] = MappingProxyType(
    {
        ClientAuthenticationError: Cause.CREDENTIALS_REFUSED,
        ServiceRequestError: Cause.AZURE_UNREACHABLE,
        ServiceResponseError: Cause.AZURE_UNREACHABLE,
        UnreachableError: Cause.AZURE_UNREACHABLE,
        # What is not configured of the way to sign in, or cannot be had.
        ProviderError: Cause.CREDENTIALS_REFUSED,
    }
)


async def ask(settings: Settings, clients: Clients, say: Say) -> Facts:
    """All facts of a stack."""
    tally = _Tally(say)
    group, cluster = settings.resource_group.name, settings.cluster.name
    location = settings.location
    found = asyncio.ensure_future(tally.ask("cluster", _cluster, clients, group, cluster))
    if settings.cluster.existing and isinstance(existing := await found, ExistingCluster):
        # Its pools are where it is, whatever the stack file calls its location.
        location = existing.location
    features = wanted.features(settings)
    # Waited for together: what is interrupted must not go on asking with clients that are closed.
    answers = await asyncio.gather(
        tally.ask("sizes", _sizes, clients, location),
        tally.ask("quota", _quotas, clients, location),
        tally.ask("versions", _versions, clients, location),
        tally.ask("features", _features, clients, features),
        asyncio.gather(tally.ask("resource group", _group, clients, group), found),
        asyncio.gather(*(tally.ask(name, _provider, clients, name) for name in wanted.PROVIDERS)),
    )
    sizes, quotas, versions, known, (there, own), providers = answers
    return Facts(
        location=location,
        subscription=clients.subscription,
        sizes=sizes,
        quotas=quotas,
        versions=versions,
        providers=dict(zip(wanted.PROVIDERS, providers, strict=True)),
        features=known,
        group=there,
        cluster=own,
    )


def why(error: Exception) -> Unanswered:
    """Why there is no answer, in words without anything of the exchange but Azure's own."""
    if isinstance(error, TimeoutError):
        return Unanswered("there was no answer in time", Cause.UNANSWERED)
    if isinstance(error, MALFORMED):
        what = f"the answer is not as Azure's are ({type(error).__name__})"
        return Unanswered(what, Cause.UNANSWERED)
    if isinstance(error, HttpResponseError) and _code(error) in _NO_SUBSCRIPTION:
        return Unanswered(explained(error), Cause.CREDENTIALS_REFUSED)
    found = (cause for kind, cause in _CAUSES.items() if isinstance(error, kind))
    return Unanswered(explained(error), next(found, Cause.UNANSWERED))


class _Tally:
    """Tells how many of the questions have been answered."""

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
    skus = clients.compute.resource_skus.list(filter=f"location eq '{location}'")
    return facts.sizes(await _all(skus), location)


async def _quotas(clients: Clients, location: str) -> dict[str, facts.Quota]:
    return facts.quotas(await _all(clients.compute.usage.list(location)))


async def _versions(clients: Clients, location: str) -> list[facts.Version]:
    listed = await clients.aks.managed_clusters.list_kubernetes_versions(location)
    return [facts.version(version) for version in listed.values_property or ()]


async def _provider(clients: Clients, namespace: str) -> str:
    return str((await clients.resources.providers.get(namespace)).registration_state or "")


async def _features(clients: Clients, needed: Mapping[str, bool]) -> dict[str, str]:
    """The states of the features of those namespaces that any is needed of."""
    namespaces = sorted({name.partition("/")[0] for name in needed if "/" in name})
    lists = [await _all(clients.features.features.list(namespace)) for namespace in namespaces]
    return {
        plain(str(feature.name)): str(feature.properties.state if feature.properties else "")
        for listed in lists
        for feature in listed
    }


async def _group(clients: Clients, name: str) -> str | None:
    found = await _if_there(clients.resources.resource_groups.get(name))
    return str(found.id) if found else None


async def _cluster(clients: Clients, group: str, name: str) -> ExistingCluster | None:
    found = await _if_there(clients.aks.managed_clusters.get(group, name))
    return facts.cluster(found) if found else None


async def _if_there(question: Awaitable[Fact]) -> Fact | None:
    """That something is not there is an answer; that the subscription is not, is none."""
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
