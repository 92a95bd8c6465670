"""Other values of each enumeration that the rehearsal plays are refused."""

import enum
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from azure.mgmt.containerservice import models
from azure.mgmt.containerservice import types as wire

from rehearsal.arm.aks import fields
from tests.rehearsal.arm.in_process import Arm

V = "2026-08-01"
# The enumerations are known to the SDK's types under their bare names only.
NAMES = {**vars(models), **{name: value for name, value in vars(wire).items() if name[0] != "_"}}
CPU = "Standard_D4ds_v5"


def enumerations(
    hint: Any, path: str = "", inside: tuple[Any, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yields the paths in a body, `[]` for an item and `*` for a name, and the values of each."""
    if hasattr(hint, "__required_keys__"):
        if hint not in inside:
            for name, member in typing.get_type_hints(hint, localns=NAMES).items():
                yield from enumerations(member, f"{path}.{name}" if path else name, (*inside, hint))
        return
    parts = typing.get_args(hint)
    names = [
        part for part in (hint, *parts) if isinstance(part, type) and issubclass(part, enum.Enum)
    ]
    if names:
        yield path, [member.value for member in names[0]]
        return
    container = typing.get_origin(hint)
    sign = "[]" if container is list else ".*" if container is dict else ""
    for part in parts:
        yield from enumerations(part, path + sign, inside)


POOL = dict(enumerations(wire.AgentPool))
CLUSTER = {
    path: values
    for path, values in enumerations(wire.ManagedCluster)
    if not path.startswith("properties.agentPoolProfiles")
}


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


ALL = [("pool", path) for path in POOL] + [("cluster", path) for path in CLUSTER]


@pytest.mark.parametrize(("of", "path"), [(of, path) for of in PLAYED for path in PLAYED[of]])
def test_an_unknown_value_of_a_played_enumeration_is_refused(
    arm: Arm, cluster: str, of: str, path: str
) -> None:
    where = arm.name() if of == "cluster" else f"{cluster}/agentPools/p"
    answer = arm.call("PUT", where, sent(of, path, "banana"), V)
    assert answer.status == 400, answer
    assert "banana" in answer.body["message"], answer


@pytest.mark.parametrize(("of", "path"), ALL)
def test_values_of_the_api_are_not_refused_as_unknown(
    arm: Arm, cluster: str, of: str, path: str
) -> None:
    """Another rule may refuse the value; none says that it is not one of the enumeration's."""
    for value in (POOL if of == "pool" else CLUSTER)[path]:
        where = arm.name() if of == "cluster" else f"{cluster}/agentPools/p"
        answer = arm.call("PUT", where, sent(of, path, value), V)
        if answer.status == 400:
            assert f"value {value} is not allowed" not in answer.body["message"], answer


def test_all_enumerations_are_found() -> None:
    assert len(POOL) > 30
    assert len(CLUSTER) > 30
