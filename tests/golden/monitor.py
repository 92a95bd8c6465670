"""What the engine does between a program and its providers, in this process."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import mocks, rpc
from pulumi.runtime.proto import provider_pb2, resource_pb2

from aks_preview.provider import AksPreview
from provider_kit.engine_log import EngineLog
from provider_kit.serving import Servicer
from rehearsal.offline_plug_ins.azure_native.provider import AzureNative
from tests.aks_preview.odd.driver import close
from tests.golden.azure import RecordingAzure, Request

# Of this, providers make up names.
_SEED = bytes(32)
_DIFFERS = provider_pb2.DiffResponse.DIFF_SOME


class _Context:
    """A call of gRPC without a connection."""

    async def abort(self, _: Any, details: str = "", __: Any = ()) -> None:
        raise AssertionError(details)


class _PlugIns:
    """The providers of one run, which are asked by the plug-in protocol."""

    def __init__(self, azure: RecordingAzure) -> None:
        self._azure = azure
        providers = AksPreview(), AzureNative(EngineLog(None))
        self._arms = [provider._arm for provider in providers]
        self._servicers = {
            name: Servicer([], "", provider, "")
            for name, provider in zip(("aks-preview", "azure-native"), providers, strict=True)
        }
        for name in self._servicers:
            self.ask(name, "Configure", provider_pb2.ConfigureRequest(acceptSecrets=True))

    def has(self, token: str) -> bool:
        return token.partition(":")[0] in self._servicers

    def ask(self, token: str, method: str, request: Any) -> Any:
        """Asks the provider of a type."""
        servicer = self._servicers[token.partition(":")[0]]
        return self._azure.run(getattr(servicer, method)(request, _Context()))

    def close(self) -> None:
        """Closes the connections."""
        for arm in self._arms:
            self._azure.run(close(arm))


@dataclass
class _Resource:
    """A resource in the state."""

    type: str
    id: str
    inputs: Struct
    outputs: Struct
    # The resource that takes this one along when it is deleted.
    deleted_with: str
    # How many are made one after another until this one is there.
    depth: int


class Monitor(mocks.MockMonitor):
    """Creates or updates what a program registers, and keeps the state for the next run.

    It takes one step after another: what Azure gets in a step is of that step. The parts of a
    program that run at the same time come in another order each time, so steps are sorted.
    """

    def __init__(self, azure: RecordingAzure) -> None:
        super().__init__(mock.Mock())
        self._azure = azure
        self._step = threading.Lock()
        self._state: dict[str, _Resource] = {}

    @contextmanager
    def run(self) -> Iterator[None]:
        """One run, with plug-ins of its own."""
        self._plug_ins = _PlugIns(self._azure)
        # What was sent in each step, behind the step's place in the order.
        self._to_azure: list[tuple[float, str, list[Request]]] = []
        self._to_cluster: list[tuple[int, str, Any]] = []
        try:
            yield
        finally:
            self._plug_ins.close()

    def to_azure(self) -> list[dict[str, Any]]:
        """The requests of the last run."""
        steps = sorted(self._to_azure, key=lambda step: step[:2])
        return [request.as_document() for *_, requests in steps for request in requests]

    def to_cluster(self) -> list[Any]:
        """What was asked of the cluster's API server in the last run."""
        return [inputs for *_, inputs in sorted(self._to_cluster, key=lambda step: step[:2])]

    def Invoke(self, request: Any) -> Any:  # noqa: N802 (gRPC's name)
        asked = provider_pb2.InvokeRequest(tok=request.tok, args=request.args)
        with self._step:
            try:
                answer = self._plug_ins.ask(request.tok, "Invoke", asked)
            finally:
                # What a function waited for is not known here.
                self._note(math.inf)
        return resource_pb2.ResourceInvokeResponse(**{"return": getattr(answer, "return")})

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (gRPC's name)
        urn = self.make_urn(request.parent, request.type, request.name)
        needs = {request.parent, request.provider.rpartition("::")[0], *request.dependencies}
        is_sent = request.custom and not request.type.startswith("pulumi:")
        inputs = request.object
        with self._step:
            known = (self._state[need].depth for need in needs if need in self._state)
            depth = max(known, default=0) + is_sent
            made = _Resource(request.type, "an id", inputs, inputs, request.deletedWith, depth)
            if self._plug_ins.has(request.type):
                self._make(urn, request.name, made)
                self._note(depth)
            elif is_sent:
                place = f"{request.type} {request.name}"
                self._to_cluster.append((depth, place, rpc.deserialize_properties(inputs)))
            self._state[urn] = made
        return resource_pb2.RegisterResourceResponse(urn=urn, id=made.id, object=made.outputs)

    def destroy(self) -> None:
        """Deletes all that is in the state: what others need after those."""
        for urn, old in sorted(self._state.items(), key=lambda item: -item[1].depth):
            if self._plug_ins.has(old.type) and old.deleted_with not in self._state:
                request = provider_pb2.DeleteRequest(
                    id=old.id, urn=urn, properties=old.outputs, old_inputs=old.inputs
                )
                self._plug_ins.ask(old.type, "Delete", request)
                self._note(-old.depth)

    def _make(self, urn: str, name: str, made: _Resource) -> None:
        """Creates or updates a resource, and fills in what became of it."""
        old = self._state.get(urn)

        def ask(method: str, **values: Any) -> Any:
            request = getattr(provider_pb2, f"{method}Request")
            about = {"urn": urn, "name": name, "type": made.type}
            return self._plug_ins.ask(made.type, method, request(**values, **about))

        olds = {} if old is None else {"olds": old.inputs}
        checked = ask("Check", news=made.inputs, randomSeed=_SEED, **olds)
        assert not checked.failures, checked
        made.inputs = checked.inputs
        if old is None:
            created = ask("Create", properties=made.inputs)
            made.id, made.outputs = created.id, created.properties
            return
        made.id, made.outputs = old.id, old.outputs
        values = {
            "id": old.id,
            "olds": old.outputs,
            "old_inputs": old.inputs,
            "news": made.inputs,
        }
        difference = ask("Diff", **values)
        assert not difference.replaces, difference
        if difference.changes == _DIFFERS:
            made.outputs = ask("Update", **values).properties

    def _note(self, depth: float) -> None:
        """Keeps what Azure got since the last step, unless a function asked the same before."""
        requests = self._azure.taken()
        if requests:
            subject = next((sent for sent in requests if sent.method != "GET"), requests[-1])
            step = depth, subject.path, requests
            if depth < math.inf or step not in self._to_azure:
                self._to_azure.append(step)
