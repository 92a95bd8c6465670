"""The names that rotating pools have in Azure."""

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aks_catalogue import rotation
from aks_catalogue.nodes import LINUX_POOL_NAME

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 4096) | st.text(string.ascii_letters, max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("abc"), inner, max_size=2),
    max_leaves=4,
)


def as_pulumi_has_it(value: Any) -> Any:
    """Numbers of resolved outputs are floats, and properties without a value are left out."""
    match value:
        case dict():
            return {key: as_pulumi_has_it(value[key]) for key in reversed(value)}
        case list():
            return [as_pulumi_has_it(inner) for inner in value]
        case int() if not isinstance(value, bool):
            return float(value)
        case str():
            return value.swapcase()
    return value


@settings(max_examples=50, deadline=None)
@given(NAMES, st.dictionaries(st.sampled_from(["vmSize", "zones", "disk"]), VALUES))
def test_a_name_is_valid_and_the_same_in_every_run(name: str, values: dict[str, Any]) -> None:
    made = rotation.azure_name(name, values)
    assert LINUX_POOL_NAME.fullmatch(made)
    assert made.startswith(name)
    again = {**dict.fromkeys(("spot", "mig")), **as_pulumi_has_it(values)}
    assert rotation.azure_name(name, again) == made


def test_a_name_does_not_change_between_versions_of_this_project() -> None:
    """Another name for the same pool would replace nothing, but a half-done rotation would fail."""
    values = {"vmSize": "Standard_NC8as_T4_v3", "osDiskSizeGB": 256, "customHeaders": {"A": "b"}}
    assert rotation.azure_name("gpu", values) == "gpujif"


def test_headers_that_are_empty_are_not_those_that_are_missing() -> None:
    """They decide which provider manages the pool, and a change of it replaces."""
    assert rotation.azure_name("gpu", {"customHeaders": {}}) != rotation.azure_name("gpu", {})
