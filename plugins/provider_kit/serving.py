"""Serves a provider to the engine.

This module adds what the SDK's servicer lacks: the old inputs in Diff and Update, errors without
tracebacks and secrets, and the error for a resource that was created but did not become ready.

The servicer is in `pulumi.provider.experimental`, and may change with any version of the SDK. Only
this module subclasses it and uses its private `_provider`.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

import grpc
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from provider_kit.secrecy import Secrets, hide, legible, masked

# Longer than a request can take after a cancellation.
_SECONDS_TO_END = 15.0


class ProviderError(Exception):
    """An error that the user sees without a traceback."""


class ResourceInitError(ProviderError):
    """A resource was created or updated, but did not become ready.

    The engine keeps it in the state with its ID and the reason, and updates it the next time.
    """

    def __init__(
        self,
        reason: str,
        *,
        resource_id: str,
        properties: dict[str, PropertyValue],
        inputs: dict[str, PropertyValue] | None = None,
        details: Iterable[str] = (),
    ) -> None:
        super().__init__(reason)
        # Further reasons, which the engine lists after the first one.
        self.details = tuple(details)
        self.resource_id = resource_id
        self.properties = properties
        # The inputs that a refresh has read.
        self.inputs = inputs


# The request of the engine that runs: each has its own context.
_REQUEST: ContextVar[Any] = ContextVar("request")


def old_inputs() -> dict[str, PropertyValue]:
    """Returns the inputs in the state, in a diff or an update."""
    return PropertyValue.unmarshal_map(_REQUEST.get().old_inputs)


def is_provider(request_type: str) -> bool:
    """Whether a request is about the provider's configuration, not a resource."""
    return request_type.startswith("pulumi:providers:")


def type_token(request_type: str) -> str:
    """Returns the type of a request's resource, without the types of its parents."""
    return request_type.rpartition("$")[2]


def serve(provider: sdk.Provider, version: str) -> None:
    """Runs the provider until the engine stops it or has ended. The main function of a plug-in.

    A signal cancels running requests, and the engine still gets their results.
    """
    engine_address = sys.argv[1]
    # Otherwise Python prints warnings of the Azure SDK, with responses of servers.
    logging.getLogger().addHandler(logging.NullHandler())

    async def run() -> None:
        server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
        serving = Servicer(sys.argv[1:], version, provider, engine_address)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(serving, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        is_over = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            # On Windows, asyncio has no signal handlers, and a signal ends the process at once.
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, is_over.set)
        watching = asyncio.create_task(_until_gone(engine_address, is_over))
        try:
            # The engine reads the port from the first line of the output.
            os.write(sys.stdout.fileno(), f"{port}\n".encode())
        except (AttributeError, OSError):
            # The process that started the plug-in has ended.
            is_over.set()
        await is_over.wait()
        watching.cancel()
        await provider.cancel()
        await server.stop(_SECONDS_TO_END)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


async def _until_gone(engine_address: str, is_over: asyncio.Event) -> None:
    """Sets the event when a connection to the engine is lost.

    The parent process is not enough: a language host runs for minutes after its engine is killed.
    """
    states, was_connected = grpc.ChannelConnectivity, False
    async with grpc.aio.insecure_channel(engine_address) as channel:
        state = channel.get_state(try_to_connect=True)
        while not (was_connected and state is states.TRANSIENT_FAILURE):
            await channel.wait_for_state_change(state)
            state = channel.get_state(try_to_connect=True)
            # A connection becomes idle after it was ready.
            was_connected = was_connected or state in (states.READY, states.IDLE)
    is_over.set()


_Method = Callable[[Any, Any, Any], Awaitable[Any]]


def _reports_errors(method: _Method) -> _Method:
    """Returns a provider's errors as gRPC errors, with masked secrets."""

    @wraps(method)
    async def call(self: "Servicer", request: Any, context: Any) -> Any:
        if isinstance(request, provider_pb2.ConfigureRequest):
            self.configuration = request
        _REQUEST.set(request)
        hide(Secrets(getattr(self._provider, "hidden", ()), request, self.configuration))
        try:
            return await method(self, request, context)
        except Exception as raised:
            # The SDK's servicer wraps a provider's errors.
            original = raised.__context__ if type(raised) is Exception else None
            error = original or raised
            if isinstance(error, ResourceInitError):
                details = (("grpc-status-details-bin", _detail(error)),)
                await context.abort(grpc.StatusCode.UNKNOWN, masked(str(error)), details)
            if isinstance(error, ProviderError):
                await context.abort(grpc.StatusCode.UNKNOWN, masked(str(error)))
            if isinstance(raised, NotImplementedError):
                raise
            await context.abort(grpc.StatusCode.UNKNOWN, masked(_internal_error(error)))

    return call


def _internal_error(error: BaseException) -> str:
    """Returns the message for an unexpected error, with its place in the source."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return (
        f"Internal error of the provider{place}: {type(error).__name__}: {legible(str(error))}\n"
        "Please report it."
    )


def _detail(error: ResourceInitError) -> bytes:
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.resource_id,
        properties=PropertyValue.marshal_map(error.properties),
        inputs=PropertyValue.marshal_map(error.inputs) if error.inputs else None,
        reasons=[masked(reason) for reason in (str(error), *error.details)],
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=masked(str(error)))
    status.details.add().Pack(detail)
    return status.SerializeToString()


class Servicer(ProviderServicer):
    """Answers the engine's requests."""

    # Its secrets are masked in the answers to all requests.
    configuration = provider_pb2.ConfigureRequest()

    CheckConfig = _reports_errors(ProviderServicer.CheckConfig)
    # The SDK's own DiffConfig cannot tell what has changed.
    DiffConfig = _reports_errors(ProviderServicer.Diff)
    Configure = _reports_errors(ProviderServicer.Configure)
    Check = _reports_errors(ProviderServicer.Check)
    Diff = _reports_errors(ProviderServicer.Diff)
    Create = _reports_errors(ProviderServicer.Create)
    Update = _reports_errors(ProviderServicer.Update)
    Read = _reports_errors(ProviderServicer.Read)
    Delete = _reports_errors(ProviderServicer.Delete)
    Invoke = _reports_errors(ProviderServicer.Invoke)
    GetSchema = _reports_errors(ProviderServicer.GetSchema)
