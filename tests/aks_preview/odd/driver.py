"""The provider, asked as the engine asks it: over gRPC, with an engine that keeps its messages."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2_grpc,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

from aks_preview.configuration import VERSION
from aks_preview.provider import AksPreview
from provider_kit.serving import _CHANNEL_OPTIONS, _Servicer
from tests.aks_preview.odd.azure import SUBSCRIPTION, OddAzure, serving
from tests.aks_preview.odd.clock import run

Values = Mapping[str, Any]

POOL_TYPE = "aks-preview:containerservice:AgentPool"
CLUSTER_TYPE = "aks-preview:containerservice:ManagedCluster"
FEATURE_TYPE = "aks-preview:features:FeatureRegistration"
# The engine's marks.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"


def secret(value: Any) -> dict[str, Any]:
    """A value as the engine hands a secret over."""
    return {_SIGNATURE: _SECRET, "value": value}


def revealed(value: Any) -> Any:
    """Plain values, as they are behind the marks of secrets."""
    match value:
        case {"value": hidden} if value.get(_SIGNATURE) == _SECRET:
            return revealed(hidden)
        case dict():
            return {name: revealed(member) for name, member in value.items()}
        case list():
            return [revealed(item) for item in value]
    return value


@dataclass(frozen=True)
class Outcome:
    """What the engine learns of a resource."""

    # Empty where the state gets no resource, or loses it.
    id: str = ""
    outputs: Values = field(default_factory=dict)
    inputs: Values = field(default_factory=dict)
    # Empty where all is well.
    error: str = ""
    # Why a resource that is kept is not as it should be.
    reasons: tuple[str, ...] = ()
    # The whole answer, with the marks of secrets.
    raw: Any = None


class _Engine(engine_pb2_grpc.EngineServicer):
    def __init__(self) -> None:
        self.log: list[str] = []

    async def Log(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's names)
        self.log.append(request.message)
        return empty_pb2.Empty()


class Driver:
    """One provider that runs."""

    def __init__(self, provider: AksPreview, stub: Any, log: list[str]) -> None:
        self.provider = provider
        self.log = log
        self._stub = stub

    async def ask(self, method: str, **fields: Any) -> Any:
        """The provider's answer to a request of the protocol; mappings are property values."""
        kind = {"CheckConfig": "Check", "DiffConfig": "Diff"}.get(method, method)
        request = getattr(provider_pb2, f"{kind}Request")(
            **{name: _struct(value) if isinstance(value, Mapping) else value
               for name, value in fields.items()}
        )  # fmt: skip
        return await getattr(self._stub, method)(request)

    async def create(
        self, inputs: Values, *, kind: str = POOL_TYPE, seconds: float = 0, preview: bool = False
    ) -> Outcome:
        urn, about = _about(kind), {"timeout": seconds, "preview": preview}
        return await self._outcome("Create", "", urn=urn, properties=inputs, **about)

    async def update(
        self, resource_id: str, olds: Values, old_inputs: Values, news: Values, *,
        kind: str = POOL_TYPE, seconds: float = 0, preview: bool = False,
    ) -> Outcome:  # fmt: skip
        values = {"olds": olds, "old_inputs": old_inputs, "news": news}
        about = {"urn": _about(kind), "timeout": seconds, "preview": preview}
        return await self._outcome("Update", resource_id, id=resource_id, **values, **about)

    async def read(
        self, resource_id: str, properties: Values, inputs: Values, *, kind: str = POOL_TYPE
    ) -> Outcome:
        values = {"properties": properties, "inputs": inputs}
        return await self._outcome("Read", resource_id, urn=_about(kind), id=resource_id, **values)

    async def delete(
        self, resource_id: str, properties: Values, *, kind: str = POOL_TYPE, seconds: float = 0
    ) -> Outcome:
        """An outcome without an id is of a resource that the state loses."""
        about = {"urn": _about(kind), "id": resource_id, "timeout": seconds}
        return await self._outcome("Delete", resource_id, properties=properties, **about)

    async def diff(
        self, resource_id: str, olds: Values, old_inputs: Values, news: Values, *,
        kind: str = POOL_TYPE,
    ) -> Any:  # fmt: skip
        values = {"olds": olds, "old_inputs": old_inputs, "news": news}
        return await self.ask("Diff", urn=_about(kind), id=resource_id, **values)

    async def _outcome(self, method: str, known: str, **fields: Any) -> Outcome:
        """What becomes of a resource that the engine has under a known id, or not yet."""
        try:
            answer = await self.ask(method, **fields)
        except grpc.aio.AioRpcError as error:
            return _failed(error, known)
        raw = json_format.MessageToDict(answer)
        made = known if method == "Update" else raw.get("id", "")
        outputs, inputs = revealed(raw.get("properties", {})), revealed(raw.get("inputs", {}))
        return Outcome(made, outputs, inputs, raw=raw)


def _failed(error: grpc.aio.AioRpcError, known: str) -> Outcome:
    words = error.details() or ""
    metadata = dict(error.trailing_metadata() or ())
    if "grpc-status-details-bin" not in metadata:
        return Outcome(known, error=words)
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    kept = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(kept)
    raw = json_format.MessageToDict(kept)
    outputs, inputs = revealed(raw.get("properties", {})), revealed(raw.get("inputs", {}))
    return Outcome(kept.id, outputs, inputs, words, tuple(kept.reasons), raw)


def _struct(values: Values) -> struct_pb2.Struct:
    return json_format.Parse(json.dumps(values), struct_pb2.Struct())


def _about(kind: str) -> str:
    return f"urn:pulumi:test::odd::{kind}::subject"


@asynccontextmanager
async def driving(azure: OddAzure, **configuration: Any) -> AsyncIterator[Driver]:
    """Runs a provider that is configured for an odd Azure."""
    engine, server, served = _Engine(), grpc.aio.server(), grpc.aio.server(options=_CHANNEL_OPTIONS)
    engine_pb2_grpc.add_EngineServicer_to_server(engine, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    with mock.patch.object(sys, "argv", ["", address]):
        provider = AksPreview()
    servicer = _Servicer([address], VERSION, provider, address)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, served)
    own = f"127.0.0.1:{served.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    await served.start()
    limits = [*_CHANNEL_OPTIONS, ("grpc.max_metadata_size", 2**24)]
    try:
        async with grpc.aio.insecure_channel(own, options=limits) as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            driver = Driver(provider, stub, engine.log)
            await driver.ask(
                "Configure", args=configuration_for(azure) | configuration, acceptSecrets=True
            )
            yield driver
    finally:
        await provider.close()
        await served.stop(None)
        await server.stop(None)


Work = Callable[[Driver], Awaitable[Outcome]]


def outcome_of(azure: OddAzure, work: Work, **configuration: Any) -> Outcome:
    """What the engine learns of work with an odd Azure, which is always for a person to read."""

    async def ask() -> Outcome:
        async with serving(azure), driving(azure, **configuration) as provider:
            return await work(provider)

    outcome = run(ask())
    for word in ("Traceback", 'File "', "None (None)", "object at 0x"):
        assert word not in outcome.error
    return outcome


def configuration_for(azure: OddAzure) -> dict[str, str]:
    return {
        "subscriptionId": SUBSCRIPTION,
        "tenantId": "tenant",
        "clientId": "client",
        "clientSecret": "a client's secret",
        "metadataHost": azure.url.removeprefix("https://"),
    }
