"""What an older release stored is mended when the server starts."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rehearsal import cloud
from rehearsal.arm.aks import mending
from rehearsal.arm.aks.control_planes import StoreSource
from rehearsal.arm.compute import usages
from rehearsal.arm.home import Home
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.state import Store
from rehearsal.cloud import Cloud
from rehearsal.control_planes.desired_state import Era
from tests.rehearsal.arm.aks.test_as_recorded import cluster as cluster_body
from tests.rehearsal.arm.in_process import GROUP as GROUP_ID
from tests.rehearsal.arm.in_process import Arm
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

V = f"?api-version={API_VERSION}"
Poison = Callable[[Any], object]
# What is stored under the cluster's own id, its pool's, and its group's.
CLUSTER, POOL, GROUP = "", "/agentPools/system", "group"
POISONS: dict[str, tuple[str, Poison]] = {
    "no profile": (POOL, lambda body: body["properties"].update(gpuProfile={"nvidia": "x"})),
    "no number": (POOL, lambda body: body["properties"].update(spotMaxPrice=float("nan"))),
    "texts": (POOL, lambda body: body["properties"].update(maxPods="110", osDiskSizeGB="big")),
    "labels": (POOL, lambda body: body["properties"].update(nodeLabels={"a": 1, "b": {}})),
    "objects": (POOL, lambda body: body["properties"].update(maxPods={}, nodeTaints={})),
    "no size": (POOL, lambda body: body["properties"].update(vmSize=4)),
    "all of a pool": (POOL, lambda body: body.update(properties="x")),
    "nothing of a pool": (POOL, lambda body: body.clear()),
    "network": (CLUSTER, lambda body: body["properties"].update(networkProfile="x")),
    "beside the properties": (CLUSTER, lambda body: body.update(sku="x", identity=[], tags="x")),
    "profile": (CLUSTER, lambda body: body["properties"].update(oidcIssuerProfile=1)),
    "power": (CLUSTER, lambda body: body["properties"].update(powerState=1)),
    "uid": (CLUSTER, lambda body: body["properties"].update(resourceUID=1)),
    "nothing of a cluster": (CLUSTER, lambda body: body.clear()),
    "tags": (GROUP, lambda body: body.update(tags="x")),
    "list of tags": (GROUP, lambda body: body.update(tags=["x"])),
    "nothing of a group": (GROUP, lambda body: body.clear()),
}
# These say too little when the rest of them is gone.
GONE = {"no size", "all of a pool", "nothing of a pool", "uid", "nothing of a cluster"}


def poison(database: Path, key: str, change: Poison) -> None:
    with closing(sqlite3.connect(database)) as state, state:
        row = state.execute("SELECT body FROM resources WHERE key = ?", [key]).fetchone()
        body = json.loads(row[0])
        change(body)
        state.execute("UPDATE resources SET body = ? WHERE key = ?", [json.dumps(body), key])


def rows(store: Store, key: str) -> list[tuple[Any, ...]]:
    """All that is stored beside a resource and what lies under it."""
    statement = "SELECT * FROM resources WHERE NOT (key = ? OR key LIKE ?)"
    return [tuple(row) for row in store.rows(statement, key, f"{key}/%")]


@pytest.mark.parametrize("name", POISONS)
def test_a_stored_value_of_the_wrong_type_is_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The server did not start with such a value, so nothing else could be taken away either."""
    file = tmp_path / "arm.sqlite"
    place, change = POISONS[name]
    with closing(Store(file)) as store:
        arm = Arm(store=store)
        cluster, other = arm.name(), arm.name()
        for made in (cluster, other):
            assert arm.call("PUT", made, new_cluster(), API_VERSION).status == 201
            assert arm.call("GET", made, None, API_VERSION).status == 200
        other_group = {"location": "eastus"}
        assert arm.call("PUT", f"{GROUP_ID}2", other_group, "2025-04-01").status == 201
        key = (GROUP_ID if place == GROUP else f"{cluster}{place}").lower()
        before = rows(store, key)
        assert before
    poison(file, key, change)

    with closing(Store(file)) as store:
        mending.mend(store)
        assert rows(store, key) == before
        assert (store.find(key) is None) is (name in GONE)
        offers = Offers(Era.ARTICLE, OfferScript())
        desired = StoreSource(store, lambda: offers).clusters()
        assert not any(cluster_state.unreadable for cluster_state in desired)
        usages.in_use(store, "eastus")
        assert f"{cluster}{place}".lower() in capsys.readouterr().err.lower() or place == GROUP
        mending.mend(store)
    assert capsys.readouterr().err == ""


def test_a_server_with_damaged_rows_starts_and_deletes_everything(
    start_cloud: Callable[[], Cloud],
) -> None:
    azure = Azure(start_cloud())
    home = Home(azure.cloud.home)
    for group in ("poisoned", "other"):
        path = f"/resourceGroups/{group}"
        azure.call("PUT", f"{path}{V}", {"location": "eastus", "tags": {"a": "b"}})
        path += "/providers/Microsoft.ContainerService/managedClusters/cluster"
        azure.call("PUT", f"{path}{V}", new_cluster())
        wait_until_made(azure, path)
    before = azure.call("GET", f"{path}{V}").body
    cloud.stop(home.path)
    own = path.replace("other", "poisoned")
    for name in ("no profile", "no number", "network", "tags"):
        place, change = POISONS[name]
        address = "/resourceGroups/poisoned" if place == GROUP else f"{own}{place}"
        poison(home.database, f"{azure.subscription}{address}".lower(), change)

    start_cloud()
    assert azure.call("GET", f"{path}{V}").body == before
    assert [group["tags"] for group in azure.call("GET", f"/resourceGroups{V}").body["value"]]
    pool = {"properties": {"vmSize": "Standard_D2s_v3", "mode": "System", "count": 2}}
    assert azure.call("PUT", f"{own}/agentPools/system{V}", pool).status == 200
    assert azure.call("DELETE", f"/resourceGroups/poisoned{V}").status == 202
    azure.wait(f"/resourceGroups/poisoned{V}", lambda reply: reply.status == 404)
    lines = home.server_log.read_text()
    assert "properties.gpuProfile.nvidia is not of type NvidiaGPUProfile" in lines
    assert "Traceback" not in lines


def stored(path: Path) -> None:
    """A group, a cluster and its pool, and an operation that is over."""
    with closing(Store(path)) as store:
        arm = Arm(store=store)
        name = arm.name()
        assert arm.call("PUT", name, cluster_body({}), "2026-08-01").status == 201
        assert arm.call("GET", name, None, "2026-08-01").status == 200


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as state, state:
        state.execute(statement)


# Which rows stay, by the names of their types.
ODD_ROWS = {
    "UPDATE resources SET type = 'Banana' WHERE type LIKE '%agentPools'": 3,
    "UPDATE resources SET id = 'x' WHERE type LIKE '%managedClusters'": 1,
    "UPDATE resources SET key = key || '/x' WHERE type LIKE '%agentPools'": 2,
    "UPDATE resources SET body = replace(hex(zeroblob(5000)), '00', '[') "
    "WHERE type LIKE '%agentPools'": 2,
    "UPDATE resources SET body = x'ff00' WHERE type LIKE '%agentPools'": 2,
    "UPDATE resources SET operation = 'none'": 3,
    "DELETE FROM resources WHERE type LIKE '%managedClusters'": 1,
    "UPDATE resources SET operation = (SELECT id FROM operations LIMIT 1), state = 'Updating'": 3,
}


@pytest.mark.parametrize("statement", ODD_ROWS, ids=lambda text: text[:50])
def test_an_impossible_row_is_dropped(tmp_path: Path, statement: str) -> None:
    """The server did not start, or a resource was busy for ever."""
    stored(tmp_path / "arm.sqlite")
    changed(tmp_path / "arm.sqlite", statement)
    with closing(mending.open_store(tmp_path / "arm.sqlite")) as store:
        left = store.rows("SELECT * FROM resources")
        assert len(left) == ODD_ROWS[statement]
        assert not [row["id"] for row in left if row["operation"]]
        offers = Offers(Era.TODAY, OfferScript())
        StoreSource(store, lambda: offers).clusters()
        arm = Arm(store=store)
        assert arm.call("DELETE", GROUP_ID, None, "2025-04-01").status == 202
        assert arm.call("GET", GROUP_ID, None, "2025-04-01").status == 404


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"no database" * 1000,
        lambda content: content[:5000],
        lambda content: content[:4096] + bytes(8192),
        lambda _: b"",
    ],
    ids=["another file", "a part", "zeros", "nothing"],
)
def test_a_file_that_is_no_database_is_set_aside(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """The server did not start, and only a removal of the whole folder helped."""
    path = tmp_path / "arm.sqlite"
    stored(path)
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    with closing(mending.open_store(path)) as store:
        assert store.rows("SELECT * FROM resources") == []
        assert Arm(store=store).call("GET", GROUP_ID, None, "2025-04-01").status == 200
    aside = path.with_name("arm.sqlite.damaged")
    assert not damaged or aside.read_bytes() == damaged


def test_a_database_that_another_process_has_open_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "arm.sqlite"
    stored(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(mending.open_store(path)) as store:
            assert len(store.rows("SELECT * FROM resources")) == 3
