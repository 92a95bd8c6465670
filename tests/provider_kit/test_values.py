"""Values survive the way between the engine and plain JSON, unknown and secret ones too."""

from typing import Any

import pytest
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from provider_kit.values import (
    UNKNOWN,
    _MARKERS,
    holds_unknown,
    plain,
    plain_map,
    property_map,
    with_secrets_of,
    without_nulls,
)

VALUES = {
    "text": "a",
    "whole": 3,
    "part": 0.5,
    "yes": True,
    "nothing": None,
    "list": [1, {"a": "b"}],
    "map": {"a": {"b": UNKNOWN}},
}


def test_values_survive_a_round_trip_over_grpc() -> None:
    """A count that was only known after `up` came as the text by which the engine marks it."""
    assert plain_map(property_map(VALUES)) == VALUES
    sent = PropertyValue.marshal_map(property_map(VALUES))
    assert rpc.UNKNOWN in str(sent)
    assert plain_map(PropertyValue.unmarshal_map(sent)) == VALUES
    assert str(plain(PropertyValue(3.0))) == "3"
    assert all(plain(PropertyValue(marker)) is UNKNOWN for marker in _MARKERS)
    assert without_nulls({"a": None, "b": [{"c": None}]}) == {"b": [{}]}
    with pytest.raises(TypeError, match="object cannot be a property value"):
        property_map({"a": object()})


@pytest.mark.parametrize(("value", "holds"), [(VALUES, True), ([[UNKNOWN]], True), (["a"], False)])
def test_unknown_values_are_found_at_any_depth(value: object, holds: bool) -> None:
    assert holds_unknown(value) is holds


@pytest.mark.parametrize("value", [3.0, True, "a", {"b": "a"}, ["a"]])
def test_a_secret_of_any_type_stays_secret(value: Any) -> None:
    """A number or a short text is not looked for anywhere else."""
    given = {"a": property_map({"a": value})["a"].with_secret(True)}
    assert with_secrets_of(property_map({"a": value}), given)["a"].is_secret
    assert plain(given["a"]) == value
