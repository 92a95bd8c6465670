"""Requests to Azure Resource Manager, and its responses.

Temporary errors are retried and reported. Requests go only to hosts of the configured cloud. Uses
the pipeline, transport and credentials of the Azure SDK.
"""

import asyncio
import email.utils
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import aiohttp
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import (
    AzureError,
    HttpResponseError,
    ServiceRequestError,
    ServiceRequestTimeoutError,
    ServiceResponseError,
)
from azure.core.pipeline import AsyncPipeline, PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import AsyncHTTPPolicy, RequestIdPolicy, UserAgentPolicy
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.rest import HttpRequest
from azure.mgmt.core.policies import AsyncARMChallengeAuthenticationPolicy

from provider_kit.cancellation import Cancellation
from provider_kit.errors import body_of, explained, official
from provider_kit.waiting import in_time, wait_because_of, waited

# With `*`, makes a PUT fail with 412 if the resource exists.
ONLY_NEW = "If-None-Match"

# The statuses of temporary errors.
_TEMPORARY = frozenset({408, 429, *range(500, 600)} - {501, 505})
# The SDK reads no deflate as HTTP defines it.
_ACCEPTS = MappingProxyType({"Accept": "application/json", "Accept-Encoding": "gzip"})
_REQUEST_ID = "x-ms-client-request-id"
_PROVIDERS = MappingProxyType({"api-version": "2025-04-01"})
_SUBSCRIPTION = re.compile(r"/subscriptions/[^/]+", re.IGNORECASE)
_NAMESPACE = re.compile(r"namespace '([\w.]+)'")
_REGISTRATION_PAUSE = 10.0
_IN_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


class Patience(NamedTuple):
    """The number of retries, and the seconds between them, as in Azure's SDKs."""

    tries: int = 3
    # Retries of failed connections.
    connections: int = 3
    factor: float = 0.8
    longest: float = 120.0

    def pause(self, tried: int) -> float:
        """Returns the seconds before the next try; none before the first retry."""
        return min(self.longest, self.factor * 2 ** min(tried - 1, 60)) if tried > 1 else 0.0


class Delivery:
    """What is known about a request that changes something."""

    # Whether Azure may have received it, and no response has refused it.
    is_unclear = False
    is_accepted = False


@dataclass(frozen=True)
class Answer:
    """A response of any status."""

    status: int
    headers: Mapping[str, str]
    # The JSON body; None if there is none.
    content: Any
    response: Any

    @property
    def pause(self) -> float | None:
        return pause_of(self.response)

    @property
    def text(self) -> str:
        return body_of(self.response)

    @property
    def error(self) -> HttpResponseError:
        return HttpResponseError(response=self.response)


class _Request(HttpRequest):
    delivery: Delivery


class _Wire(AsyncHTTPPolicy[Any, Any]):
    """Notes the delivery of a request, and reads the response even if the connection breaks.

    After a cancellation, only GET requests are sent.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        super().__init__()
        self._cancellation = cancellation

    async def send(self, request: PipelineRequest[Any]) -> PipelineResponse[Any, Any]:
        delivery = getattr(request.http_request, "delivery", None) or Delivery()
        if request.http_request.method != "GET":
            self._cancellation.require_none()
        before, delivery.is_unclear = delivery.is_unclear, True
        request.context.options["stream"] = True
        try:
            answer = await self.next.send(request)
        except AzureError as error:
            if _not_sent(error):
                delivery.is_unclear = before
            raise
        status = answer.http_response.status_code
        if 300 <= status < 500 and status != 408:
            delivery.is_unclear = before
        elif 200 <= status < 300:
            delivery.is_accepted = True
        try:
            await answer.http_response.read()
            await answer.http_response.close()
        except (AzureError, aiohttp.ClientError, TimeoutError) as error:
            answer.context["broken"] = error
        return answer


class _Transport(AioHttpTransport):  # type: ignore[misc]
    """Leaves all retries to the exchange, which knows what Azure may have received."""

    async def open(self) -> None:
        await super().open()
        # Otherwise aiohttp silently sends a PUT again if a reused connection breaks.
        self.session._retry_connection = False


class Exchange:
    """Sends requests to the Resource Manager of one cloud."""

    def __init__(
        self,
        base: str,
        credential: AsyncTokenCredential,
        scope: str,
        cancellation: Cancellation,
        patience: Patience,
    ) -> None:
        self._base = base
        self._cancellation = cancellation
        self._patience = patience
        policies: list[Any] = [
            RequestIdPolicy(),
            UserAgentPolicy("aks-gpu"),
            AsyncARMChallengeAuthenticationPolicy(credential, scope),
            _Wire(cancellation),
        ]
        self._pipeline: AsyncPipeline[Any, Any] = AsyncPipeline(_Transport(), policies)
        self._credential = credential

    async def close(self) -> None:
        await self._pipeline.__aexit__()
        await self._credential.close()

    def is_own(self, url: str) -> bool:
        """Whether a URL is in this cloud: at its Resource Manager, or one of a region."""
        try:
            parts, base = urlsplit(url), urlsplit(self._base)
            host, cloud_host = parts.hostname or "", base.hostname or ""
            same_port = (parts.port or 443) == (base.port or 443)
        except ValueError:
            return False
        is_safe = parts.scheme == "https" and parts.username is None and same_port
        return is_safe and (host == cloud_host or host.endswith(f".{cloud_host}"))

    async def ask(
        self,
        method: str,
        address: str,
        *,
        parameters: Mapping[str, str] = MappingProxyType({}),
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        delivery: Delivery | None = None,
    ) -> Answer:
        """Returns a successful response. Raises Azure's error if retries do not help.

        Registers the resource provider if the subscription has not registered it.
        """
        request = _Request(
            method,
            urljoin(self._base, address),
            params=dict(parameters),
            headers={**_ACCEPTS, **headers},
            json=body,
        )
        request.delivery = delivery or Delivery()
        try:
            return await self._accepted(request)
        except HttpResponseError as error:
            if not (namespace := _unregistered(error)):
                raise
            await self._register(request.url, namespace, error)
        # ARM repeats its response to the same request ID.
        request.headers.pop(_REQUEST_ID, None)
        return await self._accepted(request)

    async def _accepted(self, request: _Request) -> Answer:
        """Returns a successful response, after retries of temporary errors."""
        tried = 0
        while True:
            tried += 1
            pause = None
            try:
                answer = await self._answer(request)
            except (ServiceRequestError, ServiceResponseError) as broken:
                error: AzureError = broken
                is_temporary = _is_temporary(broken)
            else:
                if answer.status < 300:
                    break
                error, is_temporary = answer.error, answer.status in _TEMPORARY
                pause = answer.pause
            has_connection = not isinstance(error, ServiceRequestError)
            if not is_temporary or tried > self._patience[0 if has_connection else 1]:
                raise error
            await wait_because_of(explained(error))
            pause = self._patience.pause(tried) if pause is None else in_time(pause)
            await self._cancellation.watch(asyncio.sleep(pause))
            if request.delivery.is_unclear:
                # An earlier try may have created the resource.
                request.headers.pop(ONLY_NEW, None)
        if tried > 1:
            waited()
        return answer

    async def _register(self, url: str, namespace: str, error: AzureError) -> None:
        """Registers a resource provider with the subscription of a URL, and waits for it."""
        subscription = _SUBSCRIPTION.match(urlsplit(url).path)
        if subscription is None:
            raise error
        provider = f"{subscription[0]}/providers/{namespace}"

        async def send(method: str, path: str) -> Any:
            url = urljoin(self._base, path)
            request = _Request(method, url, params=dict(_PROVIDERS), headers=dict(_ACCEPTS))
            request.delivery = Delivery()
            return (await self._accepted(request)).content

        try:
            await send("POST", f"{provider}/register")
        except HttpResponseError as refused:
            raise error from refused
        while True:
            content = await send("GET", provider)
            state = content.get("registrationState") if isinstance(content, dict) else None
            if not isinstance(state, str):
                raise AzureError(f"Azure did not return the state of {provider}.")
            if state == "Registered":
                return
            await wait_because_of(f"The resource provider {namespace} is {state}.")
            await self._cancellation.watch(asyncio.sleep(_REGISTRATION_PAUSE))

    async def _answer(self, request: _Request) -> Answer:
        """Returns a response of any status. Azure's Resource Manager redirects no request."""
        result = await self._pipeline.run(request)
        answer = _answer(result.http_response)
        if (broken := result.context.get("broken")) and request.method == "GET":
            raise ServiceResponseError(broken, error=broken)
        return answer


def _answer(response: Any) -> Answer:
    try:
        content = json.loads(body_of(response))
    except (ValueError, RecursionError):
        content = None
    return Answer(response.status_code, response.headers, content, response)


def _unregistered(error: HttpResponseError) -> str:
    """Returns the unregistered resource provider that an error names; empty for other errors."""
    message = official(error.response) if error.status_code == 409 else ""
    if not message.startswith("MissingSubscriptionRegistration"):
        return ""
    match = _NAMESPACE.search(message)
    return match[1] if match else ""


def _not_sent(error: AzureError) -> bool:
    """Whether the connection failed before the request was sent."""
    return isinstance(error, ServiceRequestTimeoutError) or isinstance(
        error.__cause__, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError
    )


def _is_temporary(error: AzureError) -> bool:
    """Whether a retry can help; most refusals of a proxy are permanent."""
    cause = error.__cause__
    return not isinstance(cause, aiohttp.ClientHttpProxyError) or cause.status in _TEMPORARY


def pause_of(response: Any) -> float | None:
    """Returns the seconds that Azure asks to wait before a retry, if any."""
    headers = getattr(response, "headers", {})
    for name in _IN_MILLISECONDS:
        if (parsed := _number(headers.get(name))) is not None:
            return parsed / 1000
    retry_after = headers.get("Retry-After")
    if (seconds := _number(retry_after)) is not None:
        return seconds
    # A date. Only the server's own clock says how far away it is.
    retry_at, now = _time(retry_after), _time(headers.get("Date"))
    return _number(str(retry_at - now)) if retry_at and now else None


def _time(date: str | None) -> float | None:
    """Returns a date of a header in seconds; None if there is none."""
    try:
        return email.utils.parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    """Returns a positive number; None for any other text."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None
