"""The provider, asked as the engine asks it, by the plug-in protocol; its messages are kept."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

from aks_preview.provider import AksPreview
from provider_kit.arm import Arm
from provider_kit.engine_log import EngineLog
from provider_kit.secrecy import masked
from provider_kit.serving import Servicer
from tests.aks_preview.odd.azure import SUBSCRIPTION, OddAzure, serving
from tests.aks_preview.odd.clock import run

Values = Mapping[str, Any]

POOL_TYPE = "aks-preview:containerservice:AgentPool"
CLUSTER_TYPE = "aks-preview:containerservice:ManagedCluster"
FEATURE_TYPE = "aks-preview:features:FeatureRegistration"
POOL_INPUTS: dict[str, Any] = {
    "resourceGroupName": "group",
    "resourceName": "cluster",
    "agentPoolName": "gpu",
    "vmSize": "Standard_NC8as_T4_v3",
    "count": 1,
}
# The engine's marks.
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


def secret(value: Any) -> dict[str, Any]:
    """A value as the engine hands a secret over."""
    return {**_SECRET, "value": value}


def revealed(value: Any) -> Any:
    """Plain values, as they are behind the marks of secrets."""
    match value:
        case {"value": hidden} if value.items() >= _SECRET.items():
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


class RefusedError(Exception):
    """What the provider answers in place of a response."""


class _Context:
    """A call of gRPC without a connection."""

    async def abort(self, _: Any, words: str, metadata: Any = ()) -> None:
        raise RefusedError(words, dict(metadata).get("grpc-status-details-bin"))


class _Log(EngineLog):
    """Keeps what the engine would show."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    async def _log(self, _: Any, __: str, message: str, **___: Any) -> None:  # type: ignore[override]
        self.lines.append(masked(message))


class Driver:
    """One provider that runs."""

    def __init__(self) -> None:
        log = _Log()
        with mock.patch("aks_preview.provider.EngineLog", return_value=log):
            self.provider = AksPreview()
        self.log = log.lines
        self._servicer = Servicer([], "", self.provider, "")

    async def ask(self, method: str, kind: str = "", **fields: Any) -> Any:
        """The provider's answer to a request of the protocol; mappings are property values."""
        sent = {
            name: json_format.Parse(json.dumps(value), struct_pb2.Struct())
            if isinstance(value, Mapping)
            else value
            for name, value in fields.items()
        }
        about = {"urn": f"urn:pulumi:test::odd::{kind}::subject"} if kind else {}
        request = getattr(provider_pb2, f"{method}Request")(**about, **sent)
        # Each request has a context of its own, as a server's do.
        return await asyncio.create_task(getattr(self._servicer, method)(request, _Context()))

    async def create(self, inputs: Values, *, kind: str = POOL_TYPE, **about: Any) -> Outcome:
        return await self._outcome("Create", "", kind, properties=inputs, **about)

    async def update(
        self, known: str, *values: Values, kind: str = POOL_TYPE, **about: Any
    ) -> Outcome:
        """The values are the old outputs, the old inputs and the new ones, here and in a diff."""
        fields = dict(zip(("olds", "old_inputs", "news"), values, strict=True))
        return await self._outcome("Update", known, kind, **fields, **about)

    async def read(
        self, known: str, outputs: Values, inputs: Values, kind: str = POOL_TYPE
    ) -> Outcome:
        return await self._outcome("Read", known, kind, properties=outputs, inputs=inputs)

    async def delete(
        self, known: str, outputs: Values, kind: str = POOL_TYPE, **about: Any
    ) -> Outcome:
        """An outcome without an id is of a resource that the state loses."""
        return await self._outcome("Delete", known, kind, properties=outputs, **about)

    async def diff(self, known: str, *values: Values, kind: str = POOL_TYPE) -> Any:
        fields = dict(zip(("olds", "old_inputs", "news"), values, strict=True))
        return await self.ask("Diff", kind, id=known, **fields)

    async def _outcome(self, method: str, known: str, kind: str, **fields: Any) -> Outcome:
        """What becomes of a resource that the engine has under a known id, or not yet."""
        try:
            raw = json_format.MessageToDict(
                await self.ask(method, kind, **({"id": known} if known else {}), **fields)
            )
        except RefusedError as error:
            words, details = error.args
            if details is None:
                return Outcome(known, error=words)
            kept = provider_pb2.ErrorResourceInitFailed()
            assert status_pb2.Status.FromString(details).details[0].Unpack(kept)
            raw = json_format.MessageToDict(kept)
            return replace(_outcome(kept.id, raw), error=words, reasons=tuple(kept.reasons))
        return _outcome(known if method == "Update" else raw.get("id", ""), raw)


def _outcome(resource_id: str, raw: dict[str, Any]) -> Outcome:
    outputs, inputs = revealed(raw.get("properties", {})), revealed(raw.get("inputs", {}))
    return Outcome(resource_id, outputs, inputs, raw=raw)


async def close(arm: Arm) -> None:
    """Closes the connections, which end with the process elsewhere."""
    if arm._client is not None and arm._client.done() and not arm._client.exception():
        client = arm._client.result()
        for policy in client._pipeline._impl_policies:
            if credential := getattr(policy, "_credential", None):
                await credential.close()
        await client.close()


@asynccontextmanager
async def driving(azure: OddAzure, **configuration: Any) -> AsyncIterator[Driver]:
    """Runs a provider that is configured for an odd Azure."""
    driver = Driver()
    settings = {
        "subscriptionId": SUBSCRIPTION,
        "tenantId": "tenant",
        "clientId": "client",
        "clientSecret": "a client's secret",
        "metadataHost": azure.url.removeprefix("https://"),
    }
    try:
        await driver.ask("Configure", args=settings | configuration, acceptSecrets=True)
        yield driver
    finally:
        await close(driver.provider._arm)


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
