"""The provider: turns the engine's calls into requests to the rehearsal's ARM server."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from catalogue.mistakes import Mistake
from provider_kit.arm import Arm, NotFoundError
from provider_kit.cancellation import Cancellation
from provider_kit.engine_log import EngineLog
from provider_kit.provider import Handler, HandlerProvider, Live, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError, type_token
from provider_kit.shapes import mistakes
from provider_kit.values import plain_map, property_map, without_nulls
from rehearsal.stand_ins.azure_native.arm import (
    FUNCTIONS,
    AcceptedError,
    NativeArm,
    words,
    write,
)
from rehearsal.stand_ins.azure_native.diff import difference
from rehearsal.stand_ins.azure_native.native_types import API_VERSION, TYPES, NativeType, args_shape
from rehearsal.stand_ins.azure_native.properties import (
    imported,
    outputs,
    preview,
    refreshed,
    request,
)


class AzureNative(HandlerProvider):
    """The provider for the resource types of TYPES."""

    name = "azure-native"

    def __init__(self) -> None:
        cancellation = Cancellation()
        self._arm = NativeArm(cancellation, words)
        handlers = {token: NativeResource(known, self._arm) for token, known in TYPES.items()}
        # azure-native shows no progress while it waits.
        super().__init__(handlers, cancellation, EngineLog(None))

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return self.checked(request, ())

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        answer = await super().check(request)
        api_version = TYPES[type_token(request.type)].api_version
        inputs = {API_VERSION: api_version} | self.plain(request.new_inputs)
        return sdk.CheckResponse(inputs=property_map(inputs), failures=answer.failures)

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        if request.tok not in FUNCTIONS:
            raise self.unknown(f"the function {request.tok}")
        async with self._arm.failing(None):
            answer = await self._cancellation.watch(
                FUNCTIONS[request.tok](self._arm, plain_map(request.args))
            )
        return sdk.InvokeResponse(property_map(answer))

    def unknown(self, what: str) -> ProviderError:
        return ProviderError(
            f"The rehearsal's stand-in for azure-native does not support {what}: docs/rehearsal.md "
            "lists what it covers."
        )

    def plain(self, values: Mapping[str, PropertyValue]) -> dict[str, Any]:
        """Returns plain values without nulls, which azure-native drops first."""
        plain: dict[str, Any] = without_nulls(plain_map(values or {}))
        return plain


class NativeResource(Handler):
    """The handler of one resource type."""

    def __init__(self, native_type: NativeType, arm: Arm) -> None:
        self._type = native_type
        self._arm = arm

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        sent = {name: value for name, value in inputs.items() if name != API_VERSION}
        wrong = list(mistakes(args_shape(self._type.args), sent))
        yield from wrong
        for name in self._type.path_names:
            if name not in sent and name not in (mistake.path for mistake in wrong):
                yield Mistake(name, "is required: the rehearsal does not generate names")

    def diff(self, old: Recorded, inputs: Values) -> sdk.DiffResponse:
        return difference(self._type, old.inputs, old.outputs, inputs)

    def preview(self, inputs: Values, state: Values) -> Values:
        return preview(self._type, inputs, state)

    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        resource_id = self._id(inputs)
        if await self._arm.get(resource_id, self._type.api_version, task.until) is not None:
            raise ProviderError(f"cannot create already existing resource '{resource_id}'")
        state = await self._write(task, inputs, {})
        return state.get("id") or resource_id, state

    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:  # noqa: ARG002 (it is made of the inputs)
        return await self._write(task, inputs, old.inputs)

    async def read(self, resource_id: str, old: Recorded) -> Live | None:
        # An older azure-native wrote older versions; a refresh goes on with them.
        version = str(old.outputs.get(API_VERSION) or self._type.api_version)
        answer = await self._arm.get(resource_id, version)
        if answer is None:
            return None
        state = outputs(self._type, answer) | {API_VERSION: version}
        if old.inputs:
            return Live(resource_id, state, refreshed(self._type, old.inputs, old.outputs, state))
        return Live(resource_id, state, imported(self._type, resource_id, answer))

    async def delete(self, task: Task, resource_id: str, state: Values) -> None:  # noqa: ARG002
        with contextlib.suppress(NotFoundError):
            async with self._arm.failing(task.until):
                accepted = await self._arm.begin("DELETE", resource_id, self._type.api_version)
            await self._arm.finish(accepted, task.until)

    def _id(self, inputs: Values) -> str:
        return self._type.resource_id(self._arm.subscription, inputs)

    async def _write(self, task: Task, inputs: Values, before: Values) -> dict[str, Any]:
        """Writes a resource; returns its outputs as they are read afterwards."""
        version, resource_id = self._type.api_version, self._id(inputs)
        sent = request(self._type, inputs, before)
        try:
            answer = await write(self._arm, sent, resource_id, version, task.until)
        except AcceptedError as error:
            raise await self._init_error(task, inputs, error) from error
        try:
            read = await self._arm.get(answer["id"], version, task.until)
        except ProviderError:
            # azure-native then uses the response of the write, with a warning.
            read = None
        return outputs(self._type, read or answer)

    async def _init_error(self, task: Task, inputs: Values, error: AcceptedError) -> ProviderError:
        """Returns the error for an accepted write that failed, with the state for the engine.

        The state has no outputs if Azure does not answer. If Azure has no such resource, neither
        has the state.
        """
        state: dict[str, Any] = {}
        resource_id = self._id(inputs)
        try:
            answer = await self._arm.get(resource_id, self._type.api_version, task.until)
        except ProviderError:
            pass
        else:
            if answer is None:
                return ProviderError(str(error))
            state = outputs(self._type, answer)
            # As azure-native leaves it out.
            del state[API_VERSION]
        return ResourceInitError(
            str(error),
            resource_id=resource_id,
            properties=property_map(state),
            inputs=property_map(inputs),
        )
