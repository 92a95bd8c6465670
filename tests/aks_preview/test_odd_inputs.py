"""Inputs that are not known yet preview, wherever they stand; odd ones are mistakes."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
from google.protobuf import json_format, struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi.provider.experimental.property_value import PropertyValue

from aks_preview.aks_types import AKS_TYPES
from aks_preview.features import FEATURE_INPUTS, FEATURE_TYPE
from aks_preview.provider import AksPreview
from provider_kit.provider import Recorded
from provider_kit.values import holds_unknown, plain_map
from tests.aks_preview.odd.azure import POOL, OddAzure, serving
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import driving
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
def test_what_is_not_known_yet_previews(token: str, provider: AksPreview) -> None:
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
def test_what_is_odd_is_a_mistake_or_none(token: str, odd: Any, provider: AksPreview) -> None:
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "", UNKNOWNS[0]]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "name", "enabled", "b/c"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.data())
def test_any_state_can_be_compared_with_any_inputs(data: st.DataObject) -> None:
    with mock.patch.object(sys, "argv", [""]):
        provider = AksPreview()
    token = data.draw(st.sampled_from(sorted(AKS_TYPES)))
    names = st.sampled_from(sorted(SHAPES[token].fields))
    some = st.dictionaries(names, JSON, max_size=4)
    ours = dict.fromkeys(AKS_TYPES[token].path_names, "a")
    inputs, outputs, new = (provider.plain(sent(data.draw(some))) for _ in range(3))

    provider.handler(token).diff(Recorded(inputs, outputs | ours), new)


def test_over_the_protocol() -> None:
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
