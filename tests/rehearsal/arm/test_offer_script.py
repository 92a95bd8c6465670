"""The script of offers as such: what it can say, and how lines are found."""

import json
import sqlite3
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
    assert done is (requested == expected)
    assert (ALLOCATED in kept.body) is not done
    store.close()


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
