"""Azure Resource Manager: resources by their ids, through Azure's own clients."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.polling import AsyncLROPoller
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from provider_kit.azure_cloud import azure_cloud, azure_credential
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.serving import ProviderError
from provider_kit.waiting import last_reason, wait_because_of, waited

Client = TypeVar("Client")
Method = Literal["PUT", "PATCH", "DELETE"]


class NotFoundError(ProviderError):
    """ARM has no such resource."""


class _Transport(AioHttpTransport):  # type: ignore[misc]
    """Waits for the next poll or the next try no longer than until the update is cancelled."""

    def __init__(self, cancellation: Cancellation) -> None:
        super().__init__()
        self._cancellation = cancellation

    async def sleep(self, duration: float) -> None:
        await self._cancellation.watch(asyncio.sleep(duration))


class _Retries(AsyncRetryPolicy[Any, Any]):
    """Azure's own way to try again, which tells the user why."""

    async def sleep(self, settings: dict[str, Any], transport: Any, response: Any = None) -> None:
        last = settings["history"][-1]
        error = last.error
        if error is None:
            with suppress(AzureError):
                await last.http_response.read()
            error = HttpResponseError(response=last.http_response)
        await wait_because_of(explained(error))
        await super().sleep(settings, transport, response)

    async def send(self, request: Any) -> Any:
        answer = await super().send(request)
        if answer.context.get("history"):
            waited()
        return answer


class Arm:
    """One subscription. It signs in when first needed: a preview of new resources has no need to.

    `explain` puts Azure's failures in the provider's words. `retries` are settings of the pipeline
    of Azure's clients.
    """

    def __init__(
        self,
        cancellation: Cancellation,
        explain: Callable[[BaseException], str] = explained,
        retries: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.configuration = Configuration(MappingProxyType({}))
        self._cancellation = cancellation
        self._explain = explain
        self._retries = retries
        self._access: asyncio.Task[Mapping[str, Any]] | None = None
        self._clients: dict[Any, Any] = {}

    @property
    def subscription(self) -> str:
        return self.configuration.required("subscriptionId")

    def require(self, resource_id: str) -> None:
        """Refuses a resource of another subscription, which would seem to be gone from here."""
        if not resource_id.lower().startswith(f"/subscriptions/{self.subscription}/".lower()):
            raise ProviderError(
                f"{resource_id} lies in another subscription than the one that is configured, "
                f"{self.subscription}. Set subscriptionId, or ARM_SUBSCRIPTION_ID, to its own."
            )

    async def client(self, kind: Callable[..., Client]) -> Client:
        """Returns one of Azure's clients, made once and shared by all resources.

        If there is no way to Azure, all of them fail: one has asked for all.
        """
        if self._access is None:
            self._access = asyncio.create_task(self._way())
        access = await self._cancellation.watch(asyncio.shield(self._access))
        if kind not in self._clients:
            transport = _Transport(self._cancellation)
            self._clients[kind] = kind(transport=transport, **access)
        client: Client = self._clients[kind]
        return client

    async def _way(self) -> Mapping[str, Any]:
        subscription = self.subscription
        cloud = await azure_cloud(self.configuration)
        return {
            "credential": azure_credential(cloud, self.configuration),
            "subscription_id": subscription,
            "base_url": cloud.resource_manager,
            "credential_scopes": [cloud.scope],
            "retry_policy": _Retries(**self._retries),
        }

    @asynccontextmanager
    async def failing(self, until: float | None) -> AsyncIterator[None]:
        """Raises ProviderError where Azure fails, or where it is not done in time."""
        try:
            async with asyncio.timeout_at(until):
                yield
        except ResourceNotFoundError as error:
            raise NotFoundError(self._explain(error)) from error
        except TimeoutError as error:
            reason = last_reason()
            last = f"\nWhat it waited for last: {reason}" if reason else ""
            raise ProviderError(self._explain(error) + last) from error
        except AzureError as error:
            raise ProviderError(self._explain(error)) from error

    async def look(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any]:
        """Returns a resource as ARM answers it, also in the seconds after a cancellation."""
        resources = (await self.client(ResourceManagementClient)).resources
        async with self.failing(until):
            answer = await self._cancellation.answered(
                resources.get_by_id(resource_id, api_version=api_version)
            )
        return dict(answer.as_dict())

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """Returns a resource as ARM answers it; None if there is none."""
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
    ) -> AsyncLROPoller[Any]:
        """Returns once ARM has accepted a request. Raises Azure's own errors, to be tried again.

        `finish` waits for what the request does.
        """
        resources = (await self.client(ResourceManagementClient)).resources
        more: dict[str, Any] = {"api_version": api_version, "headers": dict(headers)}
        if method == "DELETE":
            deleting: AsyncLROPoller[Any] = await resources.begin_delete_by_id(resource_id, **more)
            return deleting
        begin = {
            "PUT": resources.begin_create_or_update_by_id,
            "PATCH": resources.begin_update_by_id,
        }[method]
        accepted: AsyncLROPoller[Any] = await begin(resource_id, dict(body or {}), **more)
        return accepted

    async def finish(
        self, accepted: AsyncLROPoller[Any], until: float | None = None
    ) -> dict[str, Any]:
        """Returns the answer to a request that is done; it is empty where ARM says nothing."""
        async with self.failing(until):
            answer = await self._cancellation.watch(accepted.result())
        return dict(answer.as_dict()) if answer is not None else {}
