"""Other values of each enumeration that the rehearsal plays are refused."""

import typing
from collections.abc import Mapping
from typing import Any

import pytest

from rehearsal.arm.aks import fields
from tests.rehearsal.arm.in_process import Arm

V = "2026-08-01"
CPU = "Standard_D4ds_v5"
PLAYED = {
    "pool": [f"properties.{path}" for path in fields.CHOICES["pool"]],
    "cluster": [*fields.CHOICES["cluster"]],
}


def body(path: str, value: object) -> dict[str, Any]:
    result: Any = value
    for name in reversed(path.split(".")):
        if name == "*":
            result = {".": result, "cluster.local": {}}
        else:
            result = {name.removesuffix("[]"): [result] if name.endswith("[]") else result}
    return typing.cast(dict[str, Any], result)


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = one.keys() & other.keys()
    inner = {name: merged(one[name], other[name]) for name in both if isinstance(one[name], dict)}
    return {**one, **other, **inner}


def sent(of: str, path: str, value: object) -> dict[str, Any]:
    if of == "pool":
        base: dict[str, Any] = {"properties": {"vmSize": CPU, "count": 0}}
        return merged(base, body(path, value))
    pools = [{"name": "system", "mode": "System", "vmSize": CPU, "count": 1}]
    base = {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "properties": {"dnsPrefix": "x", "agentPoolProfiles": pools},
    }
    return merged(base, body(path, value))


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


@pytest.fixture(scope="module")
def cluster(arm: Arm) -> str:
    name = arm.name()
    assert arm.call("PUT", name, sent("cluster", "properties.dnsPrefix", "x"), V).status == 201
    return name


@pytest.mark.parametrize(("of", "path"), [(of, path) for of in PLAYED for path in PLAYED[of]])
def test_an_unknown_value_of_a_played_enumeration_is_refused(
    arm: Arm, cluster: str, of: str, path: str
) -> None:
    where = arm.name() if of == "cluster" else f"{cluster}/agentPools/p"
    answer = arm.call("PUT", where, sent(of, path, "banana"), V)
    assert answer.status == 400, answer
    assert "banana" in answer.body["message"], answer
