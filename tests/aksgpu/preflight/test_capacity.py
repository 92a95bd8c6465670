"""Capacities: rungs stand in for each other, so that one may lack what another has."""

from typing import Any

import pytest

from aksgpu.outcome import Cause
from tests.aksgpu.preflight.conftest import Place, the

A100, H100 = "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
OF_A100, OF_H100 = "StandardNCADSA100v4Family", "StandardNCadsH100v5Family"
SPOT, REGULAR = {"name": "spot", "spot": True}, {"name": "regular"}
OTHER = {"name": "h100", "vmSize": H100}


def training(*rungs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The key of a capacity of up to four nodes."""
    ladder = {"name": "training", "vmSize": A100, "maxCount": 4, "rungs": rungs, **more}
    return {"gpuCapacity": [ladder]}


def limits(**by_name: int) -> list[dict[str, Any]]:
    return [{"name": name, "limit": limit} for name, limit in by_name.items()]


def test_a_rung_without_quota_is_a_warning_if_another_has_enough(place: Place) -> None:
    """Four nodes with 24 vCPUs each, and one of a surge."""
    place.offer(limits=limits(**{OF_A100: 119}))
    result = place.ask(**training(SPOT, REGULAR))
    assert result.exit_code == 0
    row = the(result, "quota", "regular")
    assert (row.answer, row.cause, row.key) == ("warning", None, "gpuCapacity[0].rungs[1].maxCount")
    assert "limit 119, used 0, needed at most 120" in row.what
    assert row.what.endswith("; other rungs of training can be had")
    assert "a limit of 120 or more" in row.advice
    assert the(result, "quota", "spot").answer == "ok"


def test_a_capacity_without_any_quota_is_a_problem(place: Place) -> None:
    place.offer(limits=limits(**{OF_A100: 119, "lowPriorityCores": 95}))
    result = place.ask(**training(SPOT, REGULAR))
    assert result.verdict is Cause.QUOTA_TOO_SMALL
    for rung in ("spot", "regular"):
        assert the(result, "quota", rung).answer == "problem"


def test_nodes_that_a_rung_starts_with_have_to_have_quota(place: Place) -> None:
    """AKS refuses such a pool, whatever the other rungs have."""
    place.offer(limits=limits(**{OF_A100: 24}))
    for least, answer in ((1, "warning"), (2, "problem")):
        result = place.ask(**training(SPOT, REGULAR | {"minCount": least, "count": least}))
        assert the(result, "quota", "regular").answer == answer


def test_rungs_do_not_add_up_in_a_quota(place: Place) -> None:
    place.offer(limits=limits(**{OF_A100: 120}))
    result = place.ask(**training(REGULAR, REGULAR | {"name": "zonal", "zones": ["1"]}))
    row = the(result, "quota", "regular")
    assert row.answer == the(result, "quota", "zonal").answer == "ok"
    assert "needed at most 120 (120 for 4 nodes and 1 surge node" in row.what
    assert "; other rungs of training up to 120, not counted" in row.what


def test_a_rung_shares_its_quota_with_the_other_pools(place: Place) -> None:
    own = {"name": "own", "vmSize": A100, "count": 1}
    place.offer(limits=limits(**{OF_A100: 167}))
    result = place.ask(**training(SPOT, REGULAR), gpuPools=[own])
    assert the(result, "quota", "regular").answer == "warning"
    assert "48 for other pools of the stack" in the(result, "quota", "regular").what
    # The pool has its quota if the capacity stands on its spot rung.
    assert the(result, "quota", "own").answer == "ok"


@pytest.mark.parametrize(
    ("limit", "regular", "region"), [(127, "warning", "ok"), (128, "ok", "ok")]
)
def test_a_rung_needs_quota_of_the_region_too(
    place: Place, limit: int, regular: str, region: str
) -> None:
    """A system node of four cores, and its surge, beside the 120 of the rung."""
    place.offer(limits=limits(cores=limit))
    result = place.ask(**training(SPOT, REGULAR))
    assert the(result, "quota", "regular").answer == regular
    assert the(result, "quota of the region").answer == region


def test_a_size_that_aks_refuses_stays_a_problem(place: Place) -> None:
    """AKS refuses a new pool of such a size, also one without nodes: the update would fail."""
    for kind in ("absent", "restricted"):
        place.offer(sizes=[{"size": H100, "is": kind}])
        result = place.ask(**training(SPOT, OTHER))
        assert result.verdict is Cause.SIZE_NOT_OFFERED
        assert the(result, "size", "h100").answer == "problem"
