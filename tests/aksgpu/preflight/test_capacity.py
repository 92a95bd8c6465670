"""Capacities: rungs stand in for each other, so that one may lack what another has."""

import io
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from azure.mgmt.containerservice.models import ManagedCluster

from aksgpu.outcome import Cause
from aksgpu.preflight import capacities, facts
from aksgpu.preflight.capacities import hours_of
from aksgpu.preflight.costs import Costs, PoolCost
from aksgpu.preflight.facts import ExistingCluster, Unanswered
from aksgpu.preflight.price_list import Price
from aksgpu.preflight.report import render
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.report import ReportConsole
from tests.aksgpu.preflight.conftest import Place, facts_with, stack_of, the

PAGE = Path(__file__).parents[3] / "docs" / "preflight.md"
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
    zonal = [REGULAR | {"name": f"zone{zone}", "zones": [zone]} for zone in "12"]
    result = place.ask(**training(REGULAR, *zonal))
    row = the(result, "quota", "regular")
    assert row.answer == the(result, "quota", "zone2").answer == "ok"
    assert "needed at most 120 (120 for 4 nodes and 1 surge node" in row.what
    assert "; the other rungs need up to 120, instead of these" in row.what


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


IDENTITY = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
)
RESERVED = {
    "name": "reserved",
    "capacityReservationGroupId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/"
    "capacityReservationGroups/r",
}


def rung(number: int, node_hour: str | None, **keys: Any) -> PoolCost:
    price: Price | Unanswered = Unanswered("no price")
    if node_hour is not None:
        price = Price(hourly=Decimal(node_hour), meter="m", since="s")
    known = {"name": f"rung{number}", "key": f"gpuCapacity[0].rungs[{number}]", "vm_size": A100}
    counts = {"first": 0, "fewest": 0, "most": 4}
    return PoolCost(PlannedPool(**{**known, **counts, "capacity": "training", **keys}), price)


EIGHT_GPUS = {"vm_size": "Standard_ND96amsr_A100_v4"}


@pytest.mark.parametrize(
    ("ladder", "dearer"),
    [
        ([rung(1, "0.7"), rung(2, "3.67"), rung(3, "6.98")], {}),
        (
            [rung(1, "3.67"), rung(2, "0.7"), rung(3, "2.10")],
            {"rung1": "rung2, which costs only 0.70"},
        ),
        ([rung(1, "3.67"), rung(2, "3.67")], {}),
        # A reservation is paid for, whether it is used or not.
        ([rung(1, "3.67", reservation_group="r"), rung(2, "0.7")], {}),
        (
            [rung(1, "0.7"), rung(2, "3.67", reservation_group="r")],
            {"rung1": "rung2, whose machines are paid for already"},
        ),
        # Dearer by the node, and cheaper by the GPU: either order has its reason.
        ([rung(1, "27", **EIGHT_GPUS), rung(2, "3.67")], {}),
        ([rung(1, "33", **EIGHT_GPUS), rung(2, "3.67")], {"rung1": "rung2, which costs only 3.67"}),
        ([rung(1, None), rung(2, "0.7"), rung(3, None)], {}),
    ],
)
def test_a_dearer_rung_before_a_cheaper_one_is_a_warning(
    ladder: list[PoolCost], dearer: dict[str, str]
) -> None:
    rows = list(capacities.judge_order(Costs(ladder, Unanswered(""))))
    assert [row.pool for row in rows] == list(dearer)
    for row in rows:
        assert row.what.endswith(f"the autoscaler tries it before {dearer[row.pool]}")
        assert (row.answer, row.cause) == ("warning", None)
        assert row.key == f"gpuCapacity[0].rungs[{row.pool[-1]}].name"


def test_the_price_of_a_gpu_is_a_part_of_the_node() -> None:
    assert hours_of(rung(1, "28", **EIGHT_GPUS)) == (Decimal(28), Decimal("3.5"))
    # A sixth of a GPU.
    assert hours_of(rung(1, "0.5", vm_size="Standard_NV6ads_A10_v5")) == (
        Decimal("0.5"),
        Decimal(3),
    )
    assert hours_of(rung(1, "0.5", vm_size="Standard_NoSuch")) == (Decimal("0.5"),)
    assert hours_of(rung(1, None)) == ()


def test_pools_of_their_own_have_no_order() -> None:
    dear, cheap = rung(1, "3.67", capacity=""), rung(2, "0.7", capacity="")
    assert not list(capacities.judge_order(Costs([dear, cheap], Unanswered(""))))
    other = rung(2, "0.7", capacity="other")
    assert not list(capacities.judge_order(Costs([rung(1, "3.67"), other], Unanswered(""))))


def test_what_is_known_of_each_rung_is_a_table(place: Place) -> None:
    place.offer(limits=limits(**{OF_H100: 119}), sizes=[{"size": H100, "is": "soldOut"}])
    zonal = OTHER | {"name": "h100spot", "spot": True, "zones": ["1", "2"]}
    result = place.ask(**training(SPOT, REGULAR, zonal, OTHER))
    known = {line["pool"]: line for line in result.to_json()["rungs"]}
    assert list(known) == ["spot", "regular", "h100spot", "h100"]
    assert (
        known["h100spot"].items()
        >= {
            **{
                "capacity": "training",
                "rung": 3,
                "size": H100,
                "kind": "spot",
                "zones": ["1", "2"],
            },
            **{"offered": "yes", "quota": "ok", "score": "Low"},
        }.items()
    )
    assert known["h100"].items() >= {"rung": 4, "quota": "119 of 200", "score": None}.items()
    assert known["regular"].items() >= {"kind": "regular", "quota": "ok"}.items()
    assert known["regular"]["nodeHour"] == known["regular"]["gpuHour"] > known["spot"]["nodeHour"]

    page = io.StringIO()
    render(result, ReportConsole(file=page, width=160), "")
    text = "\n".join(line.rstrip() for line in page.getvalue().splitlines())
    example = re.search(r"```text\n(rung .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    assert f"gets the nodes\n{example[1]}" in text
    assert "the highest cost is that of all rungs together." in text


def test_a_rung_that_aks_refuses_is_not_offered(place: Place) -> None:
    place.offer(sizes=[{"size": H100, "is": "restricted"}])
    identity = {"userAssignedIdentityId": IDENTITY}
    result = place.ask(**training(REGULAR, OTHER | RESERVED), cluster=identity)
    regular, reserved = result.to_json()["rungs"]
    assert (regular["offered"], regular["quota"]) == ("yes", "ok")
    assert (reserved["offered"], reserved["kind"]) == ("no", "reserved")


def test_a_score_that_is_not_known_is_unknown_in_the_table(place: Place) -> None:
    place.fault({"method": "POST", "path": "/placementScores/spot/generate", "status": 403})
    spot, regular = place.ask(**training(SPOT, REGULAR)).to_json()["rungs"]
    assert (spot["score"], regular["score"]) == ("unknown", None)


def test_a_stack_without_capacities_has_no_table(place: Place) -> None:
    result = place.ask(gpuPools=[{"name": "own", "vmSize": A100, "count": 1}])
    assert result.to_json()["rungs"] == []


@pytest.mark.parametrize(
    ("expander", "balances", "change"),
    [
        ("priority", False, ""),
        ("random", False, "expander=priority"),
        ("", True, "expander=priority balance-similar-node-groups=false"),
        ("priority", True, "balance-similar-node-groups=false"),
    ],
)
def test_the_autoscaler_of_an_existing_cluster_goes_by_the_order(
    expander: str, balances: bool, change: str
) -> None:
    there = {"resourceGroup": {"name": "g", "existing": True}}
    settings = stack_of(**training(SPOT), **there, cluster={"name": "c", "existing": True})
    about: dict[str, Any] = {"id": "c", "location": "eastus", "version": "", "trouble": ""}
    cluster = ExistingCluster(**about, pools={}, expander=expander, balances=balances)
    (row,) = capacities.judge_expander(settings, facts_with(cluster=cluster))
    assert (row.answer, row.key) == ("warning" if change else "ok", "gpuCapacity")
    if change:
        command = f"`az aks update -g g -n c --cluster-autoscaler-profile {change}`"
        assert row.advice == f"run {command}"
    assert ("similar pools" in row.what) == balances
    assert (f"the expander {expander or 'random'}" in row.what) == ("priority" in change)
    own = stack_of(**training(SPOT))
    assert not list(capacities.judge_expander(own, facts_with(cluster=cluster)))


def test_the_profile_of_the_autoscaler_is_read_from_azure() -> None:
    def read(**properties: Any) -> tuple[str, bool]:
        about = {"id": "c", "location": "eastus", "properties": {"dnsPrefix": "c"} | properties}
        cluster = facts.cluster(ManagedCluster(about))
        return cluster.expander, cluster.balances

    balanced = {"expander": "priority", "balance-similar-node-groups": "true"}
    assert read(autoScalerProfile=balanced) == ("priority", True)
    assert read(autoScalerProfile={"balance-similar-node-groups": "false"}) == ("", False)
    assert read(autoScalerProfile={}) == read() == ("", False)


def test_a_cluster_without_the_expander_is_a_warning(place: Place, there: dict[str, Any]) -> None:
    row = the(place.ask(**training(SPOT), **there), "expander")
    assert (row.answer, row.cause) == ("warning", None)
