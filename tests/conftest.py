"""What all tests share: a graph of registered resources, and a machine's engine."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks, rpc

from engine import Engine, ensure_engine
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import Bench

# Where Azure's names come from, by the kind of resource.
_NAME_INPUTS = ("agentPoolName", "resourceName", "resourceGroupName")


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A resource as the engine would be told of it."""

    type: str
    name: str
    inputs: dict[str, Any]
    parent: str
    options: Any


class _Azure(mocks.Mocks):
    """Answers as Azure would: with an id, and the inputs under their names."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        named = next((args.inputs[key] for key in _NAME_INPUTS if key in args.inputs), args.name)
        if pulumi.runtime.is_dry_run():
            return None, args.inputs
        return f"/ids/{args.typ}/{named}", args.inputs | {"name": named}

    def call(self, args: mocks.MockCallArgs) -> Any:
        raise AssertionError(f"{args.token} is not expected to be called")


class Graph(mocks.MockMonitor):
    """Everything that a program registers, and what it says of it at the end."""

    def __init__(self) -> None:
        super().__init__(_Azure())
        self.registered: list[Registered] = []
        self.outputs: dict[str, Any] = {}

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (gRPC's name)
        if request.type != "pulumi:pulumi:Stack":
            self.registered.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    inputs=rpc.deserialize_properties(request.object, keep_unknowns=True),
                    parent=request.parent.rpartition("::")[2],
                    options=request,
                )
            )
        return super().RegisterResource(request)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 (gRPC's name)
        self.outputs[request.urn] = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)

    def only(self, type_name: str) -> Registered:
        """The one resource of a type, by the last part of its token."""
        (found,) = self.all(type_name)
        return found

    def all(self, type_name: str) -> list[Registered]:
        return [found for found in self.registered if found.type.endswith(f":{type_name}")]


Deploy = Callable[..., Graph]


@pytest.fixture
def deploy() -> Iterator[Deploy]:
    """Runs a program against mocks, to its end, and gives the graph that it registered."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def run(program: Callable[[], Any], *, preview: bool = False) -> Graph:
        graph = Graph()
        pulumi.runtime.set_mocks(_Azure(), "aks-gpu", "test", preview, monitor=graph)
        pulumi.runtime.test(program)()
        return graph

    yield run
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """This machine's engine, made ready if need be."""
    return ensure_engine()


@pytest.fixture(scope="session")
def engine_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A rehearsal cloud whose operations take hundredths of a second."""
    home = tmp_path_factory.mktemp("engine-cloud")
    yield cloud.start(home, time_scale=0.005)
    cloud.stop(home)


@pytest.fixture
def bench(engine: Engine, engine_cloud: Cloud, tmp_path: Path) -> Bench:
    """A Pulumi project of the test's own, with a stack."""
    own = Bench(engine, engine_cloud, tmp_path)
    own.write("")
    own.pulumi("stack", "init")
    return own
