"""Runs a plug-in without an engine, and asks it over the provider protocol what an engine asks.

Nothing here knows azure-native: a plug-in is a name, a command, settings and an environment.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc

from tests.bench import ROOT
from tests.waiting import PATIENCE

# The binaries of real plug-ins carry schemas of many megabytes.
_CHANNEL_OPTIONS = [("grpc.max_receive_message_length", 400 * 1024 * 1024)]


@dataclass(frozen=True)
class Plugin:
    """A plug-in under test: the offline plug-in, or the real one in a folder of binaries."""

    name: str
    # Where the offline plug-in is, from the root of the project.
    stand_in: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def command(self, folder: Path | None) -> list[str]:
        """How it is started: as the engine starts it, but for the engine's address."""
        if folder is None:
            return [sys.executable, str(ROOT / self.stand_in)]
        return [str(folder / f"pulumi-resource-{self.name}")]


@dataclass(frozen=True)
class Change:
    """What a plug-in says of a change: each path with its kind, and what follows from them."""

    kinds: Mapping[str, str]
    changed: frozenset[str]
    replaces: frozenset[str]
    is_change: bool
    deletes_first: bool


@dataclass(frozen=True)
class Found:
    """What a plug-in reads: an empty id if the resource is gone."""

    id: str
    inputs: dict[str, Any]
    state: dict[str, Any]


class Running:
    """A plug-in that runs; all values are plain ones."""

    def __init__(self, stub: Any) -> None:
        self._stub = stub

    def refusals(self, token: str, inputs: Mapping[str, Any]) -> list[str]:
        """What Check refuses, in the plug-in's words; none if it takes the inputs."""
        failures = self._check(token, inputs)[1]
        return [f"{failure.property}: {failure.reason}" for failure in failures]

    def checked(self, token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs that Check hands on."""
        return self._check(token, inputs)[0]

    def _check(self, token: str, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        request = provider_pb2.CheckRequest(
            urn=_urn(token), name="it", type=token, olds=_struct({}), news=_struct(inputs)
        )
        answer = self._stub.Check(request, timeout=PATIENCE)
        return _plain(answer.inputs), list(answer.failures)

    def diff(
        self,
        token: str,
        old: Mapping[str, Any],
        state: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> Change:
        """What comes of new inputs, for a resource with old ones and a state."""
        return _change(self._stub.Diff(_diff(token, old, state, new), timeout=PATIENCE))

    def diff_config(self, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
        """What comes of new arguments of the provider itself."""
        request = _diff(f"pulumi:providers:{name}", old, old, new)
        return _change(self._stub.DiffConfig(request, timeout=PATIENCE))

    def read(
        self,
        token: str,
        resource_id: str,
        inputs: Mapping[str, Any] | None,
        state: Mapping[str, Any],
    ) -> Found:
        """A resource as it is now; without inputs it is imported."""
        request = provider_pb2.ReadRequest(
            urn=_urn(token),
            id=resource_id,
            name="it",
            type=token,
            properties=_struct(state),
            inputs=None if inputs is None else _struct(inputs),
        )
        answer = self._stub.Read(request, timeout=PATIENCE)
        return Found(answer.id, _plain(answer.inputs), _plain(answer.properties))


def _diff(
    token: str, old: Mapping[str, Any], state: Mapping[str, Any], new: Mapping[str, Any]
) -> Any:
    return provider_pb2.DiffRequest(
        urn=_urn(token),
        id="it",
        name="it",
        type=token,
        old_inputs=_struct(old),
        olds=_struct(state),
        news=_struct(new),
    )


def _change(answer: Any) -> Change:
    kinds = {
        path: provider_pb2.PropertyDiff.Kind.Name(change.kind)
        for path, change in answer.detailedDiff.items()
    }
    return Change(
        kinds,
        frozenset(answer.diffs),
        frozenset(answer.replaces),
        answer.changes == provider_pb2.DiffResponse.DIFF_SOME,
        answer.deleteBeforeReplace,
    )


@contextmanager
def running(
    plugin: Plugin, folder: Path | None, environment: Mapping[str, str]
) -> Iterator[Running]:
    """The plug-in, configured, from its start to its end."""
    with _engine() as address:
        process = subprocess.Popen(
            [*plugin.command(folder), address],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            # A plug-in writes the port it listens on into its first line.
            port = process.stdout.readline().strip()
            assert port.isdecimal(), f"{plugin.name} wrote {port!r} where its port should be"
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_CHANNEL_OPTIONS) as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                _configure(stub, plugin)
                yield Running(stub)
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)


def _configure(stub: Any, plugin: Plugin) -> None:
    request = provider_pb2.ConfigureRequest(
        args=_struct(plugin.settings),
        variables={f"{plugin.name}:config:{key}": value for key, value in plugin.settings.items()},
        acceptSecrets=True,
        acceptResources=True,
        sends_old_inputs=True,
        sends_old_inputs_to_delete=True,
    )
    stub.Configure(request, timeout=PATIENCE)


class _Engine(engine_pb2_grpc.EngineServicer):
    """What a plug-in may ask of its engine: to log something, which nobody reads here."""

    def Log(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's names)
        return empty_pb2.Empty()

    def GetRootResource(self, request: Any, context: Any) -> Any:  # noqa: ARG002, N802 (gRPC's)
        return engine_pb2.GetRootResourceResponse(urn="")


@contextmanager
def _engine() -> Iterator[str]:
    """The address of a server that plays the engine."""
    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()


def _urn(token: str) -> str:
    return f"urn:pulumi:test::contract::{token}::it"


def _struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(values)
    return struct


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The values of a message, whole numbers as such."""
    plain: dict[str, Any] = _whole(json_format.MessageToDict(struct))
    return plain


def _whole(value: Any) -> Any:
    match value:
        case dict():
            return {key: _whole(member) for key, member in value.items()}
        case list():
            return [_whole(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value
