"""The stand-in itself: what the engine asks of azure-native, as requests to the rehearsal's ARM."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental import provider as sdk

from provider_kit import diff as plain_diff
from provider_kit.azure_cloud import setting
from provider_kit.cancellation import Cancellation
from provider_kit.serving import DiffRequest, ProviderError, ResourceInitError, UpdateRequest
from provider_kit.shapes import mistakes
from provider_kit.values import plain_map, property_map
from rehearsal.stand_ins.azure_native.arm import AcceptedError, Arm
from rehearsal.stand_ins.azure_native.diff import API_VERSION, difference
from rehearsal.stand_ins.azure_native.functions import FUNCTIONS
from rehearsal.stand_ins.azure_native.inputs import imported, refreshed
from rehearsal.stand_ins.azure_native.outputs import outputs, preview
from rehearsal.stand_ins.azure_native.shapes import args_shape
from rehearsal.stand_ins.azure_native.types import TYPES, ArmType
from rehearsal.stand_ins.azure_native.writes import write


class AzureNative(sdk.Provider):
    """Turns the resource types of a table into ARM's requests."""

    def __init__(self) -> None:
        self._cancellation = Cancellation()
        self._arm = Arm(self._cancellation)

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:  # noqa: ARG002
        return sdk.ConfigureResponse(supports_preview=True)

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return sdk.CheckResponse(inputs=request.new_inputs)

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        old, new = plain_map(request.old_state), plain_map(request.new_inputs)
        return plain_diff.diff(old, new, replaces=())

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        arm_type = _arm_type(request.type)
        inputs = _given(request.new_inputs)
        api_version = inputs.pop(API_VERSION, arm_type.api_version)
        shape = args_shape(arm_type.args)
        failures = [sdk.CheckFailure(*mistake) for mistake in mistakes(shape, inputs)]
        named = {failure.property for failure in failures}
        failures += [
            sdk.CheckFailure(name, "is required: the rehearsal makes up no names")
            for name in arm_type.path_properties
            if name not in inputs and name not in named
        ]
        checked = property_map(inputs | {API_VERSION: api_version})
        return sdk.CheckResponse(inputs=checked, failures=failures)

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        assert isinstance(request, DiffRequest)  # noqa: S101 (what our servicer hands over)
        return difference(
            _arm_type(request.type),
            _given(request.old_inputs),
            _given(request.old_state),
            _given(request.new_inputs),
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        arm_type, inputs = _arm_type(request.type), _given(request.properties)
        if request.preview:
            return sdk.CreateResponse(properties=property_map(preview(arm_type, inputs, {})))
        resource_id = arm_type.resource_id(setting("ARM_SUBSCRIPTION_ID"), inputs)
        until = _deadline(request.timeout)
        if await self._arm.get(resource_id, arm_type.api_version, until) is not None:
            raise ProviderError(f"cannot create already existing resource '{resource_id}'")
        answer = await self._write(arm_type, resource_id, inputs, {}, until)
        return sdk.CreateResponse(answer.get("id") or resource_id, property_map(answer))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        assert isinstance(request, UpdateRequest)  # noqa: S101 (what our servicer hands over)
        arm_type, inputs = _arm_type(request.type), _given(request.news)
        if request.preview:
            expected = preview(arm_type, inputs, _given(request.olds))
            return sdk.UpdateResponse(property_map(expected))
        resource_id = arm_type.resource_id(setting("ARM_SUBSCRIPTION_ID"), inputs)
        before, until = _given(request.old_inputs), _deadline(request.timeout)
        answer = await self._write(arm_type, resource_id, inputs, before, until)
        return sdk.UpdateResponse(property_map(answer))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        arm_type, inputs = _arm_type(request.type), _given(request.inputs)
        answer = await self._arm.get(request.resource_id, arm_type.api_version)
        if answer is None:
            return sdk.ReadResponse()
        state = outputs(arm_type, answer)
        now = (
            refreshed(arm_type, inputs, _given(request.properties), state)
            if inputs
            else imported(arm_type, request.resource_id, answer)
        )
        return sdk.ReadResponse(request.resource_id, property_map(state), property_map(now))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        api_version = _arm_type(request.type).api_version
        await self._arm.delete(request.resource_id, api_version, _deadline(request.timeout))

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        if request.tok not in FUNCTIONS:
            raise ProviderError(_OUT_OF_COVER.format(f"the function {request.tok}"))
        answer = await self._arm.call(FUNCTIONS[request.tok], plain_map(request.args))
        return sdk.InvokeResponse(property_map(answer))

    async def cancel(self) -> None:
        self._cancellation.ask()

    async def _write(
        self,
        arm_type: ArmType,
        resource_id: str,
        inputs: dict[str, Any],
        before: Mapping[str, Any],
        until: float | None,
    ) -> dict[str, Any]:
        """The outputs of a resource that has been written, and read again."""
        request = write(arm_type, inputs, before)
        try:
            answer = await self._arm.write(resource_id, request, arm_type.api_version, until)
        except AcceptedError as error:
            raise await self._kept(arm_type, resource_id, inputs, error, until) from error
        try:
            read = await self._arm.get(answer["id"], arm_type.api_version, until)
        except ProviderError:
            # azure-native goes on with what the write has answered, and warns.
            read = None
        return outputs(arm_type, read or answer)

    async def _kept(
        self,
        arm_type: ArmType,
        resource_id: str,
        inputs: dict[str, Any],
        error: AcceptedError,
        until: float | None,
    ) -> ProviderError:
        """What the engine keeps of a write that Azure accepted: nothing, if Azure has nothing.

        Where Azure does not answer, it keeps the resource without any outputs.
        """
        state: dict[str, Any] = {}
        try:
            answer = await self._arm.get(resource_id, arm_type.api_version, until)
        except ProviderError:
            pass
        else:
            if answer is None:
                return ProviderError(str(error))
            state = outputs(arm_type, answer)
        return ResourceInitError(
            str(error),
            resource_id=resource_id,
            properties=property_map(state),
            inputs=property_map(inputs),
        )


_OUT_OF_COVER = (
    "The rehearsal's stand-in for azure-native does not know {}: docs/rehearsal.md lists "
    "what it covers."
)


def _given(values: Any) -> dict[str, Any]:
    """Plain values, without the nulls that azure-native drops before it looks."""
    plain: dict[str, Any] = _without_nulls(plain_map(values or {}))
    return plain


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(held) for name, held in value.items() if held is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _deadline(seconds: float) -> float | None:
    return asyncio.get_running_loop().time() + seconds if seconds else None


def _arm_type(request_type: str) -> ArmType:
    # The SDK hands over the types of a resource's parents with its own.
    token = request_type.rpartition("$")[2]
    try:
        return TYPES[token]
    except KeyError:
        raise ProviderError(_OUT_OF_COVER.format(f"the type {token}")) from None
