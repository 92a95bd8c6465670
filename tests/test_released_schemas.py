"""A version that breaks programs says so in its number."""

from collections.abc import Mapping

import pytest

from tests.breaking_changes import breaking_changes, may_break
from tests.released import PACKAGES, released

_PROFILE = "ManagedClusterPropertiesAutoScalerProfile"
_NO_SDK = "no SDK had the type: programs pass a mapping"
# What breaks nothing, although the schema cannot say so: why.
HARMLESS: Mapping[str, Mapping[str, str]] = {
    "aks-preview": {
        "aks-preview:containerservice:AgentPool input capacityReservationGroupID: "
        "a change of it now replaces the resource": "Azure refused the change",
        **{
            f"aks-preview:containerservice:ManagedCluster {kind} autoScalerProfile: "
            f"map of Any, not aks-preview:containerservice:{_PROFILE}": _NO_SDK
            for kind in ("input", "output")
        },
        f"aks-preview:containerservice:{_PROFILE}: removed": _NO_SDK,
    },
}


@pytest.mark.parametrize("name", PACKAGES)
def test_what_breaks_programs_needs_a_new_version(name: str) -> None:
    """Before 1.0 a minor one, then a major one: CONTRIBUTING.md says where the version is.

    After a new version, its schemas are recorded: `python -m tests.released`.
    """
    before, today = released(name), PACKAGES[name]()
    if not may_break(before["version"], today["version"]):
        assert breaking_changes(before, today) == sorted(HARMLESS.get(name, ()))
