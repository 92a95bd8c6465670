"""The script of offers as such: what it can say, and how lines are found."""

import json
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from rehearsal.arm.aks.control_planes import StoreSource
from rehearsal.arm.compute.quota import Account
from rehearsal.arm.compute.usages import ALLOCATED, POOL_TYPE
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.state import Resource, Store
from rehearsal.control_planes.desired_state import Era
from rehearsal.files import ScriptError, WatchedFile, parse_script


def offers(script: dict[str, Any], era: Era = Era.TODAY) -> Offers:
    return Offers(era, TypeAdapter(OfferScript).validate_python(script))


def test_the_first_matching_line_applies() -> None:
    lines = [
        {"name": "cores", "location": "eastus", "limit": 1},
        {"name": "c*", "limit": 2},
        {"name": "*", "location": "east*", "limit": 3},
    ]
    offer = offers({"limits": lines})
    assert offer.limit("cores", "eastus") == 1
    assert offer.limit("cores", "westus") == 2
    assert offer.limit("lowPriorityCores", "eastus2") == 3
    assert offer.limit("lowPriorityCores", "westus") == 100_000


def test_an_unknown_location_or_size_has_no_offer() -> None:
    offer = offers({})
    assert offer.find("standard_NC8AS_t4_v3", "eastus") is not None
    assert offer.find("Standard_NC8as_T4_v3", "atlantis") is None
    assert offer.find("Standard_NC8as_T4", "eastus") is None


def test_a_size_that_no_table_has_can_be_offered() -> None:
    """The rehearsal does not know each size of Azure, and no script could say that there is one."""
    line = {"size": "Standard_D4ps_v9", "location": "eastus", "is": "offered"}
    offer = offers({"sizes": [line]}).find("standard_d4ps_V9", "eastus")
    assert offer is not None
    assert (offer.size.vcpus, offer.size.quota_family) == (4, None)
    assert offers({"sizes": [line]}).find("Standard_D4ps_v9", "westeurope") is None
    everything = {"sizes": [{"size": "*", "is": "offered"}]}
    assert offers(everything).find("Standard_D4ps_v9", "eastus") is None


@pytest.mark.parametrize(
    ("era", "script", "is_offered"),
    [
        (Era.TODAY, {}, False),
        (Era.TODAY, {"today": "2026-09-29"}, True),
        (Era.TODAY, {"today": "2026-09-30"}, False),
        (Era.ARTICLE, {}, True),
        (Era.ARTICLE, {"today": "2026-09-30"}, False),
    ],
)
def test_a_size_is_offered_until_it_is_retired(
    era: Era, script: dict[str, Any], is_offered: bool
) -> None:
    """The day is the script's, or else the era's: a base can be brought up as of an earlier day."""
    assert (offers(script, era).find("Standard_NV12s_v3", "eastus") is not None) is is_offered


def test_a_changed_or_deleted_script_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "offers.json"
    script = WatchedFile(path, OfferScript, OfferScript())
    assert script.read().page_size == 50
    for size in (1, 2):
        draft = tmp_path / "draft"
        draft.write_text(json.dumps({"pageSize": size}))
        draft.replace(path)
        assert script.read().page_size == size
    path.unlink()
    assert script.read().page_size == 50


@pytest.mark.parametrize(
    "content",
    [
        {"prizes": []},
        {"today": "tomorrow"},
        {"sizes": [{"size": "x", "is": "dear"}]},
        {"sizes": [{"size": "x", "is": "soldOut", "priority": "low"}]},
        {"sizes": [{"size": "x", "is": "restricted", "priority": "spot"}]},
        {"sizes": [{"is": "absent"}]},
        {"limits": [{"name": "cores"}]},
        {"versions": [{"location": "eastus"}]},
        {"pageSize": "many"},
        {"autoscaledCounts": "perhaps"},
    ],
)
def test_an_invalid_script_is_reported_and_ignored(
    tmp_path: Path, content: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """It counts for nothing, and a line says so: once, every request was answered by a 500."""
    path = tmp_path / "offers.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ScriptError, match=r"offers\.json is not valid and is ignored: \w+"):
        parse_script(path, OfferScript)
    script = WatchedFile(path, OfferScript, OfferScript())
    assert script.read() == script.read() == OfferScript()
    [line] = capsys.readouterr().err.splitlines()
    assert str(next(iter(content))) in line


@pytest.mark.parametrize(
    ("script", "requested", "expected"),
    [
        ({}, 3, 3),
        ({"limits": [{"name": "cores", "limit": 16}]}, 2, 2),
        ({"limits": [{"name": "cores", "limit": 16}]}, 3, 1),
        ({"limits": [{"name": "cores", "limit": 0}]}, 0, 0),
        ({"sizes": [{"size": "*", "is": "soldOut"}]}, 2, 1),
        ({"sizes": [{"size": "*", "is": "soldOut"}]}, 0, 0),
    ],
)
def test_the_autoscaler_gets_only_the_offered_nodes(
    tmp_path: Path, script: dict[str, Any], requested: int, expected: int
) -> None:
    store = Store(tmp_path / "arm.sqlite")
    properties = {"vmSize": "Standard_NC8as_T4_v3", "count": 1}
    body = {"properties": properties, ALLOCATED: 1}
    pool = Resource("/a/pool", POOL_TYPE, "/a", "eastus", body, "Succeeded")
    store.write(pool)

    done = StoreSource(store, lambda: offers(script)).resize("/a/pool", requested)

    kept = store.find("/a/pool")
    assert kept is not None
    assert kept.properties["count"] == expected
    assert (done is None) is (requested == expected)
    assert (ALLOCATED in kept.body) is (done is not None)
    store.close()


def test_what_the_autoscaler_hears_is_the_error_of_compute(tmp_path: Path) -> None:
    """It heard "no", and asked again at every step."""
    scripts: dict[str, dict[str, Any]] = {
        "OperationNotAllowed": {"limits": [{"name": "cores", "limit": 16}]},
        "AllocationFailed": {"sizes": [{"size": "*", "is": "soldOut"}]},
    }
    for code, script in scripts.items():
        store = with_pool(tmp_path / code)
        refused = StoreSource(store, partial(offers, script)).resize("/a/pool", 3)
        assert refused is not None
        assert refused.code == code
        assert refused.message
        store.close()


def with_pool(folder: Path, **properties: Any) -> Store:
    folder.mkdir(exist_ok=True)
    store = Store(folder / "arm.sqlite")
    body = {"properties": {"vmSize": "Standard_NC8as_T4_v3", "count": 1, **properties}}
    store.write(Resource("/a/pool", POOL_TYPE, "/a", "eastus", body, "Succeeded"))
    return store


def test_reserved_machines_are_there_though_the_size_is_sold_out(tmp_path: Path) -> None:
    group = "/g/providers/Microsoft.Compute/capacityReservationGroups/r"
    kind = "Microsoft.Compute/capacityReservationGroups"
    store = with_pool(tmp_path, capacityReservationGroupID=group, availabilityZones=["1"])
    store.write(Resource(group, kind, "/g", "eastus", {}, "Succeeded"))
    for name, zone, capacity in (("a", "1", 3), ("b", "2", 5)):
        body = {"sku": {"name": "Standard_NC8as_T4_v3", "capacity": capacity}, "zones": [zone]}
        at = f"{group}/capacityReservations/{name}"
        of_group = f"{kind}/capacityReservations"
        store.write(Resource(at, of_group, group, "eastus", body, "Succeeded"))
    # Another pool has one of the three.
    other = {"vmSize": "Standard_NC8as_T4_v3", "count": 1, "capacityReservationGroupID": group}
    store.write(Resource("/a/other", POOL_TYPE, "/a", "eastus", {"properties": other}, "Succeeded"))
    source = StoreSource(store, lambda: offers({"sizes": [{"size": "*", "is": "soldOut"}]}))
    assert source.resize("/a/pool", 2) is None
    refused = source.resize("/a/pool", 3)
    assert refused is not None
    assert refused.code == "ZonalAllocationFailed"
    store.close()


def sold_out(*lines: dict[str, Any]) -> Any:
    script = TypeAdapter(OfferScript).validate_python(
        {"sizes": [{"size": "*", "is": "soldOut", **line} for line in lines]}
    )
    offer = Offers(Era.TODAY, script).find("Standard_NC8as_T4_v3", "eastus")
    assert offer is not None
    return offer.is_sold_out


def test_entries_that_are_sold_out_add_up() -> None:
    both = sold_out({"zones": ["1"], "priority": "spot"}, {"zones": ["2", "3"]})
    assert both("1", is_spot=True)
    assert not both("1", is_spot=False)
    assert both("2", is_spot=False)
    # A pool without zones takes what any zone has.
    assert both("0", is_spot=True)
    assert not both("0", is_spot=False)
    lines = [
        {"size": "*", "is": "soldOut", "zones": ["1"]},
        {"size": "Standard_NC*", "is": "restricted", "zones": ["2"]},
        {"size": "*", "is": "soldOut"},
    ]
    offer = offers({"sizes": lines}).find("Standard_NC8as_T4_v3", "eastus")
    assert offer is not None
    assert offer.restricted_zones == ("2",)
    assert [offer.is_sold_out(zone, is_spot=True) for zone in "12"] == [True, False]


class CountingStore(Store):
    """A store that knows how often it was asked."""

    asked = 0

    def rows(self, statement: str, *values: object) -> list[sqlite3.Row]:
        self.asked += 1
        return super().rows(statement, *values)


def test_the_usage_of_many_pools_is_read_in_one_query(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "arm.sqlite")
    for number in range(300):
        properties = {"vmSize": "Standard_NC8as_T4_v3", "count": 2}
        body = {"properties": properties}
        store.write(Resource(f"/a/p{number}", POOL_TYPE, "/a", "eastus", body, "Succeeded"))
    store.asked = 0

    account = Account(store, offers({}), "eastus")

    pool = store.find("/a/p1")
    assert pool is not None
    assert (account.nodes(pool), store.asked) == (2, 2)  # the second is the test's own
    store.close()
