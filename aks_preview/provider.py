"""The provider: what the engine asks, handed to the handler of the type that it asks about."""

from collections.abc import Iterable, Mapping
from itertools import chain

from pulumi.provider.experimental import provider as sdk

from aks_preview.aks_resource import AksResource
from aks_preview.aks_types import AKS_TYPES
from aks_preview.features import FEATURE_TYPE, FeatureRegistration
from aks_preview.headers import header_mistakes
from aks_preview.schema import schema
from catalogue.mistakes import Mistake
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration, setting_mistakes
from provider_kit.connection import Connection
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog, engine_address
from provider_kit.handler import Handler, Task
from provider_kit.secrecy import with_secrets
from provider_kit.serving import DiffRequest, ProviderError
from provider_kit.shapes import mistakes
from provider_kit.values import plain_map, property_map

# How long an operation may take where the resource does not say it.
_SECONDS = 3600.0


class AksPreview(sdk.Provider):
    """Node pools, clusters and preview features of AKS, with HTTP headers of one's choice."""

    def __init__(self) -> None:
        self._cancellation = Cancellation()
        self._connection = Connection(self._cancellation)
        shared = self._connection, self._cancellation
        self._handlers: Mapping[str, Handler] = {
            **{token: AksResource(known, *shared) for token, known in AKS_TYPES.items()},
            FEATURE_TYPE: FeatureRegistration(*shared, EngineLog(engine_address())),
        }

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:  # noqa: ARG002
        return sdk.GetSchemaResponse(schema())

    async def check_config(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return _checked(request, setting_mistakes(plain_map(request.new_inputs)))

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        # A resource lies where its id says: other settings only change how one gets there.
        return diff(plain_map(request.old_state), plain_map(request.new_inputs), replaces=())

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        self._connection.configuration = Configuration(plain_map(request.args))
        return sdk.ConfigureResponse(supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        inputs = plain_map(request.new_inputs)
        shape = self._handler(request.type).inputs
        return _checked(request, chain(mistakes(shape, inputs), header_mistakes(inputs)))

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        assert isinstance(request, DiffRequest)  # noqa: S101 (what our servicer hands over)
        return self._handler(request.type).diff(
            plain_map(request.old_inputs),
            plain_map(request.old_state),
            plain_map(request.new_inputs),
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        handler, inputs = self._handler(request.type), plain_map(request.properties)
        if request.preview:
            return sdk.CreateResponse(properties=property_map(inputs))
        resource_id, outputs = await handler.create(_task(request, request.timeout), inputs)
        return sdk.CreateResponse(resource_id, property_map(outputs))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        handler, old, inputs = (
            self._handler(request.type),
            plain_map(request.olds),
            plain_map(request.news),
        )
        if request.preview:
            return sdk.UpdateResponse(property_map({**old, **inputs}))
        task = _task(request, request.timeout)
        outputs = await handler.update(task, request.resource_id, old, inputs)
        return sdk.UpdateResponse(property_map(outputs))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        found = await self._handler(request.type).read(
            request.resource_id, plain_map(request.inputs), plain_map(request.properties)
        )
        if found is None:
            return sdk.ReadResponse()
        return sdk.ReadResponse(
            found.resource_id,
            with_secrets(property_map(found.outputs)),
            with_secrets(property_map(found.inputs)),
        )

    async def delete(self, request: sdk.DeleteRequest) -> None:
        task = _task(request, request.timeout)
        state = plain_map(request.properties)
        await self._handler(request.type).delete(task, request.resource_id, state)

    async def cancel(self) -> None:
        self._cancellation.ask()

    def _handler(self, request_type: str) -> Handler:
        # The SDK hands over the types of the resource's parents with its own.
        token = request_type.rpartition("$")[2]
        try:
            return self._handlers[token]
        except KeyError:
            known = ", ".join(self._handlers)
            raise ProviderError(f"aks-preview has no type {token}; it has {known}.") from None


def _checked(request: sdk.CheckRequest, found: Iterable[Mistake]) -> sdk.CheckResponse:
    failures = [sdk.CheckFailure(*mistake) for mistake in found]
    return sdk.CheckResponse(inputs=with_secrets(request.new_inputs), failures=failures)


def _task(
    request: sdk.CreateRequest | sdk.UpdateRequest | sdk.DeleteRequest, timeout: float
) -> Task:
    return Task(request.urn, request.name, timeout or _SECONDS)
