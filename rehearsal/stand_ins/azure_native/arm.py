"""The requests of the stand-in to the rehearsal's ARM."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.core.polling import AsyncLROPoller
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from provider_kit.azure_cloud import azure_cloud, azure_credential, setting
from provider_kit.cancellation import Cancellation
from provider_kit.serving import ProviderError
from rehearsal.stand_ins.azure_native.failures import words
from rehearsal.stand_ins.azure_native.functions import Clients, Function
from rehearsal.stand_ins.azure_native.writes import Write


class AcceptedError(ProviderError):
    """Azure accepted a write, which did not end well."""


class Arm:
    """Resources, by their ids. `until` is when a request has to have its answer."""

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self._connecting = asyncio.Lock()
        self._connected: Clients | None = None

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """A resource as ARM answers it; None if there is none."""
        clients = await self._clients()
        try:
            async with _failing(until):
                answer = await self._cancellation.watch(
                    clients.resources.resources.get_by_id(resource_id, api_version=api_version)
                )
        except _NotFoundError:
            return None
        return dict(answer.as_dict())

    async def write(
        self, resource_id: str, write: Write, api_version: str, until: float | None
    ) -> dict[str, Any]:
        """The answer, once the resource is as the request says."""
        resources = (await self._clients()).resources.resources
        begin = {
            "PUT": resources.begin_create_or_update_by_id,
            "PATCH": resources.begin_update_by_id,
        }[write.method]
        async with _failing(until):
            poller: AsyncLROPoller[Any] = await begin(
                resource_id, write.body, api_version=api_version
            )
        try:
            async with _failing(until):
                answer = await self._cancellation.watch(poller.result())
        except ProviderError as error:
            raise AcceptedError(str(error)) from error
        # An answer without a body is one all the same: Azure has taken the request.
        return dict(answer.as_dict()) if answer is not None else {}

    async def delete(self, resource_id: str, api_version: str, until: float | None) -> None:
        """What is gone already is deleted without a word."""
        clients = await self._clients()
        try:
            async with _failing(until):
                poller: AsyncLROPoller[None] = await clients.resources.resources.begin_delete_by_id(
                    resource_id, api_version=api_version
                )
                await self._cancellation.watch(poller.result())
        except _NotFoundError:
            return

    async def call(self, function: Function, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a function."""
        clients = await self._clients()
        async with _failing(None):
            return await self._cancellation.watch(function(clients, inputs))

    async def _clients(self) -> Clients:
        async with self._connecting:
            if self._connected is None:
                cloud, subscription = await azure_cloud(), setting("ARM_SUBSCRIPTION_ID")
                signed_in: dict[str, Any] = {
                    "credential": azure_credential(cloud),
                    "subscription_id": subscription,
                    "base_url": cloud.resource_manager,
                    "credential_scopes": [cloud.scope],
                }
                self._connected = Clients(
                    subscription,
                    ResourceManagementClient(**signed_in),
                    ContainerServiceClient(**signed_in),
                )
            return self._connected


class _NotFoundError(ProviderError):
    """ARM has no such resource."""


@asynccontextmanager
async def _failing(until: float | None) -> AsyncIterator[None]:
    """Turns failures of requests into azure-native's words."""
    try:
        async with asyncio.timeout_at(until):
            yield
    except ResourceNotFoundError as error:
        raise _NotFoundError(words(error)) from error
    except (AzureError, TimeoutError) as error:
        raise ProviderError(words(error)) from error
