"""Azure Resource Manager: its resources, and the operations on them, by Azure's own SDK.

Client, retries, registration of resource providers and poller are those of azure-core and
azure-mgmt-core. This module adds what they do not tell: what Azure has accepted, refused, or
perhaps received.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

import aiohttp
from azure.core.exceptions import AzureError, DecodeError, HttpResponseError
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import (
    AsyncRetryPolicy,
    RequestIdPolicy,
    SansIOHTTPPolicy,
    UserAgentPolicy,
)
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.polling import AsyncLROPoller
from azure.core.rest import HttpRequest
from azure.mgmt.core import AsyncARMPipelineClient
from azure.mgmt.core.exceptions import ARMErrorFormat
from azure.mgmt.core.policies import (
    AsyncARMAutoResourceProviderRegistrationPolicy,
    AsyncARMChallengeAuthenticationPolicy,
)
from azure.mgmt.core.polling.async_arm_polling import AsyncARMPolling

from provider_kit.azure_cloud import azure_cloud, azure_credential
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.errors import FailedError, advised, code_of, explained, reason_in
from provider_kit.serving import ProviderError
from provider_kit.waiting import pauses, wait_because_of

Method = Literal["PUT", "PATCH", "POST", "DELETE"]
Headers = Mapping[str, str]
# The body and the headers of a request, made anew for each try.
Request = Callable[[], Awaitable[tuple[Mapping[str, Any] | None, Headers]]]

# The characters of a path, besides letters and digits.
_IN_PATHS = "/~()!*'@:$&+,;=-._"
# The error codes of ARM and AKS for what does not exist. Any other 404 proves nothing: it can be
# another tenant, an API version that does not exist, or a proxy.
_GONE = frozenset(
    {
        "AgentPoolNotFound",
        # A preview feature that Azure has given up.
        "FeatureNotFound",
        "ManagedClusterNotFound",
        "NotFound",
        "ParentResourceNotFound",
        "ResourceGroupNotFound",
        "ResourceNotFound",
    }
)
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
_FAILED = frozenset({"failed", "canceled"})
_ENDED = _FAILED | {"succeeded"}
_PAUSES = 0.5, 30.0
_LONGEST_PAUSE_OF_AZURE = 120.0
# For a time, Azure can answer 404 for what it has accepted, and its state lags.
_LOOKS_AFTER_THE_END = 5
# AKS does not say how long to wait before the next poll.
_SECONDS_BETWEEN_POLLS = 10


class NotFoundError(ProviderError):
    """The response has status 404."""

    def __init__(self, reason: str, *, is_gone: bool) -> None:
        super().__init__(reason)
        # Whether the error code says that the resource, or what it is in, does not exist.
        self.is_gone = is_gone


@dataclass
class Change:
    """A request that changes something, and what is known about it."""

    method: Method
    resource_id: str
    api_version: str
    request: Request
    # Whether an error lasts only as long as something else in Azure.
    is_busy: Callable[[HttpResponseError], bool] = lambda _: False
    # Whether Azure may have received it, and no response has refused it.
    is_unclear: bool = False
    # The SDK's response if ARM has accepted it: the poller goes on from there.
    accepted: Any = None


class _Sending(SansIOHTTPPolicy[Any, Any]):
    """Notes that Azure may receive a request, after everything else that can fail.

    After a cancellation, only GET requests are sent.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation

    def on_request(self, request: PipelineRequest[Any]) -> None:
        change = request.context.options.pop("change", None)
        if request.http_request.method != "GET":
            self._cancellation.require_none()
        if change is not None:
            change.is_unclear = True


class _Transport(AioHttpTransport):  # type: ignore[misc]
    async def open(self) -> None:
        await super().open()
        # Otherwise aiohttp silently sends a PUT again if a reused connection breaks.
        self.session._retry_connection = False


class Arm:
    """The Resource Manager of one subscription. Signs in at the first request.

    `explain` returns the provider's message for an error of Azure.
    """

    # For how often a request is repeated after a temporary error: some five to ten minutes.
    retries = 25

    def __init__(
        self,
        cancellation: Cancellation,
        explain: Callable[[BaseException], str] = explained,
    ) -> None:
        self.configuration = Configuration(MappingProxyType({}))
        self._cancellation = cancellation
        self._explain = explain
        self._client: asyncio.Task[Any] | None = None

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

    async def client(self) -> Any:
        """Returns the client that all resources share; if it cannot sign in, all of them fail."""
        if self._client is None:
            self._client = asyncio.create_task(self._opened())
        return await self._cancellation.watch(asyncio.shield(self._client))

    async def _opened(self) -> Any:
        self.configuration.required("subscriptionId")
        cloud = await azure_cloud(self.configuration)
        credential = azure_credential(cloud, self.configuration)
        policies = [
            RequestIdPolicy(),
            UserAgentPolicy("aks-gpu"),
            AsyncRetryPolicy(
                retry_total=self.retries,
                retry_status=self.retries,
                retry_connect=min(self.retries, 6),
                retry_read=min(self.retries, 6),
                retry_backoff_factor=0.5,
                retry_backoff_max=15,
            ),
            # Below the retries: its second try of a request has to be the last one, too.
            AsyncARMAutoResourceProviderRegistrationPolicy(),
            AsyncARMChallengeAuthenticationPolicy(credential, cloud.scope),
            _Sending(self._cancellation),
        ]
        return AsyncARMPipelineClient(
            cloud.resource_manager, policies=policies, transport=_Transport(connection_timeout=30)
        )

    @asynccontextmanager
    async def failing(self, until: float | None) -> AsyncIterator[None]:
        """Raises ProviderError if a request fails, or exceeds the deadline."""
        try:
            async with asyncio.timeout_at(until):
                yield
        except HttpResponseError as error:
            if error.status_code != 404:
                raise ProviderError(self._explain(error)) from error
            raise NotFoundError(self._explain(error), is_gone=code_of(error) in _GONE) from error
        except (AzureError, TimeoutError) as error:
            raise ProviderError(self._explain(error)) from error

    async def send(
        self,
        method: str,
        path: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        headers: Headers = MappingProxyType({}),
        **options: Any,
    ) -> Any:
        """Returns the SDK's response to a request. Raises Azure's errors."""
        client = await self.client()
        request = HttpRequest(
            method,
            client.format_url(quote(path, safe=_IN_PATHS)),
            params={"api-version": api_version},
            headers={"Accept": "application/json", **headers},
            json=body,
        )
        answer = await client.send_request(request, _return_pipeline_response=True, **options)
        if answer.http_response.status_code >= 300:
            raise HttpResponseError(response=answer.http_response, error_format=ARMErrorFormat)
        return answer

    async def content(self, method: str, path: str, api_version: str) -> dict[str, Any]:
        """Returns the JSON object in the response to a request without a body."""
        answer = await self.send(method, path, api_version)
        content = _content(answer)
        if not isinstance(content, dict):
            status = answer.http_response.status_code
            raise AzureError(f"Azure answered {status} to {method} {path} without a JSON object.")
        return content

    async def look(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any]:
        """Returns a resource as ARM returns it, also in the seconds after a cancellation."""
        async with self.failing(until):
            request = self.content("GET", resource_id, api_version)
            return await self._cancellation.answered(request)

    async def find(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """Returns a resource as ARM returns it; None if it certainly does not exist."""
        try:
            return await self._cancellation.watch(self.look(resource_id, api_version, until))
        except NotFoundError as error:
            if error.is_gone:
                return None
            raise ProviderError(
                f"Whether {resource_id} exists is unknown, so the state stays as it is: {error}"
            ) from error

    async def pause(self, seconds: float, until: float | None) -> None:
        """Waits for some time, unless the update is cancelled or its deadline comes first."""
        async with self.failing(until):
            await self._cancellation.watch(asyncio.sleep(seconds))

    async def change(self, change: Change, until: float | None = None) -> dict[str, Any]:
        """Sends a request, waits for its operation, and returns the resource of a PUT or PATCH.

        Repeats the request while `is_busy`, and some times after temporary errors. A cancellation
        stops the waiting at once, and a running request after seconds.
        """
        async with self.failing(until):
            await self._accept(change)
            return await self._cancellation.watch(self._finished(change))

    async def _accept(self, change: Change) -> None:
        """Returns when ARM has accepted a request. Raises Azure's errors."""
        place = change.method, change.resource_id, change.api_version
        waits, tried = pauses(*_PAUSES), 0
        while True:
            body, headers = await change.request()
            before = change.is_unclear
            sent = self.send(*place, body, headers, retry_total=0, change=change)
            try:
                change.accepted = await self._cancellation.answered(sent)
            except AzureError as error:
                change.is_unclear &= before or _may_have_arrived(error)
                waits_for_another = isinstance(error, HttpResponseError) and change.is_busy(error)
                tried += not waits_for_another
                if not waits_for_another and (tried > self.retries or not _is_temporary(error)):
                    raise
                await wait_because_of(self._explain(error))
                pause = _asked_pause(error) or next(waits)
            else:
                return
            await self._cancellation.watch(asyncio.sleep(pause))

    async def _finished(self, change: Change) -> dict[str, Any]:
        client, method = await self.client(), AsyncARMPolling(_SECONDS_BETWEEN_POLLS)
        looks: float = _LOOKS_AFTER_THE_END
        resource: Any = None
        try:
            resource = await AsyncLROPoller(client, change.accepted, _content, method).result()
        except (AzureError, ValueError, AttributeError) as error:
            response = getattr(error, "response", None)
            _require_success(_json(response), response)
            await self._without_operation(error)
            looks = math.inf
        if change.method in ("DELETE", "POST"):
            return {}
        # The state of the resource can lag behind its operation, or be that of a later operation
        # of another client.
        absences, waits = _LOOKS_AFTER_THE_END, pauses(*_PAUSES)
        while not resource or (looks > 0 and state_of(resource).lower() not in _ENDED):
            if resource is not None:
                await asyncio.sleep(next(waits))
            looks -= 1
            try:
                resource = await self.content("GET", change.resource_id, change.api_version)
            except HttpResponseError as error:
                if error.status_code != 404 or absences == 0:
                    raise
                absences -= 1
                resource = {}
        _require_success(resource)
        return dict(resource)

    async def _without_operation(self, error: Exception) -> None:
        """Goes on where the operation is deleted or not readable: the resource tells its end."""
        await wait_because_of(self._explain(error))


def unchanged(body: Mapping[str, Any] | None = None) -> Request:
    """Returns a request that is the same for each try."""

    async def request() -> tuple[Mapping[str, Any] | None, Headers]:
        return body, {}

    return request


def state_of(resource: Mapping[str, Any]) -> str:
    """Returns the provisioning state of a resource; Succeeded if it has none."""
    return str((resource.get("properties") or {}).get("provisioningState") or "Succeeded")


def _require_success(content: Any, response: Any = None) -> None:
    """Raises FailedError if an operation, or a resource, says that it has failed."""
    if isinstance(content, dict):
        state = str(content.get("status") or state_of(content))
        if state.lower() in _FAILED:
            reason = reason_in(content)
            ended = f"It ended as {state}"
            told = advised(f"{ended}: {reason}" if reason else f"{ended}. Azure gave no reason.")
            raise FailedError(told, response)


def _content(answer: Any) -> Any:
    return _json(answer.http_response)


def _json(response: Any) -> Any:
    """Returns the JSON in a response; None if there is none."""
    try:
        return response.json()
    # Each encoding has its own exceptions.
    except Exception:
        return None


def _may_have_arrived(error: AzureError) -> bool:
    """Whether Azure may have done what a request asks for, although there is an error."""
    if isinstance(error, HttpResponseError):
        status = error.status_code or 0
        return status == 408 or not 300 <= status < 500
    return not isinstance(error.__cause__ or error.inner_exception, aiohttp.ClientConnectorError)


def _is_temporary(error: AzureError) -> bool:
    # A response that is cut off has no status.
    is_cut = isinstance(error, DecodeError)
    return is_cut or not isinstance(error, HttpResponseError) or error.status_code in _TEMPORARY


def _asked_pause(error: AzureError) -> float:
    """Returns the seconds that Azure asks to wait before a retry; 0 if it does not."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("x-ms-retry-after-ms", 1000), ("Retry-After", 1)):
        if (text := str(headers.get(name, ""))).isdigit():
            return min(int(text) / unit, _LONGEST_PAUSE_OF_AZURE)
    return 0.0
