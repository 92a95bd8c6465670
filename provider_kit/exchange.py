"""Requests to Azure Resource Manager, and its responses.

Temporary errors are retried and reported. Requests go only to hosts of the configured cloud. Uses
the pipeline, transport and credentials of the Azure SDK.
"""

import asyncio
import email.utils
import json
import math
import re
import time
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

# With `*`, the header of a request that shall make something, and change nothing.
ONLY_NEW = "If-None-Match"

_HOPS = 5
# Deeper than any resource, and than the engine's own form of a value may be.
_DEEPEST = 60
_KEEPING_THE_METHOD, _REDIRECTIONS = (307, 308), (301, 302, 303, 307, 308)
# What a server answers that may answer otherwise soon.
_PASSING = frozenset({408, 429, *range(500, 600)} - {501, 505})
_ACCEPTS = MappingProxyType({"Accept": "application/json"})
_REQUEST_ID = "x-ms-client-request-id"
_PROVIDERS = MappingProxyType({"api-version": "2025-04-01"})
_SUBSCRIPTION = re.compile(r"/subscriptions/[^/]+", re.IGNORECASE)
_NAMESPACE = re.compile(r"namespace '([\w.]+)'")
_SECONDS_OF_A_REGISTRATION = 10.0
_IN_MILLISECONDS = ("retry-after-ms", "x-ms-retry-after-ms")


class Patience(NamedTuple):
    """How often something is tried again, and how long the pauses are: as Azure's SDKs do."""

    tries: int = 3
    # Where no connection comes about.
    connections: int = 3
    factor: float = 0.8
    longest: float = 120.0

    def pause(self, tried: int) -> float:
        """Seconds before the next try: most of what passes has passed at once."""
        return min(self.longest, self.factor * 2 ** min(tried - 1, 60)) if tried > 1 else 0.0


class Delivery:
    """What is known of a request that changes something."""

    # Whether a try of it may have arrived that no answer has refused.
    is_unclear = False
    is_accepted = False


@dataclass(frozen=True)
class Answer:
    """An answer of success, or what an error is made of."""

    status: int
    headers: Mapping[str, str]
    # What its JSON says; None where it has none that a state could hold.
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
    """Notes what becomes of a request, and reads as much of the answer as comes.

    After a cancellation it only lets through who asks what there is.
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
            if _never_left(error):
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
    """Leaves it to the exchange to send a request again, which knows what may have arrived."""

    async def open(self) -> None:
        await super().open()
        # Where a connection breaks that was kept, aiohttp sends a PUT twice, and tells nobody.
        self.session._retry_connection = False


class Exchange:
    """With the Resource Manager of one cloud."""

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
        """Whether a URL is of the cloud itself, or of a region's Resource Manager in it."""
        try:
            parts, base = urlsplit(url), urlsplit(self._base)
            host, own = parts.hostname or "", base.hostname or ""
            same_port = (parts.port or 443) == (base.port or 443)
        except ValueError:
            return False
        is_safe = parts.scheme == "https" and parts.username is None and same_port
        return is_safe and (host == own or host.endswith(f".{own}"))

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
        """Returns an answer of success. Raises Azure's errors, where trying again does not help.

        A resource provider that the subscription has not registered is registered.
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
        # To the same request ARM gives the same answer.
        request.headers.pop(_REQUEST_ID, None)
        return await self._accepted(request)

    async def _accepted(self, request: _Request) -> Answer:
        """Returns an answer of success, once what passes has passed."""
        tried = 0
        while True:
            tried += 1
            pause = None
            try:
                answer = await self._answer(request)
            except (ServiceRequestError, ServiceResponseError) as broken:
                error: AzureError = broken
                passes = _passes_by(broken)
            else:
                if answer.status < 300:
                    break
                error, passes, pause = answer.error, answer.status in _PASSING, answer.pause
            has_connection = not isinstance(error, ServiceRequestError)
            if not passes or tried > self._patience[0 if has_connection else 1]:
                raise error
            await wait_because_of(explained(error))
            pause = self._patience.pause(tried) if pause is None else in_time(pause)
            await self._cancellation.watch(asyncio.sleep(pause))
            if request.delivery.is_unclear:
                # What is there now may be what an earlier try has made.
                request.headers.pop(ONLY_NEW, None)
        if tried > 1:
            waited()
        return answer

    async def _register(self, url: str, namespace: str, error: AzureError) -> None:
        """Registers a resource provider with the subscription of a URL, and waits until it is."""
        subscription = _SUBSCRIPTION.match(urlsplit(url).path)
        if subscription is None:
            raise error
        provider = f"{subscription[0]}/providers/{namespace}"

        async def asked(method: str, path: str) -> Any:
            url = urljoin(self._base, path)
            request = _Request(method, url, params=dict(_PROVIDERS), headers=dict(_ACCEPTS))
            request.delivery = Delivery()
            return (await self._accepted(request)).content

        try:
            await asked("POST", f"{provider}/register")
        except HttpResponseError as refused:
            raise error from refused
        while True:
            said = await asked("GET", provider)
            state = said.get("registrationState") if isinstance(said, dict) else None
            if not isinstance(state, str):
                raise AzureError(f"Azure did not return the state of {provider}.")
            if state == "Registered":
                return
            await wait_because_of(f"The resource provider {namespace} is {state}.")
            await self._cancellation.watch(asyncio.sleep(_SECONDS_OF_A_REGISTRATION))

    async def _answer(self, request: _Request) -> Answer:
        """Returns the next answer, of any status; redirections within the cloud are followed."""
        for _ in range(_HOPS):
            passed = await self._pipeline.run(request)
            answer = _answer(passed.http_response)
            if (broken := passed.context.get("broken")) and request.method == "GET":
                raise ServiceResponseError(broken, error=broken)
            follows = answer.status in _KEEPING_THE_METHOD or (
                answer.status in _REDIRECTIONS and request.method == "GET"
            )
            onwards = _joined(request.url, answer.headers.get("Location")) if follows else ""
            if not self.is_own(onwards):
                break
            request.url = onwards
        return answer


def _answer(response: Any) -> Answer:
    try:
        content = json.loads(body_of(response))
    except (ValueError, RecursionError):
        content = None
    content = content if _fits(content) else None
    return Answer(response.status_code, response.headers, content, response)


def _unregistered(error: HttpResponseError) -> str:
    """The resource provider that the subscription has not registered; nothing if it is not that."""
    said = official(error.response) if error.status_code == 409 else ""
    named = _NAMESPACE.search(said) if said.startswith("MissingSubscriptionRegistration") else None
    return named[1] if named else ""


def _joined(url: str, address: str | None) -> str:
    """The URL of an address at a URL; nothing where it is none."""
    try:
        return urljoin(url, address) if address else ""
    except ValueError:
        return ""


def _fits(value: Any, depth: int = 0) -> bool:
    """Whether a state can hold a value of JSON."""
    match value:
        case dict():
            names_fit = all(map(_fits, value))
            return (
                depth < _DEEPEST
                and names_fit
                and all(_fits(member, depth + 1) for member in value.values())
            )
        case list():
            return depth < _DEEPEST and all(_fits(item, depth + 1) for item in value)
        case str():
            return not any("\ud800" <= character <= "\udfff" for character in value)
        case int() | float():
            return math.isfinite(value) and abs(value) < 2**1023
        case _:
            return True


def _never_left(error: AzureError) -> bool:
    """Whether no connection came about that a request could have gone through."""
    return isinstance(error, ServiceRequestTimeoutError) or isinstance(
        error.__cause__, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError
    )


def _passes_by(error: AzureError) -> bool:
    """Whether a connection that broke may hold the next time; a proxy's refusal stays."""
    cause = error.__cause__
    return not isinstance(cause, aiohttp.ClientHttpProxyError) or cause.status in _PASSING


def pause_of(response: Any) -> float | None:
    """The seconds after which Azure wants to be asked again, if it says so."""
    headers = getattr(response, "headers", {})
    for name in _IN_MILLISECONDS:
        if (parsed := _number(headers.get(name))) is not None:
            return parsed / 1000
    return _seconds(headers.get("Retry-After"))


def _seconds(said: str | None) -> float | None:
    """The seconds of a Retry-After, which may be a date."""
    if (seconds := _number(said)) is not None:
        return seconds
    try:
        return _number(str(email.utils.parsedate_to_datetime(said or "").timestamp() - time.time()))
    except (TypeError, ValueError, OverflowError):
        return None


def _number(said: str | None) -> float | None:
    """A number that is more than nothing."""
    try:
        number = float(said or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None
