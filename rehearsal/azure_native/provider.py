"""The stand-in itself: what the engine asks of azure-native, as requests to the rehearsal's ARM."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.core.polling import AsyncLROPoller
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.resource.resources.aio import ResourceManagementClient
from pulumi.provider.experimental import provider as sdk

from aks_preview.azure_cloud import azure_cloud, azure_credential, setting
from aks_preview.cancellation import Cancellation
from aks_preview.conflicts import wait_out_conflicts
from aks_preview.diff import diff
from aks_preview.serving import DiffRequest, ProviderError, ResourceInitError
from aks_preview.shapes import mistakes
from aks_preview.values import plain_map, property_map
from rehearsal.azure_native.functions import FUNCTIONS, Clients
from rehearsal.azure_native.projection import project
from rehearsal.azure_native.shapes import args_shape
from rehearsal.azure_native.types import TYPES, ArmType


class AzureNative(sdk.Provider):
    """Turns the resource types of a table into ARM's requests."""

    def __init__(self) -> None:
        self._cancellation = Cancellation()
        self._connecting = asyncio.Lock()
        self._connected: Clients | None = None

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:  # noqa: ARG002
        return sdk.ConfigureResponse(supports_preview=True)

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return sdk.CheckResponse(inputs=request.new_inputs)

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        return diff(plain_map(request.old_state), plain_map(request.new_inputs), replaces=())

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        arm_type = _arm_type(request.type)
        inputs = plain_map(request.new_inputs)
        shape = args_shape(arm_type.args)
        failures = [sdk.CheckFailure(*mistake) for mistake in mistakes(shape, inputs)]
        named = {failure.property for failure in failures}
        failures += [
            sdk.CheckFailure(name, "is required: the rehearsal makes up no names")
            for name in arm_type.path_properties
            if name not in inputs and name not in named
        ]
        return sdk.CheckResponse(inputs=request.new_inputs, failures=failures)

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        assert isinstance(request, DiffRequest)  # noqa: S101 (what our servicer hands over)
        return diff(
            plain_map(request.old_inputs),
            plain_map(request.new_inputs),
            replaces=_arm_type(request.type).replacing,
            ignored=request.ignore_changes,
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        arm_type, inputs = _arm_type(request.type), plain_map(request.properties)
        if request.preview:
            return sdk.CreateResponse(properties=property_map(inputs))
        resource_id = arm_type.resource_id(setting("ARM_SUBSCRIPTION_ID"), inputs)
        if await self._get(arm_type, resource_id) is not None:
            raise ProviderError(
                f"{resource_id} exists already, but is not in this stack's state. Take it over "
                f"with `pulumi import {_token(request.type)} {request.name} {resource_id}`, or "
                "delete it."
            )
        outputs = await self._put(arm_type, resource_id, inputs, request.timeout)
        return sdk.CreateResponse(resource_id, property_map(outputs))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        arm_type, inputs = _arm_type(request.type), plain_map(request.news)
        if request.preview:
            return sdk.UpdateResponse(property_map({**plain_map(request.olds), **inputs}))
        outputs = await self._put(arm_type, request.resource_id, inputs, request.timeout)
        return sdk.UpdateResponse(property_map(outputs))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        arm_type = _arm_type(request.type)
        answer = await self._get(arm_type, request.resource_id)
        if answer is None:
            return sdk.ReadResponse()
        outputs = arm_type.outputs(answer)
        actual = arm_type.inputs(request.resource_id, outputs)
        if request.inputs:
            complete = arm_type.inputs(request.resource_id, outputs, with_server_filled=True)
            actual = project(plain_map(request.inputs), complete)
        return sdk.ReadResponse(request.resource_id, property_map(outputs), property_map(actual))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        arm_type = _arm_type(request.type)
        async with self._arm(request.timeout) as clients:
            try:
                poller: AsyncLROPoller[None] = await wait_out_conflicts(
                    lambda: clients.resources.resources.begin_delete_by_id(
                        request.resource_id, api_version=arm_type.api_version
                    ),
                    self._cancellation,
                )
                await self._cancellation.watch(poller.result())
            except ResourceNotFoundError:
                return

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        if request.tok not in FUNCTIONS:
            raise ProviderError(_OUT_OF_COVER.format(f"the function {request.tok}"))
        async with self._arm() as clients:
            answer = FUNCTIONS[request.tok](clients, plain_map(request.args))
            return sdk.InvokeResponse(property_map(await self._cancellation.watch(answer)))

    async def cancel(self) -> None:
        self._cancellation.ask()

    async def _get(self, arm_type: ArmType, resource_id: str) -> Mapping[str, Any] | None:
        async with self._arm() as clients:
            try:
                answer = await self._cancellation.watch(
                    clients.resources.resources.get_by_id(
                        resource_id, api_version=arm_type.api_version
                    )
                )
            except ResourceNotFoundError:
                return None
            return dict(answer.as_dict())

    async def _put(
        self, arm_type: ArmType, resource_id: str, inputs: dict[str, Any], within: float
    ) -> dict[str, Any]:
        async with self._arm(within) as clients:
            poller: AsyncLROPoller[Any] = await wait_out_conflicts(
                lambda: clients.resources.resources.begin_create_or_update_by_id(
                    resource_id, arm_type.body(inputs), api_version=arm_type.api_version
                ),
                self._cancellation,
            )
            try:
                answer = await self._cancellation.watch(poller.result())
            except (AzureError, ProviderError, TimeoutError) as error:
                raise ResourceInitError(
                    f"Azure accepted {resource_id}, but it did not become ready: {_said(error)}",
                    resource_id=resource_id,
                    properties=property_map(inputs),
                ) from error
            return arm_type.outputs(answer.as_dict())

    @asynccontextmanager
    async def _arm(self, within: float = 0) -> AsyncIterator[Clients]:
        """ARM's clients; what goes wrong with them is told in Azure's words."""
        try:
            async with asyncio.timeout(within or None):
                yield await self._clients()
        except (AzureError, TimeoutError) as error:
            raise ProviderError(_said(error)) from error

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


_OUT_OF_COVER = (
    "The rehearsal's stand-in for azure-native does not know {}: docs/rehearsal.md lists "
    "what it covers."
)


def _token(request_type: str) -> str:
    """The resource's own type: the SDK hands over those of its parents with it."""
    return request_type.rpartition("$")[2]


def _arm_type(request_type: str) -> ArmType:
    token = _token(request_type)
    try:
        return TYPES[token]
    except KeyError:
        raise ProviderError(_OUT_OF_COVER.format(f"the type {token}")) from None


def _said(error: Exception) -> str:
    """An error in Azure's own words: code, message and target, and no more of the exchange."""
    if isinstance(error, TimeoutError):
        return "It took longer than the resource's custom timeout allows."
    if isinstance(error, HttpResponseError) and error.error is not None:
        target = f" (target: {error.error.target})" if error.error.target else ""
        return f"{error.error.code}: {error.error.message}{target}"
    return str(error)
