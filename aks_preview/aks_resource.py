"""Makes, reads, changes and deletes pools and clusters, through Azure's own client."""

import asyncio
from typing import Any

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.core.polling import AsyncLROPoller
from pulumi.provider.experimental.provider import DiffResponse

from aks_preview import arm_form
from aks_preview.aks_diff import aks_diff
from aks_preview.aks_type import HEADERS, AksType
from aks_preview.autoscaling import is_scaled_by_aks, with_counts
from aks_preview.sameness import projected
from provider_kit import errors
from provider_kit.cancellation import Cancellation
from provider_kit.conflicts import wait_out_conflicts
from provider_kit.connection import Clients, Connection
from provider_kit.handler import Found, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.shapes import ObjectOf
from provider_kit.values import property_map

_FAILURES = (AzureError, ProviderError, TimeoutError)
_SECONDS_OF_A_READ = 600.0
_SECONDS_OF_A_LOOK = 30.0


class AksResource:
    """The handler of one of AKS's types."""

    def __init__(
        self, aks_type: AksType, connection: Connection, cancellation: Cancellation
    ) -> None:
        self._type = aks_type
        self._connection = connection
        self._cancellation = cancellation

    @property
    def inputs(self) -> ObjectOf:
        return self._type.inputs

    def diff(self, old_inputs: Values, old_state: Values, new_inputs: Values) -> DiffResponse:
        return aks_diff(self._type, old_inputs, old_state, new_inputs)

    async def create(self, task: Task, inputs: Values) -> tuple[str, dict[str, Any]]:
        until = _time() + task.seconds
        clients = await self._connection.clients()
        resource_id = self._type.resource_id(clients.subscription, inputs)
        if await self._get(resource_id, task.seconds) is not None:
            raise ProviderError(
                f"{resource_id} exists already, but is not in this stack's state. Take it over "
                f"with `pulumi import {self._type.token} {task.name} {resource_id}`, or delete it."
            )
        try:
            poller = await self._put(clients, inputs, until)
            return resource_id, await self._finished(poller, inputs, until)
        except _FAILURES as error:
            if await self._may_be_there(clients, resource_id):
                raise _unfinished(resource_id, inputs, error) from error
            raise ProviderError(errors.said(error)) from error

    async def update(
        self,
        task: Task,
        resource_id: str,
        old_state: Values,  # noqa: ARG002 (a PUT says everything)
        inputs: Values,
    ) -> dict[str, Any]:
        until = _time() + task.seconds
        clients = await self._connection.clients()
        clients.require(resource_id)
        body = inputs
        if is_scaled_by_aks(inputs):
            body = with_counts(inputs, await self._get(resource_id, task.seconds) or {})
        try:
            poller = await self._put(clients, body, until)
        except _FAILURES as error:
            raise ProviderError(errors.said(error)) from error
        try:
            return await self._finished(poller, inputs, until)
        except _FAILURES as error:
            raise _unfinished(resource_id, inputs, error) from error

    async def read(self, resource_id: str, said: Values, state: Values) -> Found | None:
        outputs = await self._get(resource_id, _SECONDS_OF_A_READ)
        if outputs is None:
            return None
        actual = arm_form.inputs(self._type, outputs)
        if said:
            kept = {name: said[name] for name in arm_form.OF_NO_BODY if name in said}
            now = projected(self._type.inputs, said, actual, self._type.unordered) | kept
        else:
            now = {
                name: value
                for name, value in actual.items()
                if not self._type.is_filled_in(name, value)
            }
        kept = {name: state[name] for name in arm_form.OF_NO_BODY if name in state}
        return Found(resource_id, outputs | kept, now)

    async def delete(self, task: Task, resource_id: str, state: Values) -> None:  # noqa: ARG002
        names = self._type.names_in(resource_id).values()
        clients = await self._connection.clients()
        clients.require(resource_id)
        try:
            async with asyncio.timeout(task.seconds):
                poller: AsyncLROPoller[None] = await wait_out_conflicts(
                    lambda: self._operations(clients).begin_delete(*names), self._cancellation
                )
                await self._cancellation.watch(poller.result())
        except ResourceNotFoundError:
            return
        except (AzureError, TimeoutError) as error:
            raise ProviderError(errors.said(error)) from error

    async def _get(self, resource_id: str, seconds: float) -> dict[str, Any] | None:
        """The outputs of a resource as it is; None if there is none."""
        names = self._type.names_in(resource_id).values()
        clients = await self._connection.clients()
        clients.require(resource_id)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._cancellation.watch(self._operations(clients).get(*names))
        except ResourceNotFoundError:
            return None
        except (AzureError, TimeoutError) as error:
            raise ProviderError(errors.said(error)) from error
        return arm_form.outputs(self._type, answer.as_dict(), clients.api_version)

    async def _put(self, clients: Clients, inputs: Values, until: float) -> AsyncLROPoller[Any]:
        """Has Azure accept a resource as the inputs say."""
        names = [inputs[name] for name in self._type.path_names]
        body = arm_form.body(self._type, inputs)
        headers = inputs.get(HEADERS) or {}
        async with asyncio.timeout_at(until):
            accepted: AsyncLROPoller[Any] = await wait_out_conflicts(
                lambda: self._operations(clients).begin_create_or_update(
                    *names, body, headers=dict(headers)
                ),
                self._cancellation,
            )
        return accepted

    async def _finished(
        self, poller: AsyncLROPoller[Any], inputs: Values, until: float
    ) -> dict[str, Any]:
        """The outputs of a resource, once what Azure accepted is done."""
        clients = await self._connection.clients()
        async with asyncio.timeout_at(until):
            answer = await self._cancellation.watch(poller.result())
        told = arm_form.outputs(self._type, answer.as_dict(), clients.api_version)
        return told | arm_form.unseen(inputs)

    async def _may_be_there(self, clients: Clients, resource_id: str) -> bool:
        """Whether a PUT that failed has left something; also if nobody can say.

        It may have arrived while its answer was lost. An update that is being cancelled still
        looks: what Azure has, the state must not forget.
        """
        names = self._type.names_in(resource_id).values()
        try:
            async with asyncio.timeout(_SECONDS_OF_A_LOOK):
                await self._operations(clients).get(*names)
        except ResourceNotFoundError:
            return False
        except _FAILURES:
            return True
        return True

    def _operations(self, clients: Clients) -> Any:
        return getattr(clients.aks, self._type.operations)


def _time() -> float:
    return asyncio.get_running_loop().time()


def _unfinished(resource_id: str, inputs: Values, error: BaseException) -> ResourceInitError:
    return ResourceInitError(
        f"{resource_id} is there, but not as it should be: {errors.said(error)}\n"
        "It stays in the state; the next `pulumi up` goes on with it.",
        resource_id=resource_id,
        properties=property_map({**inputs, **arm_form.unseen(inputs)}),
    )
