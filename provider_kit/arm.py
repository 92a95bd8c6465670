"""Azure Resource Manager: resources by their ids, and operations until they end."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

from provider_kit.azure_cloud import azure_cloud, azure_credential
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.errors import FailedError, because, explained, official, reasons
from provider_kit.exchange import Answer, Delivery, Exchange, Patience
from provider_kit.serving import ProviderError
from provider_kit.waiting import due, last_reason, pauses, wait_because_of

Result = TypeVar("Result")
Method = Literal["PUT", "PATCH", "DELETE"]

# What a path may have beside letters and digits.
_IN_PATHS = "/~()!*'@:$&+,;=-._"
_OPERATION = "Azure-AsyncOperation"
_FAILED = frozenset({"failed", "canceled", "cancelled"})
_ENDED = _FAILED | {"succeeded"}
_PAUSES = 1.0, 30.0
_LOOKS_AFTER_THE_END = 5
_LONGEST_PAUSE_OF_AZURE = 60.0


class NotFoundError(ProviderError):
    """ARM answered 404, of whatever kind."""

    def __init__(self, reason: str, said: str) -> None:
        super().__init__(reason)
        # The code and message, where it is Azure that answered.
        self.said = said


@dataclass(frozen=True)
class Accepted:
    """A request that ARM has accepted."""

    method: Method
    resource_id: str
    api_version: str
    answer: Answer


class Arm:
    """One subscription. It signs in when first needed: a preview of new resources has no need to.

    `explain` puts Azure's failures in the provider's words.
    """

    def __init__(
        self,
        cancellation: Cancellation,
        explain: Callable[[BaseException], str] = explained,
        patience: Patience = Patience(),  # noqa: B008 (it cannot change)
    ) -> None:
        self.configuration = Configuration(MappingProxyType({}))
        self._cancellation = cancellation
        self._explain = explain
        self._patience = patience
        self._exchange: asyncio.Task[Exchange] | None = None

    @property
    def subscription(self) -> str:
        return self.configuration.required("subscriptionId")

    def require(self, resource_id: str) -> None:
        """Refuses a resource of another subscription, which would seem to be gone from here.

        A preview may not know yet which one is configured.
        """
        own = self.configuration.text("subscriptionId")
        if own and not resource_id.lower().startswith(f"/subscriptions/{own}/".lower()):
            raise ProviderError(
                f"{resource_id} is not in the configured subscription, {own}. Set "
                "subscriptionId, or ARM_SUBSCRIPTION_ID, to the subscription of the resource."
            )

    async def exchange(self) -> Exchange:
        """Returns the one that all resources share.

        If there is no way to Azure, all of them fail: one has asked for all.
        """
        if self._exchange is None:
            self._exchange = asyncio.create_task(self._opened())
        return await self._cancellation.watch(asyncio.shield(self._exchange))

    async def _opened(self) -> Exchange:
        self.configuration.required("subscriptionId")
        cloud = await azure_cloud(self.configuration)
        credential = azure_credential(cloud, self.configuration)
        base = cloud.resource_manager
        return Exchange(base, credential, cloud.scope, self._cancellation, self._patience)

    async def close(self) -> None:
        if self._exchange is not None and self._exchange.done():
            with suppress(ProviderError):
                await self._exchange.result().close()

    @asynccontextmanager
    async def failing(self, until: float | None) -> AsyncIterator[None]:
        """Raises ProviderError where Azure fails, or where it is not done in time."""
        try:
            async with due(until):
                yield
        except TimeoutError as error:
            reason = last_reason()
            last = f"\nLast reason for waiting: {reason}" if reason else ""
            raise ProviderError(self._explain(error) + last) from error
        except AzureError as error:
            reason = self._explain(error)
            if isinstance(error, HttpResponseError) and error.status_code == 404:
                raise NotFoundError(reason, official(error.response)) from error
            raise ProviderError(reason) from error

    async def send(
        self,
        method: str,
        path: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        delivery: Delivery | None = None,
    ) -> Answer:
        """Returns an answer of success to one request; raises Azure's own errors."""
        exchange = await self.exchange()
        return await exchange.ask(
            method,
            quote(path, safe=_IN_PATHS),
            parameters={"api-version": api_version},
            body=body,
            headers=headers,
            delivery=delivery,
        )

    async def look(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any]:
        """Returns a resource as ARM answers it, also in the seconds after a cancellation."""
        async with self.failing(until):
            sent = self.send("GET", resource_id, api_version)
            return _resource(await self._cancellation.answered(sent), resource_id)

    async def watched(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The work's result, unless the update is cancelled before."""
        return await self._cancellation.watch(work)

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """Returns a resource as ARM answers it; None if that is a 404, of whatever kind."""
        try:
            return await self._cancellation.watch(self.look(resource_id, api_version, until))
        except NotFoundError:
            return None

    async def begin(
        self,
        method: Method,
        resource_id: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        delivery: Delivery | None = None,
    ) -> Accepted:
        """Returns once ARM has accepted a request. Raises Azure's own errors, to be tried again.

        `finish` waits for what the request does.
        """
        answer = await self.send(method, resource_id, api_version, body, headers, delivery)
        return Accepted(method, resource_id, api_version, answer)

    async def finish(self, accepted: Accepted, until: float | None = None) -> dict[str, Any]:
        """Returns the resource, once what was accepted is done; of a DELETE, nothing."""
        async with self.failing(until):
            return await self._cancellation.watch(self._finished(accepted))

    async def _finished(self, accepted: Accepted) -> dict[str, Any]:
        has_ended = await self._has_ended(accepted)
        if accepted.method == "DELETE":
            return {}
        # Where no operation has ended, the resource's own state tells; a resource may show the end
        # of one late, or already what somebody else has begun.
        looks = _LOOKS_AFTER_THE_END if has_ended else math.inf
        resource = None if has_ended else _resource_in(accepted)
        pause = accepted.answer.pause
        waits = pauses(*_PAUSES)
        while resource is None or (looks > 0 and state_of(resource).lower() not in _ENDED):
            if resource is not None:
                await asyncio.sleep(_pause(pause, waits))
            answer = await self.send("GET", accepted.resource_id, accepted.api_version)
            resource, pause = _resource(answer, accepted.resource_id), answer.pause
            looks -= 1
        if state_of(resource).lower() in _FAILED:
            raise FailedError(because(f"It ended as {state_of(resource)}", resource))
        return resource

    async def _has_ended(self, accepted: Accepted) -> bool:
        """Waits for the operation that ARM has named; False if there is none that tells its end."""
        answer, exchange, waits = accepted.answer, await self.exchange(), pauses(*_PAUSES)
        is_known = _OPERATION in answer.headers
        url = answer.headers.get(_OPERATION) or (
            answer.headers.get("Location") if answer.status == 202 else None
        )
        while url:
            if not exchange.is_own(url):
                address = url.partition("?")[0]
                await wait_because_of(
                    f"ignoring the operation's address {address}, which is not in this Azure cloud."
                )
                return False
            await asyncio.sleep(_pause(answer.pause, waits))
            try:
                answer = await exchange.ask("GET", url)
            except ClientAuthenticationError:
                raise
            except AzureError as error:
                # Its operation may be forgotten, or be hidden: the resource is asked in its place.
                await wait_because_of(self._explain(error))
                return False
            if not is_known and answer.status != 202:
                return True
            said = answer.content if isinstance(answer.content, dict) else {}
            status = str(said.get("status") or "")
            if is_known and not status and answer.status != 202:
                return False
            if status.lower() in _FAILED:
                raise await self._failure(accepted, status, answer)
            if is_known and status.lower() in _ENDED:
                return True
            url = answer.headers.get(_OPERATION if is_known else "Location") or url
        return False

    async def _failure(self, accepted: Accepted, status: str, answer: Answer) -> FailedError:
        """Why an operation failed: as it says, or else as the resource does."""
        said = answer.content
        if not list(reasons(said)):
            with suppress(AzureError):
                resource = await self.send("GET", accepted.resource_id, accepted.api_version)
                said = resource.content
        return FailedError(because(f"It ended as {status}", said), answer.response)


def _pause(said: float | None, waits: Iterator[float]) -> float:
    """Seconds before the next question: Azure may say long ones of what is soon done."""
    return min(said, _LONGEST_PAUSE_OF_AZURE) if said else next(waits)


def _resource(answer: Answer, resource_id: str) -> dict[str, Any]:
    """Returns the resource in an answer; raises AzureError if it is something else."""
    content = answer.content
    if not isinstance(content, dict):
        raise AzureError(because(f"Azure answered {answer.status} without a resource", answer.text))
    named = str(content.get("id") or "")
    if named.casefold() != resource_id.casefold():
        other = f"with {named}" if named else "without an id"
        raise AzureError(f"Azure answered {answer.status} {other}, asked for {resource_id}.")
    if not isinstance(content.get("properties", {}), dict | None):
        raise AzureError(f"Azure answered {answer.status} with invalid properties.")
    return content


def _resource_in(accepted: Accepted) -> dict[str, Any] | None:
    with suppress(AzureError):
        return _resource(accepted.answer, accepted.resource_id)
    return None


def state_of(resource: Mapping[str, Any]) -> str:
    """How far a resource is; one that says nothing is done."""
    return str((resource.get("properties") or {}).get("provisioningState") or "Succeeded")
