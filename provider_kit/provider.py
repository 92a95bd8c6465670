"""A provider as a table of handlers: what the engine asks goes to whoever handles the type."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue

from catalogue.mistakes import Mistake
from provider_kit.cancellation import Cancellation
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.serving import (
    DiffRequest,
    ProviderError,
    ResourceInitError,
    UpdateRequest,
    type_token,
)
from provider_kit.values import (
    laid_over,
    plain_map,
    property_map,
    with_secrets,
    with_secrets_anywhere,
    with_secrets_of,
)
from provider_kit.waiting import begin

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """One resource to work on."""

    urn: str
    name: str
    # When it has to be done, by the clock of the event loop; None if it may take any time.
    until: float | None


class Recorded(NamedTuple):
    """A resource as the state has it."""

    inputs: Values
    outputs: Values


class Found(NamedTuple):
    """A resource as it is now."""

    resource_id: str
    outputs: Values
    inputs: Values
    # Why it is not as it should be; the engine keeps that, and updates the resource the next time.
    reason: str = ""


class Handler(ABC):
    """What a provider does for one type of resource. All values are plain ones."""

    @abstractmethod
    def mistakes(self, inputs: Values) -> Iterable[Mistake]:
        """Returns everything that is wrong with inputs."""

    def rivals(self, urn: str, inputs: Values) -> Iterable[Mistake]:  # noqa: ARG002
        """Returns what another resource of the program has already; the inputs are no mistake."""
        return ()

    def require(self, resource_id: str) -> None:  # noqa: B027
        """Refuses what lies where this provider is not."""

    @abstractmethod
    def diff(self, old: Recorded, inputs: Values) -> sdk.DiffResponse:
        """Returns what a change of the inputs does."""

    def compared(self, urn: str, resource_id: str, *, stays: bool) -> None:  # noqa: B027
        """Learns whether a resource of the program stays what it is in Azure."""

    def preview(self, inputs: Values, outputs: Values) -> Values:
        """Returns what is known of the outputs of a resource before it is made as inputs say."""
        return {**outputs, **inputs}

    @abstractmethod
    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        """Returns the id and the outputs of a new resource."""

    @abstractmethod
    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:
        """Returns the outputs of a resource that is made as the inputs say."""

    @abstractmethod
    async def read(self, resource_id: str, old: Recorded) -> Found | None:
        """Returns a resource as it is now, its inputs in the words of the old ones."""

    @abstractmethod
    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:
        """Takes a resource away; one that is gone already is no failure."""


class HandlerProvider(sdk.Provider):
    """Hands each request to the handler of its type."""

    name: str
    # What is a secret in all that the engine is told, by its name.
    hidden: Collection[str] = ()
    # Whether the engine marks secrets for it, so that it can mask them; it marks those of what it
    # is given in what it answers. For others the engine does so, by the names of properties.
    takes_secrets = False
    # How long an operation may take where its resource does not say it; 0 is any time.
    seconds = 0.0

    def __init__(
        self, handlers: Mapping[str, Handler], cancellation: Cancellation, log: EngineLog
    ) -> None:
        self._handlers = handlers
        self._cancellation = cancellation
        self._log = log

    async def ready(self) -> None:
        """Does what has to be done before the first resource, and may take time."""

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        # A resource lies where its id says: other settings only change how one gets there.
        return diff(plain_map(request.old_state), plain_map(request.new_inputs), replaces=())

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:  # noqa: ARG002
        return sdk.ConfigureResponse(accept_secrets=self.takes_secrets, supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        handler, inputs = self.handler(request.type), plain_map(request.new_inputs)
        found = [*handler.mistakes(inputs)] or handler.rivals(request.urn, inputs)
        return self.checked(request, found)

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        assert isinstance(request, DiffRequest)  # noqa: S101 (what our servicer hands over)
        handler = self.handler(request.type)
        handler.require(request.resource_id)
        old = Recorded(self.plain(request.old_inputs), self.plain(request.old_state))
        compared = handler.diff(old, self.plain(request.new_inputs))
        handler.compared(request.urn, request.resource_id, stays=not compared.replaces)
        return compared

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        handler, inputs = self.handler(request.type), self.plain(request.properties)
        if request.preview:
            previewed = handler.preview(inputs, {})
            return sdk.CreateResponse(properties=self.answered(previewed, request.properties))
        await self.ready()
        task = self._task(request, request.timeout)
        with self._telling(request.properties):
            resource_id, outputs = await handler.create(task, inputs)
        return sdk.CreateResponse(resource_id, self.answered(outputs, request.properties))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        assert isinstance(request, UpdateRequest)  # noqa: S101 (what our servicer hands over)
        handler, inputs = self.handler(request.type), self.plain(request.news)
        old = Recorded(self.plain(request.old_inputs), self.plain(request.olds))
        # What the program no longer says, Azure may still have.
        given = laid_over(request.news, laid_over(request.old_inputs, request.olds))
        if request.preview:
            previewed = handler.preview(inputs, old.outputs)
            return sdk.UpdateResponse(self.answered(previewed, given))
        await self.ready()
        task = self._task(request, request.timeout)
        with self._telling(given):
            outputs = await handler.update(task, request.resource_id, old, inputs)
        return sdk.UpdateResponse(self.answered(outputs, given))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        await self.ready()
        old = Recorded(self.plain(request.inputs), self.plain(request.properties))
        begin(partial(self._log.info, request.urn))
        found = await self.handler(request.type).read(request.resource_id, old)
        if found is None:
            return sdk.ReadResponse()
        stated, said = request.properties, request.inputs
        outputs = self.answered(found.outputs, laid_over(stated, said))
        inputs = self.answered(found.inputs, laid_over(said, stated))
        if found.reason:
            raise ResourceInitError(
                found.reason, resource_id=found.resource_id, properties=outputs, inputs=inputs
            )
        return sdk.ReadResponse(found.resource_id, outputs, inputs)

    async def delete(self, request: sdk.DeleteRequest) -> None:
        await self.ready()
        task, outputs = self._task(request, request.timeout), self.plain(request.properties)
        await self.handler(request.type).delete(task, request.resource_id, outputs)

    async def cancel(self) -> None:
        self._cancellation.ask()

    def handler(self, request_type: str) -> Handler:
        token = type_token(request_type)
        if token not in self._handlers:
            raise self.unknown(f"the type {token}")
        return self._handlers[token]

    def unknown(self, what: str) -> ProviderError:
        """Returns the refusal of what the provider does not have."""
        known = ", ".join(self._handlers)
        return ProviderError(f"{self.name} does not support {what}. It supports {known}.")

    def plain(self, values: Mapping[str, PropertyValue]) -> dict[str, Any]:
        return plain_map(values)

    def checked(self, request: sdk.CheckRequest, found: Iterable[Mistake]) -> sdk.CheckResponse:
        failures = [sdk.CheckFailure(*mistake) for mistake in found]
        inputs = with_secrets(request.new_inputs, self.hidden)
        return sdk.CheckResponse(inputs=inputs, failures=failures)

    def answered(
        self, values: Values, given: Mapping[str, PropertyValue]
    ) -> dict[str, PropertyValue]:
        """Returns values as the engine gets them: what it has given as a secret is one."""
        return self._hidden_in(property_map(values), given)

    @contextmanager
    def _telling(self, given: Mapping[str, PropertyValue]) -> Iterator[None]:
        """Hides in a resource that did not become ready what is hidden in one that did."""
        try:
            yield
        except ResourceInitError as error:
            error.properties = self._hidden_in(error.properties, given)
            raise

    def _hidden_in(
        self, values: Mapping[str, PropertyValue], given: Mapping[str, PropertyValue]
    ) -> dict[str, PropertyValue]:
        marked = with_secrets_of(with_secrets(values, self.hidden), given)
        return with_secrets_anywhere(marked, given)

    def _task(
        self, request: sdk.CreateRequest | sdk.UpdateRequest | sdk.DeleteRequest, timeout: float
    ) -> Task:
        begin(partial(self._log.info, request.urn))
        seconds = timeout or self.seconds
        until = asyncio.get_running_loop().time() + seconds if seconds else None
        return Task(request.urn, request.name, until)
