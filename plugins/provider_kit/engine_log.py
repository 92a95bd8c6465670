"""Reports messages to the user, through the engine that runs the update."""

import contextlib
import sys
from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

from provider_kit.secrecy import masked


class EngineLog:
    """The engine's log, with the resource of each message. Ignores errors.

    Without an engine's address, it does nothing.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._engine: Any = None

    async def status(self, urn: str, message: str) -> None:
        """Shows a message only while the engine works on the resource."""
        await self._log(engine_pb2.INFO, urn, message, ephemeral=True)

    async def info(self, urn: str, message: str) -> None:
        await self._log(engine_pb2.INFO, urn, message)

    async def warning(self, urn: str, message: str) -> None:
        await self._log(engine_pb2.WARNING, urn, message)

    async def _log(
        self,
        severity: engine_pb2.LogSeverity.ValueType,
        urn: str,
        message: str,
        *,
        ephemeral: bool = False,
    ) -> None:
        if self._address is None:
            return
        if self._engine is None:
            # A channel belongs to the event loop that runs when it is opened.
            channel = grpc.aio.insecure_channel(self._address)
            self._engine = engine_pb2_grpc.EngineStub(channel)
        request = engine_pb2.LogRequest(
            severity=severity, urn=urn, message=masked(message), ephemeral=ephemeral
        )
        with contextlib.suppress(grpc.RpcError):
            await self._engine.Log(request)


def engine_address() -> str | None:
    """Returns the engine's address, from the arguments of the plug-in."""
    return next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
