from typing import Any

import pytest
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from provider_kit.values import (
    UNKNOWN,
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


def test_values_survive_a_round_trip() -> None:
    assert plain_map(property_map(VALUES)) == VALUES


def test_values_survive_a_round_trip_over_grpc() -> None:
    """What is not known yet came as the text by which the engine marks it.

    The SDK neither reads that mark nor writes it. A count that was only known after `up` was
    refused in every preview: it was a text where a number belongs.
    """
    sent = PropertyValue.marshal_map(property_map(VALUES))
    assert rpc.UNKNOWN in str(sent)
    assert plain_map(PropertyValue.unmarshal_map(sent)) == VALUES


def test_whole_numbers_stay_whole_for_json() -> None:
    assert str(plain(PropertyValue(3.0))) == "3"


def test_plain_unwraps_secrets() -> None:
    assert plain(PropertyValue("a", is_secret=True)) == "a"


@pytest.mark.parametrize(
    ("value", "holds"), [(VALUES, True), ([[UNKNOWN]], True), (["a"], False), (None, False)]
)
def test_unknown_values_are_found_at_any_depth(value: object, holds: bool) -> None:
    assert holds_unknown(value) is holds


def test_unsupported_types_are_refused() -> None:
    with pytest.raises(TypeError, match="object cannot be a property value"):
        property_map({"a": object()})


def test_nulls_are_left_out() -> None:
    assert without_nulls({"a": None, "b": [{"c": None}]}) == {"b": [{}]}


@pytest.mark.parametrize("value", [3.0, True, "a", {"b": "a"}, ["a"]])
def test_a_secret_of_any_type_stays_secret(value: Any) -> None:
    """A number or a short text is not looked for anywhere else."""
    given = {"a": property_map({"a": value})["a"].with_secret(True)}
    assert with_secrets_of(property_map({"a": value}), given)["a"].is_secret
