"""Reads, creates and deletes resources of Azure Resource Manager, and waits for operations."""

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
from provider_kit.errors import FailedError, because, explained, official, reasons, said
from provider_kit.exchange import Answer, Delivery, Exchange, Patience
from provider_kit.serving import ProviderError
from provider_kit.waiting import deadline, last_reason, pauses, wait_because_of

Result = TypeVar("Result")
Method = Literal["PUT", "PATCH", "DELETE"]

# The characters of a path, besides letters and digits.
_IN_PATHS = "/~()!*'@:$&+,;=-._"
_OPERATION = "Azure-AsyncOperation"
_FAILED = frozenset({"failed", "canceled", "cancelled"})
_ENDED = _FAILED | {"succeeded"}
_PAUSES = 1.0, 30.0
_LOOKS_AFTER_THE_END = 5
_LONGEST_PAUSE_OF_AZURE = 60.0


class NotFoundError(ProviderError):
    """The response has status 404, with any error code."""

    def __init__(self, reason: str, azure_message: str) -> None:
        super().__init__(reason)
        # The code and message, if the response is from Azure.
        self.azure_message = azure_message


@dataclass(frozen=True)
class Accepted:
    """A request that ARM has accepted."""

    method: Method
    resource_id: str
    api_version: str
    answer: Answer


class Arm:
    """The Resource Manager of one subscription. Signs in at the first request.

    `explain` returns the provider's message for an error of Azure.
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
        """Refuses a resource of another subscription, which would look like a deleted one.

        In a preview, the configured subscription can be unknown.
        """
        subscription = self.configuration.text("subscriptionId")
        prefix = f"/subscriptions/{subscription}/"
        if subscription and not resource_id.lower().startswith(prefix.lower()):
            raise ProviderError(
                f"{resource_id} is not in the configured subscription, {subscription}. Set "
                "subscriptionId, or ARM_SUBSCRIPTION_ID, to the subscription of the resource."
            )

    async def exchange(self) -> Exchange:
        """Returns the exchange that all resources share; if it cannot sign in, all of them fail."""
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
        """Raises ProviderError if a request fails, or exceeds the deadline."""
        try:
            async with deadline(until):
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
        """Returns the successful response to one request. Raises Azure's errors."""
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
        """Returns a resource as ARM returns it, also in the seconds after a cancellation."""
        async with self.failing(until):
            request = self.send("GET", resource_id, api_version)
            return _resource(await self._cancellation.answered(request), resource_id)

    async def watched(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Returns the work's result. Raises CancelledUpdateError at a cancellation."""
        return await self._cancellation.watch(work)

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """Returns a resource as ARM returns it; None for any 404."""
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
        """Returns when ARM has accepted a request. `finish` waits for its operation.

        Raises Azure's errors, so that callers can retry.
        """
        answer = await self.send(method, resource_id, api_version, body, headers, delivery)
        return Accepted(method, resource_id, api_version, answer)

    async def finish(self, accepted: Accepted, until: float | None = None) -> dict[str, Any]:
        """Waits for the operation, and returns the resource; empty after a DELETE."""
        async with self.failing(until):
            return await self._cancellation.watch(self._finished(accepted))

    async def _finished(self, accepted: Accepted) -> dict[str, Any]:
        has_ended = await self._has_ended(accepted)
        if accepted.method == "DELETE":
            return {}
        # Without an operation, wait for the state of the resource. It can lag behind the operation,
        # or show a later operation of another client.
        looks = _LOOKS_AFTER_THE_END if has_ended else math.inf
        # For a time, Azure can answer 404 for what it has accepted.
        absences = _LOOKS_AFTER_THE_END
        resource = None if has_ended else _resource_in(accepted)
        pause = accepted.answer.pause
        waits = pauses(*_PAUSES)
        while resource is None or (looks > 0 and state_of(resource).lower() not in _ENDED):
            if resource is not None:
                await asyncio.sleep(_pause(pause, waits))
            try:
                answer = await self.send("GET", accepted.resource_id, accepted.api_version)
            except HttpResponseError as error:
                if error.status_code != 404 or absences == 0:
                    raise
                absences -= 1
                await wait_because_of(self._explain(error))
                await asyncio.sleep(next(waits))
                continue
            resource, pause = _resource(answer, accepted.resource_id), answer.pause
            looks -= 1
        if state_of(resource).lower() in _FAILED:
            raise FailedError(because(f"It ended as {state_of(resource)}", resource))
        return resource

    async def _without_operation(self, error: AzureError) -> None:
        """Goes on where the operation is deleted or not readable: the resource tells its end."""
        await wait_because_of(self._explain(error))

    async def _has_ended(self, accepted: Accepted) -> bool:
        """Waits for the operation of a request; False if no operation reports its end."""
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
                await self._without_operation(error)
                return False
            if not is_known and answer.status != 202:
                return True
            operation = answer.content if isinstance(answer.content, dict) else {}
            status = str(operation.get("status") or "")
            if is_known and not status and answer.status != 202:
                return False
            if status.lower() in _FAILED:
                raise await self._failure(accepted, status, answer)
            if is_known and status.lower() in _ENDED:
                return True
            url = answer.headers.get(_OPERATION if is_known else "Location") or url
        return False

    async def _failure(self, accepted: Accepted, status: str, answer: Answer) -> FailedError:
        """Returns the error of a failed operation, with its reason or the resource's."""
        content = answer.content
        if not reasons(content):
            with suppress(AzureError):
                resource = await self.send("GET", accepted.resource_id, accepted.api_version)
                content = resource.content
        return FailedError(because(f"It ended as {status}", content), answer.response)


def _pause(retry_after: float | None, waits: Iterator[float]) -> float:
    """Returns the seconds before the next poll: Azure's can be much longer than needed."""
    return min(retry_after, _LONGEST_PAUSE_OF_AZURE) if retry_after else next(waits)


def _resource(answer: Answer, resource_id: str) -> dict[str, Any]:
    """Returns the resource in an answer; raises AzureError if it is something else."""
    content = answer.content
    if not isinstance(content, dict):
        instead = said(answer.text) or "nothing"
        raise AzureError(f"Azure answered {answer.status} with {instead} instead of a resource.")
    actual_id = str(content.get("id") or "")
    if actual_id.casefold() != resource_id.casefold():
        other = f"with {actual_id}" if actual_id else "without an id"
        raise AzureError(f"Azure answered {answer.status} {other}, asked for {resource_id}.")
    if not isinstance(content.get("properties", {}), dict | None):
        raise AzureError(f"Azure answered {answer.status} with invalid properties.")
    return content


def _resource_in(accepted: Accepted) -> dict[str, Any] | None:
    with suppress(AzureError):
        return _resource(accepted.answer, accepted.resource_id)
    return None


def state_of(resource: Mapping[str, Any]) -> str:
    """Returns the provisioning state of a resource; Succeeded if it has none."""
    return str((resource.get("properties") or {}).get("provisioningState") or "Succeeded")
