"""The requests of the stand-in to the rehearsal's ARM, and its failures in azure-native's words."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.mgmt.containerservice.aio import ContainerServiceClient

from provider_kit.arm import Arm, Method
from provider_kit.cancellation import Cancellation
from provider_kit.serving import ProviderError
from rehearsal.stand_ins.azure_native.properties import outputs
from rehearsal.stand_ins.azure_native.types import TYPES, NativeType


class AcceptedError(ProviderError):
    """Azure accepted a write, which did not end well."""


class _NotFoundError(ProviderError):
    """ARM has no such resource."""


class NativeArm:
    """Resources, by their ids. `until` is when a request has to have its answer."""

    def __init__(self, cancellation: Cancellation) -> None:
        self.arm = Arm(cancellation)
        self._cancellation = cancellation

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """A resource as ARM answers it; None if there is none."""
        try:
            async with _failing(until):
                return await self._cancellation.watch(self.arm.get(resource_id, api_version))
        except _NotFoundError:
            return None

    async def write(
        self,
        request: tuple[Method, dict[str, Any]],
        resource_id: str,
        api_version: str,
        until: float | None,
    ) -> dict[str, Any]:
        """The answer, once the resource is as the request says."""
        method, body = request
        async with _failing(until):
            accepted = await self.arm.begin(method, resource_id, api_version, body)
        try:
            async with _failing(until):
                return await self.arm.finish(accepted)
        except ProviderError as error:
            raise AcceptedError(str(error)) from error

    async def delete(self, resource_id: str, api_version: str, until: float | None) -> None:
        """What is gone already is deleted without a word."""
        try:
            async with _failing(until):
                await self.arm.finish(await self.arm.begin("DELETE", resource_id, api_version))
        except _NotFoundError:
            return

    async def call(self, token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a function."""
        async with _failing(None):
            return await self._cancellation.watch(FUNCTIONS[token](self.arm, inputs))


@asynccontextmanager
async def _failing(until: float | None) -> AsyncIterator[None]:
    """Turns failures of requests into azure-native's words."""
    try:
        async with asyncio.timeout_at(until):
            yield
    except ResourceNotFoundError as error:
        raise _NotFoundError(_words(error)) from error
    except (AzureError, TimeoutError) as error:
        raise ProviderError(_words(error)) from error


def _words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "operation timed out"
    if isinstance(error, HttpResponseError) and error.response is not None:
        return _answer(error.response)
    return str(error)


def _answer(response: Any) -> str:
    """The code that Azure gave, and its message; of AKS's own errors, which are flat, all of it."""
    text = response.text()
    try:
        content = json.loads(text)
    except ValueError:
        content = {}
    top = content if isinstance(content, dict) else {}
    error = top.get("error")
    # Of the directory that signs in, `error` is a word.
    nested = error if isinstance(error, dict) else {}
    code = nested.get("code") or top.get("code") or ""
    message = nested.get("message") or text
    return f'Status={response.status_code} Code="{code}" Message="{message}"'


Function = Callable[[Arm, Mapping[str, Any]], Awaitable[dict[str, Any]]]


def _getter(native_type: NativeType) -> Function:
    async def get(arm: Arm, inputs: Mapping[str, Any]) -> dict[str, Any]:
        resource_id = native_type.resource_id(arm.subscription, inputs)
        return outputs(native_type, await arm.get(resource_id, native_type.api_version))

    return get


async def _user_credentials(arm: Arm, inputs: Mapping[str, Any]) -> dict[str, Any]:
    clusters = (await arm.client(ContainerServiceClient)).managed_clusters
    answer = await clusters.list_cluster_user_credentials(
        inputs["resourceGroupName"], inputs["resourceName"]
    )
    return dict(answer.as_dict())


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "azure-native:containerservice:getManagedCluster": _getter(
            TYPES["azure-native:containerservice:ManagedCluster"]
        ),
        "azure-native:containerservice:listManagedClusterUserCredentials": _user_credentials,
        "azure-native:resources:getResourceGroup": _getter(
            TYPES["azure-native:resources:ResourceGroup"]
        ),
    }
)
