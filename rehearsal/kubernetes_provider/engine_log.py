"""Tells the user something, through the engine, beside the resource that it is about."""

import contextlib
from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc


class EngineLog:
    """The engine's log; what cannot be told is left untold."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._engine: Any = None

    async def status(self, urn: str, message: str) -> None:
        """What happens right now: shown while the resource is worked on, and not kept."""
        await self._log(urn, message, engine_pb2.INFO, ephemeral=True)

    async def warn(self, urn: str, message: str) -> None:
        await self._log(urn, message, engine_pb2.WARNING)

    async def inform(self, urn: str, message: str) -> None:
        await self._log(urn, message, engine_pb2.INFO)

    async def _log(
        self,
        urn: str,
        message: str,
        severity: engine_pb2.LogSeverity.ValueType,
        *,
        ephemeral: bool = False,
    ) -> None:
        if self._engine is None:
            # A channel belongs to the loop that runs when it is opened.
            channel = grpc.aio.insecure_channel(self._address)
            self._engine = engine_pb2_grpc.EngineStub(channel)
        request = engine_pb2.LogRequest(
            severity=severity, message=message, urn=urn, ephemeral=ephemeral
        )
        with contextlib.suppress(grpc.RpcError):
            await self._engine.Log(request)
