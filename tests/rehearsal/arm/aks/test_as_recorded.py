"""What AKS gave back in recorded exchanges, row by row, and what this server gives back.

The tables beside this file have a row for each kind of exchange: what was said, with which version
of the API, and what came back. `not_asked` has those that this server cannot be asked for, or
answers otherwise, with the reason.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aks_catalogue.shapes import at
from rehearsal.control_planes.desired_state import Era
from tests.rehearsal.arm.in_process import Arm

TABLES = Path(__file__).with_name("recorded")
MADE, UPDATED = 201, 200
AS_BEFORE = "as before"
CLUSTER: Mapping[str, Any] = {
    "location": "eastus",
    "identity": {"type": "SystemAssigned"},
    "properties": {
        "dnsPrefix": "test",
        "agentPoolProfiles": [{"name": "system", "mode": "System", "vmSize": "Standard_DS2_v2"}],
    },
}


def rows(table: str, of: str) -> list[Any]:
    content = tomllib.loads((TABLES / f"{table}.toml").read_text(encoding="utf-8"))
    return [
        pytest.param(row, id=f"{number}-{row['path']}")
        for number, row in enumerate(content["asked"])
        if row["of"] == of
    ]


@cache
def arm(era: str) -> Arm:
    return Arm(Era(era))


def cluster(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a cluster that says this."""
    properties = {**CLUSTER["properties"], **body.get("properties", {})}
    return {**CLUSTER, **body, "properties": properties}


def answered(row: Mapping[str, Any], path: str, body: dict[str, Any], status: int) -> Any:
    reply = arm(row.get("era", "today")).call("PUT", path, body, row["api"])
    assert reply.status == status, reply
    return reply.body


def compare(row: Mapping[str, Any], answer: Any) -> None:
    actual = at(answer, row["path"])
    if row.get("absent"):
        assert actual is None
    elif "like" in row:
        assert re.fullmatch(row["like"], str(actual)), actual
    else:
        assert actual == row["value"]


@pytest.mark.parametrize("row", rows("pools", "pool"))
def test_a_standalone_pool_answers_as_recorded(row: dict[str, Any]) -> None:
    path = arm(row.get("era", "today")).name()
    answered(row, path, cluster(row.get("cluster", {})), MADE)
    made = answered(row, f"{path}/agentPools/p", {"properties": row["said"]}, MADE)
    compare(row, made["properties"])


@pytest.mark.parametrize("row", rows("pools", "inline"))
def test_an_inline_pool_answers_as_recorded(row: dict[str, Any]) -> None:
    pool = {"name": "p", "mode": "System", "count": 1, **row["said"]}
    cluster_body = row.get("cluster", {})
    inside = {**cluster_body.get("properties", {}), "agentPoolProfiles": [pool]}
    path = arm(row.get("era", "today")).name()
    made = answered(row, path, cluster({**cluster_body, "properties": inside}), MADE)
    compare(row, made["properties"]["agentPoolProfiles"][0])


@pytest.mark.parametrize("row", rows("clusters", "cluster"))
def test_a_cluster_answers_as_recorded(row: dict[str, Any]) -> None:
    path = arm(row.get("era", "today")).name()
    compare(row, answered(row, path, cluster(row["said"]), MADE))


@pytest.mark.parametrize("row", rows("updates", "cluster"))
def test_an_update_of_a_cluster_answers_as_recorded(row: dict[str, Any]) -> None:
    path = arm(row.get("era", "today")).name()
    answered(row, path, cluster(row["before"]), MADE)
    before = arm(row.get("era", "today")).call("GET", path, None, row["api"]).body
    after = answered(row, path, {"location": "eastus", **row["said"]}, UPDATED)
    if row.get("value") == AS_BEFORE:
        expected = at(before, row["path"])
        assert expected is not None
        row = {**row, "value": expected}
    compare(row, after)


@pytest.mark.parametrize("row", rows("updates", "pool"))
def test_an_update_of_a_pool_answers_as_recorded(row: dict[str, Any]) -> None:
    path = arm(row.get("era", "today")).name()
    answered(row, path, cluster({}), MADE)
    pool = f"{path}/agentPools/p"
    made = {"vmSize": "Standard_DS2_v2", **row["before"]}
    before = answered(row, pool, {"properties": made}, MADE)["properties"]
    for update in row.get("between", ()):
        answered(row, pool, {"properties": update}, UPDATED)
    after = answered(row, pool, {"properties": row["said"]}, UPDATED)["properties"]
    if row.get("value") == AS_BEFORE:
        expected = at(before, row["path"])
        assert expected is not None
        row = {**row, "value": expected}
    compare(row, after)


@pytest.mark.parametrize("table", ["pools", "clusters", "updates"])
def test_recordings_that_are_not_tested_have_a_reason(table: str) -> None:
    content = tomllib.loads((TABLES / f"{table}.toml").read_text(encoding="utf-8"))
    assert content["not_asked"]
    assert all(row["reason"] for row in content["not_asked"])
