"""Values survive the way between the engine and plain JSON, unknown and secret ones too."""

from typing import Any

import pytest
from pulumi.provider.experimental.property_value import PropertyValue

from provider_kit.values import (
    _MARKERS,
    UNKNOWN,
    plain,
    plain_map,
    property_map,
    with_secrets_of,
)

VALUES = {"a": 3, "b": 0.5, "c": True, "d": None, "e": [1, {"a": "b"}], "f": {"a": {"b": UNKNOWN}}}


def test_values_survive_a_round_trip_over_grpc() -> None:
    """A count that was only known after `up` came as the text by which the engine marks it."""
    sent = PropertyValue.marshal_map(property_map(VALUES))
    assert plain_map(PropertyValue.unmarshal_map(sent)) == VALUES
    assert str(plain(PropertyValue(3.0))) == "3"
    assert all(plain(PropertyValue(marker)) is UNKNOWN for marker in _MARKERS)


@pytest.mark.parametrize("value", [3.0, True, "a", {"b": "a"}, ["a"]])
def test_a_secret_of_any_type_stays_secret(value: Any) -> None:
    """A number or a short text is not looked for anywhere else."""
    given = {"a": property_map({"a": value})["a"].with_secret(True)}
    assert with_secrets_of(property_map({"a": value}), given)["a"].is_secret
    assert plain(given["a"]) == value
