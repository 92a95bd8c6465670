"""Inputs that are not known yet preview, wherever they stand; odd ones are mistakes."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.provider.experimental.property_value import PropertyValue

from aks_preview.aks_types import AKS_TYPES
from aks_preview.features import FEATURE_INPUTS, FEATURE_TYPE
from aks_preview.provider import AksPreview
from provider_kit.provider import Recorded
from provider_kit.values import holds_unknown, plain_map
from tests.aks_preview.odd.azure import CLUSTER, POOL, Answer, OddAzure, serving
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import CLUSTER_TYPE, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS
from tests.aks_preview.shaped import holding

SHAPES = {token: known.inputs for token, known in AKS_TYPES.items()} | {
    FEATURE_TYPE: FEATURE_INPUTS
}
# The engine's marks of a text, a boolean, a number, a list, an asset, an archive and an object.
UNKNOWNS = [
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]


@pytest.fixture
def provider() -> AksPreview:
    with mock.patch.object(sys, "argv", [""]):
        return AksPreview()


def sent(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    """Values as they come from the engine."""
    return PropertyValue.unmarshal_map(json_format.ParseDict(dict(values), struct_pb2.Struct()))


def inputs_with(token: str, odd: Any) -> Iterator[dict[str, Any]]:
    """Inputs with a value in each of their places; not in the place of the inputs as a whole."""
    return (inputs for inputs in holding(SHAPES[token], odd) if inputs is not odd)


@pytest.mark.parametrize("token", SHAPES)
def test_unknown_values_can_be_previewed(token: str, provider: AksPreview) -> None:
    """A count that another resource gives was "a string, but has to be an integer"."""
    handler, marks = provider.handler(token), UNKNOWNS * 1000
    least = dict.fromkeys(SHAPES[token].required, "a")
    for inputs in inputs_with(token, UNKNOWNS[0]):
        known = json.loads(json.dumps(inputs).replace(UNKNOWNS[0], marks.pop()))
        new, old = plain_map(sent(known)), plain_map(sent(least))
        assert not [*handler.mistakes(new)], inputs
        diff = handler.diff(Recorded(old, old | {"customHeaders": {}}), new)
        assert diff.changes or "replaceOnHeaderChange" in inputs, inputs
        assert holds_unknown(handler.preview(new, {})), inputs


@pytest.mark.parametrize("odd", [None, [None], {"a": None}, [[]], "text", 1.5, True, [{}], {}])
@pytest.mark.parametrize("token", SHAPES)
def test_odd_inputs_are_mistakes_or_valid(token: str, odd: Any, provider: AksPreview) -> None:
    """A header without a value, and an inline pool without a name, ended in a traceback."""
    handler = provider.handler(token)
    least = dict.fromkeys(SHAPES[token].required, "a")
    for inputs in inputs_with(token, odd):
        new, old = sent(inputs), plain_map(sent(least))
        for mistake in handler.mistakes(plain_map(new)):
            assert mistake.path.partition(".")[0].partition("[")[0] in SHAPES[token].fields
            assert mistake.reason
        plain = provider.plain(new)
        handler.diff(Recorded(old, old), plain)
        handler.diff(Recorded(plain, plain | old), old)


@pytest.mark.parametrize(
    "odd",
    [
        {"identity": {"type": "UserAssigned", "userAssignedIdentities": None}},
        {"identity": None},
        {"properties": {"agentPoolProfiles": [{"name": None}, {"name": "a", "count": 7}]}},
        {"properties": {"agentPoolProfiles": "none"}},
        {"tags": ["a"]},
    ],
)
def test_a_cluster_with_odd_values_is_created_updated_and_deleted(odd: dict[str, Any]) -> None:
    azure = OddAzure(CLUSTER)
    names = {"resourceGroupName": "group", "resourceName": "cluster", "location": "eastus"}
    inputs = names | {"agentPoolProfiles": [{"name": "a", "count": 1}], "tags": {"a": "b"}}
    azure.put(CLUSTER, {"location": "eastus", "properties": {}, **odd})
    made = inputs | {"provisioningState": "Succeeded"}

    async def live() -> list[Outcome]:
        async with serving(azure), driving(azure) as provider:
            read = await provider.read(CLUSTER, made, inputs, kind=CLUSTER_TYPE)
            odd_look = Answer(body={"id": CLUSTER, "location": "eastus", "properties": {}, **odd})
            azure.bend("get", odd_look)
            more = inputs | {"tags": {"a": "c"}}
            done = await provider.update(CLUSTER, made, inputs, more, kind=CLUSTER_TYPE)
            return [read, done]

    for outcome in run(live()):
        assert (outcome.id, outcome.error) == (CLUSTER, "")
    put = next(made for made in azure.requests if made.phase == "put")
    (pool,) = json.loads(put.body)["properties"]["agentPoolProfiles"]
    assert pool["count"] == (7 if "count" in json.dumps(odd) else 1)


def test_odd_inputs_are_reported_by_path_over_grpc() -> None:
    """All of it is told, by place."""
    odd = POOL_INPUTS | {
        "customHeaders": {"X": None},
        "nodeTaints": [None, "a"],
        "tags": {"a": None},
        "count": UNKNOWNS[0],
        "availabilityZones": [UNKNOWNS[0]],
        "nodeLabels": {"a": UNKNOWNS[0]},
    }

    async def ask() -> Any:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            urn = "urn:pulumi:test::odd::aks-preview:containerservice:AgentPool::subject"
            checked = await provider.ask("Check", urn=urn, news=odd)
            diff = await provider.diff(POOL, POOL_INPUTS, POOL_INPUTS, odd)
            return {one.property for one in checked.failures}, {*diff.diffs}

    failures, diffs = run(ask())

    assert failures == {"customHeaders.X", "nodeTaints[0]"}
    assert diffs >= {"count", "availabilityZones", "nodeLabels"}


@pytest.mark.parametrize("value", ["", " ", ".", "..", "x/..", "/"])
@pytest.mark.parametrize("token", SHAPES)
def test_a_name_that_leads_to_another_path_is_refused(token: str, value: str) -> None:
    """`..` sent a pool's body to the cluster's path, and its deletion was the cluster's."""
    least = dict.fromkeys(SHAPES[token].required, "a")
    names = [name for name in least if name != "location"]

    async def ask(inputs: dict[str, Any]) -> set[str]:
        async with serving(OddAzure()) as azure, driving(azure) as provider:
            urn = f"urn:pulumi:test::odd::{token}::subject"
            checked = await provider.ask("Check", urn=urn, news=inputs)
            return {failure.property for failure in checked.failures}

    assert run(ask(least)) == set()
    assert run(ask(least | dict.fromkeys(names, value))) == set(names)
