"""The provider: turns the engine's calls into requests to the rehearsal's ARM server."""

import contextlib
import secrets
import uuid
from collections.abc import Iterator
from typing import Any

from pulumi.provider.experimental import provider as sdk

from aks_catalogue import networks
from aks_catalogue.mistakes import Mistake
from aks_catalogue.shapes import at
from provider_kit.arm import Change, NotFoundError, unchanged
from provider_kit.cancellation import Cancellation
from provider_kit.engine_log import EngineLog
from provider_kit.provider import Handler, HandlerProvider, Live, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError, type_token
from provider_kit.values import UNKNOWN, plain_map, plain_object, property_map
from rehearsal.offline_plug_ins.azure_native.arm import (
    AcceptedError,
    NativeArm,
    function_of,
    words,
    write,
)
from rehearsal.offline_plug_ins.azure_native.diff import difference
from rehearsal.offline_plug_ins.azure_native.made_up import HIDDEN_NAME
from rehearsal.offline_plug_ins.azure_native.native_types import (
    API_VERSION,
    TYPES,
    NativeType,
    args_shape,
)
from rehearsal.offline_plug_ins.azure_native.properties import (
    imported,
    outputs,
    preview,
    refreshed,
    request,
)
from rehearsal.offline_plug_ins.azure_native.shapes import NOT_A_PROPERTY, mistakes


class AzureNative(HandlerProvider):
    """The provider for the resource types of TYPES."""

    def __init__(self, warnings: EngineLog) -> None:
        cancellation = Cancellation()
        self._warnings = warnings
        self._arm = NativeArm(cancellation, words)
        # azure-native shows no progress while it waits.
        super().__init__({}, cancellation, EngineLog(None))

        # The setting for resources that do not say where they are.
        self._location = ""

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        self._location = str(plain_map(request.args or {}).get("location") or "")
        return await super().configure(request)

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return self.checked(request, ())

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        self.handler(request.type)
        native_type = TYPES[type_token(request.type)]
        old, given = plain_object(request.old_inputs), plain_object(request.new_inputs)
        defaults = {
            **_name(native_type, request, old),
            **await self._place(native_type, old, given),
        }
        given = {**defaults, **given}
        request.new_inputs = property_map(given)
        answer = await super().check(request)
        for warning in _warnings(native_type, given):
            await self._warnings.warning(request.urn, warning)
        inputs = {API_VERSION: native_type.api_version} | given
        return sdk.CheckResponse(inputs=property_map(inputs), failures=answer.failures)

    async def invoke(self, request: sdk.InvokeRequest) -> sdk.InvokeResponse:
        function = function_of(request.tok)
        if function is None:
            raise self.unknown(f"the function {request.tok}")
        async with self._arm.failing(None):
            answer = await self._cancellation.watch(function(self._arm, plain_map(request.args)))
        return sdk.InvokeResponse(property_map(answer))

    def handler(self, request_type: str) -> Handler:
        token = type_token(request_type)
        if token not in TYPES:
            raise self.unknown(f"the type {token}")
        return NativeResource(token, self._arm)

    def unknown(self, what: str) -> ProviderError:
        return ProviderError(
            f"The rehearsal's offline azure-native does not support {what}: docs/rehearsal.md "
            "lists what it covers."
        )

    async def _place(self, native_type: NativeType, old: Values, given: Values) -> Values:
        """Returns the location of a resource that does not say where it is, as azure-native."""
        group = given.get("resourceGroupName")
        if "location" not in native_type.inputs or "location" in given:
            return {}
        if location := old.get("location") or self._location:
            return {"location": location}
        if group is UNKNOWN:
            return {"location": UNKNOWN}
        known = TYPES["azure-native:resources:ResourceGroup"]
        if native_type is known or not isinstance(group, str):
            return {}
        path = known.resource_id(self._arm.subscription, {"resourceGroupName": group})
        found = await self._arm.get(path, known.api_version, None)
        return {"location": found["location"]} if found else {}


def _mistakes(native_type: NativeType, inputs: Values) -> list[Mistake]:
    own = (API_VERSION, HIDDEN_NAME)
    sent = {name: value for name, value in inputs.items() if name not in own}
    return list(mistakes(args_shape(native_type.args), sent))


def _warnings(native_type: NativeType, inputs: Values) -> Iterator[str]:
    """Yields what the rehearsal takes, and its user should know."""
    for each in _mistakes(native_type, inputs):
        if NOT_A_PROPERTY in each.reason:
            yield f"{each}. azure-native leaves it out without a word."
    services = at(inputs, "networkProfile.serviceCidr")
    if native_type.name == "ManagedCluster" and networks.is_public(networks.network(services)):
        yield (
            f"networkProfile.serviceCidr: {services} is public. AKS refuses such ranges since "
            "2023-09 by its release notes, but took some later: the rehearsal takes it."
        )


def _name(native_type: NativeType, request: sdk.CheckRequest, old: Values) -> Values:
    """Returns the name that azure-native makes up for a resource: it stays once it is there."""
    name = native_type.own_name
    if not name:
        return {}
    if name in old:
        return {name: old[name]}
    random = request.random_seed.hex() or secrets.token_hex(32)
    if name == "roleAssignmentName":
        return {name: str(uuid.UUID(random[:32], version=4))}
    return {name: f"{request.name}{random[:8]}"}


class NativeResource(Handler):
    """The handler of one resource type."""

    def __init__(self, token: str, arm: NativeArm) -> None:
        self._token = token
        self._arm = arm

    @property
    def _type(self) -> NativeType:
        return TYPES[self._token]

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        found = _mistakes(self._type, inputs)
        wrong = [each for each in found if NOT_A_PROPERTY not in each.reason]
        yield from wrong
        for name in self._type.path_names:
            if name not in inputs and name not in (mistake.path for mistake in wrong):
                yield Mistake(name, "is required")

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
            return Live(state, refreshed(self._type, old.inputs, old.outputs, state))
        return Live(state, imported(self._type, resource_id, answer))

    async def delete(self, task: Task, resource_id: str, state: Values) -> None:  # noqa: ARG002
        with contextlib.suppress(NotFoundError):
            change = Change("DELETE", resource_id, self._type.api_version, unchanged())
            await self._arm.change(change, task.until)

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
