"""Serves a provider to the engine.

The SDK's servicer lacks three things that a provider for a cloud cannot do without: the old inputs
in a diff and an update, failures without a Python traceback or a secret, and a way to say that a
resource was accepted but did not finish. They are added here.

That servicer is in `pulumi.provider.experimental`: it may change with any version of the SDK. This
is the one module that subclasses it and reads what it keeps to itself (`_provider`), so a new
version of the SDK is tried here first.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import grpc
from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime import proto
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from provider_kit.secrecy import Secrets, hide, legible, masked

# Large stacks send large messages; the engine's own limit is the same.
_CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", 400 * 1024 * 1024),
    ("grpc.max_send_message_length", 400 * 1024 * 1024),
]

# More than a cancellation lets a request take.
_SECONDS_TO_END = 15.0


class ProviderError(Exception):
    """A failure that the user sees in these words, without a traceback."""


class ResourceInitError(ProviderError):
    """The cloud accepted the resource, but it did not become ready.

    The engine keeps it in the state under its id, with the reason, and updates it the next time.
    """

    def __init__(
        self,
        reason: str,
        *,
        resource_id: str,
        properties: dict[str, PropertyValue],
        inputs: dict[str, PropertyValue] | None = None,
    ) -> None:
        super().__init__(reason)
        self.resource_id = resource_id
        self.properties = properties
        # What a refresh found the inputs to be.
        self.inputs = inputs


class DiffRequest(sdk.DiffRequest):
    """A diff that knows the inputs the resource had before."""

    old_inputs: dict[str, PropertyValue]


class UpdateRequest(sdk.UpdateRequest):
    """An update that knows the inputs the resource had before."""

    old_inputs: dict[str, PropertyValue]


def type_token(request_type: str) -> str:
    """Returns the type that a request is about: the SDK hands over those of its parents with it."""
    return request_type.rpartition("$")[2]


def serve(provider: sdk.Provider, version: str) -> None:
    """Runs the provider until the engine ends it, or is gone: the main function of a plug-in.

    Asked to end, it ends the work as a cancellation does, and the engine learns what came of it.
    """
    engine_address = sys.argv[1]
    # Python would write warnings of Azure's clients to the terminal, with what servers answered.
    logging.getLogger().addHandler(logging.NullHandler())

    async def run() -> None:
        server = grpc.aio.server(options=_CHANNEL_OPTIONS)
        servicer = _Servicer(sys.argv[1:], version, provider, engine_address)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        is_over = asyncio.Event()
        for asked in (signal.SIGINT, signal.SIGTERM):
            # Windows has no such handlers: there Python's own end the process at once.
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(asked, is_over.set)
        watching = asyncio.create_task(_until_gone(engine_address, is_over))
        try:
            # The engine reads the port from the first line of our output.
            os.write(sys.stdout.fileno(), f"{port}\n".encode())
        except (AttributeError, OSError):
            # There is no output, or nobody who reads it: whoever started this is gone.
            is_over.set()
        await is_over.wait()
        watching.cancel()
        await provider.cancel()
        await server.stop(_SECONDS_TO_END)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


async def _until_gone(engine_address: str, is_over: asyncio.Event) -> None:
    """Sets the event when an engine that was there cannot be reached any more.

    Our parent may be a language host, which outlives a killed engine by minutes.
    """
    states, was_there = grpc.ChannelConnectivity, False
    async with grpc.aio.insecure_channel(engine_address) as channel:
        state = channel.get_state(try_to_connect=True)
        while not (was_there and state is states.TRANSIENT_FAILURE):
            await channel.wait_for_state_change(state)
            state = channel.get_state(try_to_connect=True)
            # A connection is idle again once it has been there.
            was_there = was_there or state in (states.READY, states.IDLE)
    is_over.set()


_Method = Callable[[Any, Any, Any], Awaitable[Any]]
# Those of its configuration are a provider's in each request.
_of_configuration: WeakKeyDictionary[Any, Secrets] = WeakKeyDictionary()


def _tells_failures(method: _Method) -> _Method:
    """Answers a provider's failures as gRPC does, in the words the provider chose."""

    @wraps(method)
    async def call(self: ProviderServicer, request: Any, context: Any) -> Any:
        secrets = Secrets(request, getattr(self._provider, "hidden", ()))
        if method.__name__ == "Configure":
            _of_configuration[self._provider] = secrets
        hide(secrets, _of_configuration.get(self._provider, secrets))
        try:
            return await method(self, request, context)
        except Exception as raised:
            # The SDK's servicer wraps what a provider raises, not so ours of Diff and Update.
            behind = raised.__context__ if type(raised) is Exception else None
            error = behind or raised
            if isinstance(error, ResourceInitError):
                details = (("grpc-status-details-bin", _detail(error)),)
                await context.abort(grpc.StatusCode.UNKNOWN, masked(str(error)), details)
            if isinstance(error, ProviderError):
                await context.abort(grpc.StatusCode.UNKNOWN, masked(str(error)))
            if isinstance(raised, NotImplementedError):
                raise
            await context.abort(grpc.StatusCode.UNKNOWN, masked(_unforeseen(error)))

    return call


def _unforeseen(error: BaseException) -> str:
    """What nobody has thought of, and where, for those who mend it."""
    where = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(where[-1].filename).name}:{where[-1].lineno})" if where else ""
    return (
        f"Internal error of the provider{place}: {type(error).__name__}: {legible(str(error))}\n"
        "Please report it."
    )


def _detail(error: ResourceInitError) -> bytes:
    failed = provider_pb2.ErrorResourceInitFailed(
        id=error.resource_id,
        properties=PropertyValue.marshal_map(error.properties),
        inputs=PropertyValue.marshal_map(error.inputs) if error.inputs else None,
        reasons=[masked(str(error))],
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=masked(str(error)))
    status.details.add().Pack(failed)
    return status.SerializeToString()


def _diff_request(request: Any) -> DiffRequest:
    diff = DiffRequest(
        request.urn,
        request.id,
        PropertyValue.unmarshal_map(request.olds),
        PropertyValue.unmarshal_map(request.news),
        list(request.ignoreChanges),
    )
    diff.old_inputs = PropertyValue.unmarshal_map(request.old_inputs)
    return diff


def _diff_response(answer: sdk.DiffResponse) -> Any:
    kinds = proto.PropertyDiff
    return proto.DiffResponse(
        replaces=answer.replaces,
        stables=answer.stables,
        deleteBeforeReplace=answer.delete_before_replace,
        changes=proto.DiffResponse.DIFF_SOME if answer.changes else proto.DiffResponse.DIFF_NONE,
        diffs=answer.diffs,
        detailedDiff={
            path: kinds(kind=kinds.Kind.Value(change.kind.name), inputDiff=change.input_diff)
            for path, change in answer.detailed_diff.items()
        },
        hasDetailedDiff=True,
    )


class _Servicer(ProviderServicer):
    CheckConfig = _tells_failures(ProviderServicer.CheckConfig)
    Configure = _tells_failures(ProviderServicer.Configure)
    Check = _tells_failures(ProviderServicer.Check)
    Create = _tells_failures(ProviderServicer.Create)
    Read = _tells_failures(ProviderServicer.Read)
    Delete = _tells_failures(ProviderServicer.Delete)
    Invoke = _tells_failures(ProviderServicer.Invoke)
    GetSchema = _tells_failures(ProviderServicer.GetSchema)

    @_tells_failures
    async def Diff(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's names)
        return _diff_response(await self._provider.diff(_diff_request(request)))

    @_tells_failures
    async def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's)
        return _diff_response(await self._provider.diff_config(_diff_request(request)))

    @_tells_failures
    async def Update(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's names)
        update = UpdateRequest(
            request.urn,
            request.id,
            PropertyValue.unmarshal_map(request.olds),
            PropertyValue.unmarshal_map(request.news),
            timeout=request.timeout,
            ignore_changes=list(request.ignoreChanges),
            preview=request.preview,
        )
        update.old_inputs = PropertyValue.unmarshal_map(request.old_inputs)
        answer = await self._provider.update(update)
        return proto.UpdateResponse(properties=PropertyValue.marshal_map(answer.properties))
