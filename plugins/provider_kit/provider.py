"""The base class of providers, which passes each request to the handler of its resource type."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from aks_catalogue.mistakes import Mistake
from provider_kit.cancellation import Cancellation
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.serving import (
    ProviderError,
    ResourceInitError,
    is_provider,
    old_inputs,
    type_token,
)
from provider_kit.values import (
    plain_map,
    plain_object,
    property_map,
    with_secrets,
    with_secrets_of,
)
from provider_kit.waiting import begin

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """An operation on one resource."""

    urn: str
    name: str
    # The deadline in the event loop's time, if any.
    until: float | None


class Recorded(NamedTuple):
    """A resource in the state."""

    inputs: Values
    outputs: Values


class Live(NamedTuple):
    """A resource as Azure has it now."""

    outputs: Values
    inputs: Values
    # Why it is not ready, if so. The engine stores the reason, and updates the resource next time.
    reason: str = ""


class Handler(ABC):
    """The operations on resources of one type, with plain values."""

    @abstractmethod
    def mistakes(self, inputs: Values) -> Iterable[Mistake]:
        """Returns the mistakes in the inputs."""

    def require(self, resource_id: str) -> None:  # noqa: B027
        """Refuses a resource outside this provider's subscription."""

    @abstractmethod
    def diff(self, old: Recorded, inputs: Values) -> sdk.DiffResponse:
        """Compares the old and the new inputs."""

    def preview(self, inputs: Values, outputs: Values) -> Values:
        """Returns the known outputs of a resource in a preview."""
        return {**outputs, **inputs}

    @abstractmethod
    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        """Creates a resource, and returns its ID and outputs."""

    @abstractmethod
    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:
        """Updates a resource, and returns its outputs."""

    @abstractmethod
    async def read(self, resource_id: str, old: Recorded) -> Live | None:
        """Returns the live resource, with the inputs that changed in Azure."""

    @abstractmethod
    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:
        """Deletes a resource. Does not fail if it is deleted already."""


class HandlerProvider(sdk.Provider):
    """Passes each request to the handler of its resource type."""

    # The names of secret properties.
    hidden: Collection[str] = ()
    # The default timeout of an operation; 0 means none.
    seconds = 0.0

    def __init__(
        self, handlers: Mapping[str, Handler], cancellation: Cancellation, log: EngineLog
    ) -> None:
        self._handlers = handlers
        self._cancellation = cancellation
        self._log = log

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:  # noqa: ARG002
        return sdk.ConfigureResponse(supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        handler, inputs = self.handler(request.type), plain_map(request.new_inputs)
        return self.checked(request, handler.mistakes(inputs))

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        state, inputs = plain_object(request.old_state), plain_object(request.new_inputs)
        if is_provider(request.type):
            # Nothing replaces resources: an ID says where one is, whatever the settings are. And
            # no new version updates a program's provider.
            changes = diff(state, inputs, replaces=(), ignored=["version"])
            changes.delete_before_replace = False
            return changes
        handler = self.handler(request.type)
        handler.require(request.resource_id)
        return handler.diff(Recorded(plain_object(old_inputs()), state), inputs)

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        handler, inputs = self.handler(request.type), plain_object(request.properties)
        if request.preview:
            outputs = handler.preview(inputs, {})
            return sdk.CreateResponse(properties=self.response(outputs, request.properties))
        task = self._task(request, request.timeout)
        with self._marking_errors(request.properties):
            resource_id, outputs = await handler.create(task, inputs)
        return sdk.CreateResponse(resource_id, self.response(outputs, request.properties))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        handler, inputs = self.handler(request.type), plain_object(request.news)
        old = Recorded(plain_object(old_inputs()), plain_object(request.olds))
        # Azure may still return a property that the program has removed.
        marked = {**request.olds, **old_inputs(), **request.news}
        if request.preview:
            outputs = handler.preview(inputs, old.outputs)
            return sdk.UpdateResponse(self.response(outputs, marked))
        task = self._task(request, request.timeout)
        with self._marking_errors(marked):
            outputs = await handler.update(task, request.resource_id, old, inputs)
        return sdk.UpdateResponse(self.response(outputs, marked))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        old = Recorded(plain_object(request.inputs), plain_object(request.properties))
        begin(partial(self._log.info, request.urn))
        live = await self.handler(request.type).read(request.resource_id, old)
        if live is None:
            return sdk.ReadResponse()
        outputs = self.response(live.outputs, {**request.inputs, **request.properties})
        inputs = self.response(live.inputs, {**request.properties, **request.inputs})
        if live.reason:
            raise ResourceInitError(
                live.reason, resource_id=request.resource_id, properties=outputs, inputs=inputs
            )
        return sdk.ReadResponse(request.resource_id, outputs, inputs)

    async def delete(self, request: sdk.DeleteRequest) -> None:
        task, outputs = self._task(request, request.timeout), plain_object(request.properties)
        await self.handler(request.type).delete(task, request.resource_id, outputs)

    async def cancel(self) -> None:
        self._cancellation.ask()

    def handler(self, request_type: str) -> Handler:
        token = type_token(request_type)
        if token not in self._handlers:
            raise ProviderError(f"{token} is none of {', '.join(self._handlers)}.")
        return self._handlers[token]

    def checked(self, request: sdk.CheckRequest, mistakes: Iterable[Mistake]) -> sdk.CheckResponse:
        failures = [sdk.CheckFailure(*mistake) for mistake in mistakes]
        inputs = with_secrets(request.new_inputs, self.hidden)
        return sdk.CheckResponse(inputs=inputs, failures=failures)

    def response(
        self, values: Values, marked: Mapping[str, PropertyValue]
    ) -> dict[str, PropertyValue]:
        """Returns values in the engine's format. What is a secret in `marked` is a secret."""
        return self._mark(property_map(values), marked)

    @contextmanager
    def _marking_errors(self, marked: Mapping[str, PropertyValue]) -> Iterator[None]:
        """Also marks the secrets of a resource that did not become ready."""
        try:
            yield
        except ResourceInitError as error:
            error.properties = self._mark(error.properties, marked)
            raise

    def _mark(
        self, values: Mapping[str, PropertyValue], marked: Mapping[str, PropertyValue]
    ) -> dict[str, PropertyValue]:
        return with_secrets_of(with_secrets(values, self.hidden), marked)

    def _task(
        self, request: sdk.CreateRequest | sdk.UpdateRequest | sdk.DeleteRequest, timeout: float
    ) -> Task:
        begin(partial(self._log.info, request.urn))
        seconds = timeout or self.seconds
        until = asyncio.get_running_loop().time() + seconds if seconds else None
        return Task(request.urn, request.name, until)
