"""Tells the user what goes on, through the engine that runs the update."""

import sys
from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc


class EngineLog:
    """The engine's log; without an engine there is nobody to tell."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._engine: Any = None

    async def info(self, urn: str, message: str) -> None:
        await self._log(engine_pb2.INFO, urn, message)

    async def warning(self, urn: str, message: str) -> None:
        await self._log(engine_pb2.WARNING, urn, message)

    async def _log(
        self,
        severity: engine_pb2.LogSeverity.ValueType,
        urn: str,
        message: str,
    ) -> None:
        if self._address is None:
            return
        if self._engine is None:
            channel = grpc.aio.insecure_channel(self._address)
            self._engine = engine_pb2_grpc.EngineStub(channel)
        await self._engine.Log(engine_pb2.LogRequest(severity=severity, urn=urn, message=message))


def engine_address() -> str | None:
    """Where the engine listens: it says so when it starts a plug-in."""
    return next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
