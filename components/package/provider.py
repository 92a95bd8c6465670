"""The package as a provider: it makes each component that a program in any language asks for."""

import asyncio
from functools import cached_property
from typing import Any

import pulumi
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from components.arguments import unreadable
from components.declared import camel_case
from components.package.inputs import Reader
from components.package.schema import arguments_of, as_text, component_types, outputs_of
from provider_kit.secrecy import masked
from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN, property_value


class Components(sdk.Provider):
    """Creates components."""

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:  # noqa: ARG002
        return sdk.GetSchemaResponse(schema=as_text())

    async def construct(self, request: sdk.ConstructRequest) -> sdk.ConstructResponse:
        component = component_types().get(request.resource_type)
        if component is None:
            known = ", ".join(component_types())
            raise ProviderError(f"The package has no {request.resource_type}. It has {known}.")
        reader = Reader()
        arguments = reader.arguments(arguments_of(component), request.inputs)
        with unreadable(reader.mistakes):
            made: Any = component(request.name, arguments, request.options)
        names = outputs_of(component)
        values = await asyncio.gather(*(_output(made, name) for name in names))
        state = dict(zip(map(camel_case, names), values, strict=True))
        urn = await made.urn.future()
        return sdk.ConstructResponse(urn, state, {})


async def _output(component: Any, name: str) -> PropertyValue:
    """Returns the engine's form of an output; of one that cannot be looked up, a warning."""
    try:
        return await _property(pulumi.Output.from_input(getattr(component, name)))
    except Exception as error:
        if not _is_looked_up(component, name):
            raise
        pulumi.log.warn(f"{camel_case(name)} is left out: {masked(str(error))}", component)
        return PropertyValue(None)


def _is_looked_up(component: Any, name: str) -> bool:
    """Whether an output needs a request of its own to Azure, which may be refused."""
    return isinstance(getattr(type(component), name, None), cached_property)


async def _property(output: pulumi.Output[Any]) -> PropertyValue:
    """Returns the engine's form of an output, with what it depends on."""
    value = await output.future(with_unknowns=True)
    known = await output.is_known() and not rpc.contains_unknowns(value)
    urns = [await resource.urn.future() for resource in await output.resources()]
    return PropertyValue(
        property_value(value if known else UNKNOWN).value,
        await output.is_secret(),
        [urn for urn in urns if urn],
    )
