"""What a refresh makes of inputs, for any values."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from rehearsal.offline_plug_ins.azure_native.native_types import TYPES
from rehearsal.offline_plug_ins.azure_native.properties import refreshed

POOL = TYPES["azure-native:containerservice:AgentPool"]

scalars = some.booleans() | some.integers(0, 3) | some.sampled_from(["a", "b"])
values = some.recursive(
    scalars,
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from("xyz"), inner)
    ),
    max_leaves=8,
)
members = some.dictionaries(some.sampled_from("pqr"), values)


def refresh(inputs: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> Any:
    inputs_and_state = refreshed(
        POOL, {"nodeLabels": inputs}, {"nodeLabels": old}, {"nodeLabels": new}
    )
    return inputs_and_state["nodeLabels"]


@given(members, members)
def test_inputs_stay_if_azure_has_not_changed(
    inputs: dict[str, Any], state: dict[str, Any]
) -> None:
    assert refresh(inputs, state, state) == inputs


@given(members, members)
def test_inputs_follow_changes_in_azure(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert refresh(old, old, new) == new


@given(members, members, members)
def test_each_member_of_a_map_is_refreshed_separately(
    inputs: dict[str, Any], old: dict[str, Any], new: dict[str, Any]
) -> None:
    refreshed_inputs = refresh(inputs, old, new)
    assert all(refreshed_inputs[name] == value for name, value in new.items() if name not in old)
    assert not {name for name in old if name not in new}.intersection(refreshed_inputs)
    own = {name: value for name, value in inputs.items() if name not in {*old, *new}}
    assert {name: refreshed_inputs.get(name) for name in own} == own
