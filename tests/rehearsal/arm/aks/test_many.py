"""A request costs the same with many clusters and pools: it reads the few resources it needs."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from rehearsal.arm import state
from tests.rehearsal.arm.in_process import Arm

VERSION = "2025-09-01"
POOL = {"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D4ds_v5"}
BODY = {
    "location": "eastus",
    "identity": {"type": "SystemAssigned"},
    "properties": {"dnsPrefix": "c", "agentPoolProfiles": [POOL]},
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The bodies that the server has parsed."""
    texts: list[str] = []

    def loads(text: str) -> Any:
        texts.append(text)
        return json.loads(text)

    monkeypatch.setattr(state, "json", SimpleNamespace(loads=loads, dumps=json.dumps))
    return texts


def test_a_pool_is_put_without_reading_the_others(parsed: list[str]) -> None:
    """With 95 pools in a cluster the next one took three times as long as the first."""
    arm = Arm()
    cluster = arm.name()
    arm.call("PUT", cluster, BODY, VERSION)

    def read(name: str) -> int:
        parsed.clear()
        pool = {"properties": {"vmSize": "Standard_NC4as_T4_v3", "count": 0}}
        assert arm.call("PUT", f"{cluster}/agentPools/{name}", pool, VERSION).status == 201
        return len(parsed)

    read("first")
    second = read("second")
    for number in range(20):
        read(f"p{number}")
    assert read("last") <= second


def test_a_cluster_is_put_without_reading_the_others(parsed: list[str]) -> None:
    arm = Arm()
    small = {**POOL, "vmSize": "Standard_B2s"}
    body = {**BODY, "properties": {"dnsPrefix": "c", "agentPoolProfiles": [small]}}

    def read() -> int:
        parsed.clear()
        assert arm.call("PUT", arm.name(), body, VERSION).status == 201
        return len(parsed)

    read()
    second = read()
    for _ in range(10):
        read()
    assert read() <= second
