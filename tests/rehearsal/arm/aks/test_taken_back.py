"""A client may read a cluster or a pool, and send back what it has read."""

from collections.abc import Iterator
from typing import Any

import pytest

from rehearsal.control_planes.desired_state import Era
from tests.rehearsal.arm.aks.test_as_recorded import cluster, rows
from tests.rehearsal.arm.in_process import Arm

STABLE, PREVIEW = "2026-08-01", "2025-09-02-preview"
SIZE = "Standard_DS2_v2"


def bodies_of(row: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The cluster, and the pool of its own, that a recorded row asks for."""
    if row["of"] == "pool":
        before = {"vmSize": SIZE, **row["before"]} if "before" in row else row["said"]
        return row.get("cluster", {}), before
    if row["of"] == "inline":
        pool = {"name": "p", "mode": "System", "count": 1, **row["said"]}
        of_cluster = row.get("cluster", {})
        properties = {**of_cluster.get("properties", {}), "agentPoolProfiles": [pool]}
        return {**of_cluster, "properties": properties}, None
    return row.get("before", row["said"]), None


def names(value: Any) -> Any:
    """The names in a body, without their values."""
    match value:
        case dict():
            return {name: names(one) for name, one in value.items()}
        case list():
            return [names(one) for one in value]
    return None


def asked() -> list[Any]:
    """What recorded rows ask for, each once, with the versions of the API that they have.

    Of those that ask for the same properties, all but the first are nightly.
    """
    result: dict[str, Any] = {}
    shapes = set[str]()
    kinds = {"pools": ("pool", "inline"), "clusters": ("cluster",), "updates": ("cluster", "pool")}
    for table, of in kinds.items():
        for param in (param for kind in of for param in rows(table, kind)):
            row = param.values[0]
            key = repr((bodies_of(row), row["api"], row.get("era")))
            shape = repr(([names(body) for body in bodies_of(row)], row["api"], row.get("era")))
            if key in result:
                continue
            marks = [pytest.mark.nightly] if shape in shapes else []
            shapes.add(shape)
            result[key] = pytest.param(row, id=f"{table}-{row['of']}-{param.id}", marks=marks)
    return list(result.values())


def without_etags(value: Any) -> Any:
    match value:
        case dict():
            return {name: without_etags(one) for name, one in value.items() if name != "eTag"}
        case list():
            return [without_etags(one) for one in value]
    return value


def lost(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Names what stood there before, and is another thing now."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            yield from lost(value, after.get(name), f"{path}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from lost(one, other, path)
    elif before != after:
        yield f"{path}: {before} -> {after}"


@pytest.mark.parametrize("row", asked())
def test_an_answer_that_is_put_back_changes_nothing(row: Any) -> None:
    arm = Arm(Era(row.get("era", "today")))
    path = arm.name()
    of_cluster, of_pool = bodies_of(row)
    assert arm.call("PUT", path, cluster(of_cluster), row["api"]).status == 201
    paths = [path]
    if of_pool is not None:
        paths.append(f"{path}/agentPools/p")
        assert arm.call("PUT", paths[-1], {"properties": of_pool}, row["api"]).status == 201
    for one in paths:
        before = without_etags(arm.call("GET", one, None, row["api"]).body)
        reply = arm.call("PUT", one, before, row["api"])
        assert reply.status == 200, reply.body
        after = without_etags(arm.call("GET", one, None, row["api"]).body)
        assert not list(lost(before, after))


def made(arm: Arm, body: dict[str, Any], version: str = STABLE) -> tuple[str, Any]:
    """A new cluster of this body, as a GET shows it."""
    path = arm.name()
    reply = arm.call("PUT", path, cluster(body), version)
    assert reply.status == 201, reply.body
    return path, arm.call("GET", path, None, version).body


SPELLED = [
    {"properties": {"networkProfile": {"loadBalancerSku": "standard"}}},
    {"properties": {"networkProfile": {"outboundType": "loadBalancer"}}},
    {"properties": {"networkProfile": {"outboundType": "managedNATGateway"}}},
    {"properties": {"networkProfile": {"networkPlugin": "azure"}}},
    {"properties": {"networkProfile": {"networkPlugin": "kubenet"}}},
    {"properties": {"networkProfile": {"networkPlugin": "none"}}},
    {
        "properties": {
            "networkProfile": {
                "networkPlugin": "azure",
                "networkPluginMode": "overlay",
                "networkDataplane": "cilium",
            }
        }
    },
    {"identity": {"type": "SystemAssigned"}},
    {"sku": {"name": "Base", "tier": "Standard"}},
    {"properties": {"autoUpgradeProfile": {"nodeOSUpgradeChannel": "SecurityPatch"}}},
]
OTHER_CASES: dict[str, Any] = {"upper": str.upper, "lower": str.lower, "swapped": str.swapcase}


def changed(value: Any, change: Any) -> Any:
    """The value with each text changed."""
    if isinstance(value, dict):
        return {name: changed(member, change) for name, member in value.items()}
    return change(value) if isinstance(value, str) else value


def kinds(value: Any) -> Any:
    """What an answer says, but for the ids and names of its own."""
    match value:
        case dict():
            own = ("eTag", "id", "name", "principalId", "tenantId", "resourceUID", "fqdn")
            return {name: kinds(one) for name, one in value.items() if name not in own}
        case list():
            return [kinds(one) for one in value]
        case str() if "/" in value or "azmk8s" in value or "MC_" in value or value.count("-") > 3:
            return "(own)"
    return value


@pytest.mark.parametrize("other", OTHER_CASES)
@pytest.mark.parametrize("body", SPELLED, ids=str)
def test_a_value_in_another_case_is_the_same_value(body: Any, other: str) -> None:
    """The value was taken in any case, and what hangs on it was filled in for one alone."""
    arm = Arm()
    _, created = made(arm, body)
    _, answer = made(arm, changed(body, OTHER_CASES[other]))
    assert kinds(answer) == kinds(created)


def test_addresses_of_a_load_balancer_are_removed_with_it() -> None:
    """They stayed in answers when the nodes' traffic took another way."""
    arm = Arm()
    path, before = made(arm, {})
    assert before["properties"]["networkProfile"]["loadBalancerProfile"]["effectiveOutboundIPs"]
    other = {"networkProfile": {"outboundType": "managedNATGateway"}}
    reply = arm.call("PUT", path, {"location": "eastus", "properties": other}, STABLE)
    assert reply.status == 200, reply.body
    assert "loadBalancerProfile" not in reply.body["properties"]["networkProfile"]
    back = {"networkProfile": {"outboundType": "loadBalancer"}}
    reply = arm.call("PUT", path, {"location": "eastus", "properties": back}, STABLE)
    balancer = reply.body["properties"]["networkProfile"]["loadBalancerProfile"]
    assert balancer["managedOutboundIPs"] == {"count": 1}


def test_a_managed_nat_gateway_has_addresses_once_it_exists() -> None:
    """Only a load balancer had them."""
    arm = Arm()
    gateway = {"managedOutboundIPProfile": {"count": 2}}
    network = {"outboundType": "managedNATGateway", "natGatewayProfile": gateway}
    body = cluster({"properties": {"networkProfile": network}})
    path = arm.name()
    new = arm.call("PUT", path, body, STABLE).body["properties"]["networkProfile"]
    assert new["natGatewayProfile"] == gateway
    read = arm.call("GET", path, None, STABLE).body
    answer = read["properties"]["networkProfile"]["natGatewayProfile"]["effectiveOutboundIPs"]
    assert len({address["id"] for address in answer}) == 2
    again = arm.call("PUT", path, without_etags(read), STABLE).body
    assert again["properties"]["networkProfile"] == read["properties"]["networkProfile"]


def test_a_cluster_that_changes_to_cilium_has_ciliums_network_policy() -> None:
    """The policy stayed none, and what a GET gave was refused by the next PUT."""
    arm = Arm()
    path, _ = made(arm, {})
    moved = {"location": "eastus", "properties": {"networkProfile": {"networkDataplane": "cilium"}}}
    reply = arm.call("PUT", path, moved, STABLE)
    assert reply.body["properties"]["networkProfile"]["networkPolicy"] == "cilium"
    read = without_etags(arm.call("GET", path, None, STABLE).body)
    assert arm.call("PUT", path, read, STABLE).status == 200


@pytest.mark.parametrize("pools", [{}, {"agentPoolProfiles": []}], ids=["no list", "empty"])
def test_a_cluster_with_a_hosted_system_needs_no_pools(pools: dict[str, Any]) -> None:
    """It was refused for want of a System pool."""
    arm = Arm()
    path = arm.name()
    body = {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "sku": {"name": "Automatic", "tier": "Standard"},
        "properties": {"dnsPrefix": "test", "hostedSystemProfile": {"enabled": True}, **pools},
    }
    reply = arm.call("PUT", path, body, PREVIEW)
    assert reply.status == 201, reply.body
    pool = {"properties": {"vmSize": SIZE, "mode": "User"}}
    assert arm.call("PUT", f"{path}/agentPools/user", pool, PREVIEW).status == 201
    read = without_etags(arm.call("GET", path, None, PREVIEW).body)
    assert arm.call("PUT", path, read, PREVIEW).status == 200


@pytest.mark.parametrize(
    "empty",
    [
        *({name: ""} for name in ("podCidr", "networkPlugin", "serviceCidr", "outboundType")),
        *({name: []} for name in ("podCidrs", "serviceCidrs", "ipFamilies")),
    ],
    ids=str,
)
def test_an_empty_value_in_the_network_profile_is_none(empty: dict[str, Any]) -> None:
    """It came back as it was, and what hangs on it was filled in from it."""
    arm = Arm()
    _, created = made(arm, {})
    _, answer = made(arm, {"properties": {"networkProfile": empty}})
    assert kinds(answer) == kinds(created)


@pytest.mark.parametrize(
    ("one", "many", "range_"),
    [("podCidr", "podCidrs", "10.50.0.0/16"), ("serviceCidr", "serviceCidrs", "10.0.0.0/17")],
)
def test_a_list_of_ranges_sets_the_single_range(one: str, many: str, range_: str) -> None:
    """The one range stayed at its default beside another list."""
    _, answer = made(Arm(), {"properties": {"networkProfile": {many: [range_]}}})
    network = answer["properties"]["networkProfile"]
    assert (network[one], network[many]) == (range_, [range_])
