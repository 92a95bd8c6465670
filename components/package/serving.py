"""Serves components to the engine: what the SDK's servicer lacks for them."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from google.protobuf.struct_pb2 import ListValue, Value
from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails
from pulumi.runtime import rpc

from provider_kit.secrecy import masked
from provider_kit.serving import Servicer, reports_errors

_SIGNATURE = rpc._special_sig_key
_OF_OUTPUTS = rpc._special_output_value_sig
# The defaults of an output value, which the engine may omit.
_OUTPUT: Mapping[str, Value] = MappingProxyType(
    {
        "value": Value(string_value=rpc.UNKNOWN),
        "dependencies": Value(list_value=ListValue()),
        "secret": Value(bool_value=False),
    }
)


class ComponentServicer(Servicer):
    """Constructs components, one at a time, and names all their invalid arguments."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # The SDK has one global state for the resources that a component registers.
        self._constructing = asyncio.Lock()

    async def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        try:
            return await self._constructed(request, context)
        except InputPropertiesError as error:
            await context.abort_with_status(self._invalid(error))

    @reports_errors
    async def _constructed(self, request: Any, context: Any) -> Any:
        for value in request.inputs.fields.values():
            _complete(value)
        async with self._constructing:
            return await self._construct(request, context)

    def _invalid(self, error: InputPropertiesError) -> Any:
        """Returns the status of a component's invalid arguments, each with its property path."""
        errors = [
            InputPropertyErrorDetails(
                property_path=mistake["property_path"], reason=masked(mistake["reason"])
            )
            for mistake in error.errors or ()
        ]
        return self.create_grpc_invalid_properties_status(masked(error.message), errors)


def _complete(value: Value) -> None:
    """Completes the outputs in a value: the SDK cannot read one that is unknown, or not secret."""
    for item in value.list_value.values:
        _complete(item)
    fields = value.struct_value.fields
    # Reading a key that is not there would add it.
    if _SIGNATURE in fields and fields[_SIGNATURE].string_value == _OF_OUTPUTS:
        for name, default in _OUTPUT.items():
            if name not in fields:
                fields[name].CopyFrom(default)
    for member in fields.values():
        _complete(member)
