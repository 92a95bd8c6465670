"""What all tests share: a graph of registered resources, and a machine's engine."""

import asyncio
import base64
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import settings as hypothesis_settings
from pulumi.runtime import mocks, rpc, settings
from pulumi.runtime.stack import Stack

from aks_catalogue.today import TODAY_VARIABLE
from aksgpu import rehearsal_stage
from aksgpu.rehearse import command
from machine_setup import Engine, ensure_engine, ensure_kubernetes
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.checkout import Checkout
from tests.faults import Faults
from tests.gate import UNTIL

# Where the tests run in the background of a shell, interrupts are ignored, by what they start too;
# and some of it is to be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A shell that `aksgpu env` has set would run every pulumi of the tests in its own project.
os.environ.pop("PULUMI_OPTION_CWD", None)

# A busy machine decides no test.
hypothesis_settings.register_profile("patient", deadline=None)
hypothesis_settings.load_profile("patient")

# What is retired does not change from one day's tests to the next.
os.environ.setdefault(TODAY_VARIABLE, "2026-11-22")

KUBECONFIG = b"a kubeconfig with a key in it"
# Where Azure's names come from, by the kind of resource.
_NAME_INPUTS = ("agentPoolName", "resourceName", "resourceGroupName")


def cluster_outputs(name: str, identity: dict[str, Any]) -> dict[str, Any]:
    """What Azure tells of a cluster that is done, beside what it was told."""
    own = {"principalId": "p", "clientId": "c"}
    assigned = identity.get("userAssignedIdentities")
    kubelet = {"clientId": "kc", "objectId": "ko", "resourceId": "/kubelet"}
    return {
        "fqdn": f"{name}.hcp.eastus.azmk8s.io",
        "nodeResourceGroup": f"MC_{name}",
        "identity": identity
        | ({"userAssignedIdentities": dict.fromkeys(assigned, own)} if assigned else own),
        "identityProfile": {"kubeletidentity": kubelet},
        "oidcIssuerProfile": {"enabled": True, "issuerURL": f"https://oidc/{name}/"},
    }


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
        outputs = args.inputs | {"name": named}
        if args.typ.endswith(":ManagedCluster"):
            identity = args.inputs.get("identity", {})
            outputs |= cluster_outputs(named, identity)
            if args.typ.startswith("aks-preview:") and "userAssignedIdentities" in identity:
                # It lists the ids alone.
                outputs["identity"] = identity
        return f"/ids/{args.typ}/{named}", outputs

    def call(self, args: mocks.MockCallArgs) -> Any:
        named = next(args.args[key] for key in _NAME_INPUTS if key in args.args)
        read = {"id": f"/read/{named}", "name": named, "location": "eastus"}
        cluster = read | {"resourceUID": f"uid-of-{named}"}
        credentials = {
            "kubeconfigs": [{"name": "u", "value": base64.b64encode(KUBECONFIG).decode()}]
        }
        return {
            "azure-native:resources:getResourceGroup": read,
            "azure-native:containerservice:getManagedCluster": cluster
            | cluster_outputs(named, {"type": "SystemAssigned"}),
            "azure-native:containerservice:listManagedClusterUserCredentials": credentials,
        }[args.token]


class Graph(mocks.MockMonitor):
    """Everything that a program registers, and what it says of it at the end."""

    def __init__(self) -> None:
        super().__init__(_Azure())
        self.registered: list[Registered] = []
        self.outputs: dict[str, Any] = {}
        # What the program exports, and the names of what is secret of it.
        self.exports: dict[str, Any] = {}
        self.secrets: set[str] = set()

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
        if "::pulumi:pulumi:Stack::" not in request.urn:
            self.outputs[request.urn] = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)

    def only(self, type_name: str) -> Registered:
        """The one resource of a type, by the last part of its token."""
        (resource,) = self.all(type_name)
        return resource

    def all(self, type_name: str) -> list[Registered]:
        return [resource for resource in self.registered if resource.type.endswith(f":{type_name}")]


async def _collect(graph: Graph) -> None:
    root = settings.get_root_resource()
    assert isinstance(root, Stack)
    for name, value in root.outputs.items():
        output = pulumi.Output.from_input(value)
        graph.exports[name] = await output.future()
        if await output.is_secret():
            graph.secrets.add(name)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three for two cores: a third of a worker's time is waiting for what it has started."""
    return (os.cpu_count() or 1) * 3 // 2 or 1


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """What is for the night is long, too.

    Files with tests on the engine come first: at the end, one worker would wait for another.
    """
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker("long")
    yield
    on_engine = {item.path for item in items if item.get_closest_marker("engine")}
    items.sort(key=lambda item: item.path not in on_engine)


# The gate ends a run at a moment, in seconds since 1970.
_UNTIL = float(os.environ.get(UNTIL, "inf"))
_NOT_REACHED = "the time of this run was over"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > _UNTIL:
        pytest.skip(_NOT_REACHED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was not reached."""
    skipped = terminalreporter.getreports("skipped")
    left = {each.nodeid for each in skipped if _NOT_REACHED in str(each.longrepr)}
    if left:
        terminalreporter.section("not reached")
        for name in sorted({each.partition("[")[0] for each in left}):
            terminalreporter.write_line(name)


Deploy = Callable[..., Graph]


@pytest.fixture
def deploy() -> Iterator[Deploy]:
    """Runs a program against mocks, to its end, and gives the graph that it registered."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def run(program: Callable[[], Any], *, preview: bool = False) -> Graph:
        graph = Graph()
        # The root of an earlier test would keep what that exported.
        settings.set_root_resource(None)  # type: ignore[arg-type]
        pulumi.runtime.set_mocks(_Azure(), "aks-gpu", "test", preview, monitor=graph)

        def whole() -> pulumi.Output[None]:
            program()
            return pulumi.Output.from_input(_collect(graph))

        pulumi.runtime.test(whole)()
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
def faults(engine_cloud: Cloud) -> Iterator[Faults]:
    """The fault script of that cloud; it is lifted after the test."""
    made = Faults(engine_cloud.home)
    yield made
    made.lift()


@pytest.fixture(scope="session")
def whole_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A rehearsal cloud of the article's era, whose clusters have control planes."""
    home = tmp_path_factory.mktemp("whole-cloud")
    binaries = ensure_kubernetes().folder
    yield cloud.start(home, time_scale=0.05, era="article", kubernetes=binaries)
    cloud.stop(home)


@pytest.fixture(scope="session")
def todays_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A rehearsal cloud of today, whose clusters have control planes."""
    home = tmp_path_factory.mktemp("todays-cloud")
    yield cloud.start(home, time_scale=0.05, kubernetes=ensure_kubernetes().folder)
    cloud.stop(home)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    """A checkout with a rehearsal of its own, of today."""
    monkeypatch.setenv("AKS_GPU_REHEARSAL_ROOT", str(tmp_path))
    for module in (command, rehearsal_stage):
        monkeypatch.setattr(module, "PROGRAM", tmp_path)
    home = tmp_path / ".rehearsal"
    yield Checkout(tmp_path, cloud.start(home, 0.05, kubernetes=ensure_kubernetes().folder))
    cloud.stop(home)


@pytest.fixture
def whole_bench(engine: Engine, whole_cloud: Cloud, tmp_path: Path) -> Bench:
    """A project of the test's own on the cloud whose clusters have control planes."""
    return Bench(engine, whole_cloud, tmp_path).begin()


@pytest.fixture
def bench(engine: Engine, engine_cloud: Cloud, tmp_path: Path) -> Bench:
    """A Pulumi project of the test's own, with a stack."""
    return Bench(engine, engine_cloud, tmp_path).begin()
