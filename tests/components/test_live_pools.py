"""What is compared of a pool in Azure with what is said of it."""

import asyncio
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue import aks_properties
from components import GpuNodePool, hooks
from components.live_pools import StaleError, _Unmoved, has, is_replaced
from tests.components.test_gpu_node_pool import ARGS
from tests.conftest import Deploy

SCALED = {"enableAutoScaling": True, "minCount": 0, "maxCount": 4}
SPOT = "kubernetes.azure.com/scalesetpriority"


@pytest.mark.parametrize(
    ("actual", "inputs"),
    [
        ({"vmSize": "standard_d4ds_v5", "maxPods": 30}, {"vmSize": "Standard_D4ds_v5"}),
        ({"nodeTaints": ["a", "b"]}, {"nodeTaints": ["b", "a"]}),
        ({"nodeLabels": {"a": "b", SPOT: "spot"}}, {"nodeLabels": {"a": "b"}}),
        ({"upgradeSettings": {"maxSurge": "1", "x": "y"}}, {"upgradeSettings": {"maxSurge": "1"}}),
        ({"orchestratorVersion": "1.35.2"}, {"orchestratorVersion": "1.35"}),
        ({}, {"apiServerAccessProfile": {"authorizedIPRanges": []}}),
        ({}, {"enableAutoScaling": False, "nodeTaints": [], "tags": {}}),
        # Azure Policy adds tags.
        ({"tags": {"a": "b", "c": "d"}}, {"tags": {"a": "b"}}),
        ({"count": 3, **SCALED}, {"count": 1, **SCALED}),
    ],
)
def test_the_spelling_of_aks_is_no_change(actual: Any, inputs: Any) -> None:
    assert has(actual, inputs)


@pytest.mark.parametrize(
    ("actual", "inputs"),
    [
        ({"nodeLabels": {"a": "b"}}, {"nodeLabels": {"a": "B"}}),
        ({"nodeLabels": {"a": "b", "c": "d"}}, {"nodeLabels": {"a": "b"}}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "B"}}),
        ({}, {"tags": {"a": "b"}}),
        ({"orchestratorVersion": "1.3"}, {"orchestratorVersion": "1.35"}),
        ({"orchestratorVersion": "1.35.2"}, {"orchestratorVersion": "1.3"}),
        ({"nodeTaints": ["a"]}, {"nodeTaints": []}),
        ({"count": 3}, {"count": 1}),
        ({"count": 3, **SCALED}, {"count": 1, "enableAutoScaling": False}),
        ({"count": 3, **SCALED}, {"count": 3, **SCALED, "maxCount": 5}),
        ({}, {"vmSize": "Standard_D4ds_v5"}),
    ],
)
def test_a_changed_property_is_a_change(actual: Any, inputs: Any) -> None:
    assert not has(actual, inputs)


def nested(path: str, value: Any) -> Any:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


@pytest.mark.parametrize(
    ("path", "table"),
    [
        (path, table)
        for table in (aks_properties.POOL.fixed, aks_properties.CLUSTER.fixed)
        for path in table
    ],
)
def test_a_change_of_an_immutable_property_is_a_replacement(path: str, table: Any) -> None:
    one, other = nested(path, "one"), nested(path, "other")
    assert is_replaced(one, other, table)
    assert is_replaced(one, {}, table)
    assert not is_replaced(one, nested(path, "One"), table)
    assert not is_replaced({**one, "count": 1}, {**one, "count": 2}, table)


def test_equivalent_values_are_no_replacement() -> None:
    assert not is_replaced({"scaleSetPriority": "Regular"}, {}, aks_properties.POOL.fixed)
    assert not is_replaced(
        {"location": "eastus"}, {"location": "East US"}, aks_properties.CLUSTER.fixed
    )


VALUES = st.recursive(
    st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=3),
    lambda inner: st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
POOLS = st.dictionaries(st.text(), VALUES, max_size=5)


@given(pool=POOLS, more=POOLS)
def test_a_pool_has_each_of_its_own_values(pool: dict[str, Any], more: dict[str, Any]) -> None:
    assert has({**more, **pool}, pool)


@pytest.mark.parametrize("live", [{}, {"upgradeSettings": None}, {"upgradeSettings": {}}])
def test_a_default_of_azure_is_no_change(live: dict[str, Any]) -> None:
    """maxUnavailable goes with maxSurge, and pools of others are without it."""
    assert has(live, {"upgradeSettings": {"maxUnavailable": "0"}})
    assert not has(live, {"upgradeSettings": {"maxUnavailable": "1"}})
    assert not has(
        {"upgradeSettings": {"maxUnavailable": "1"}}, {"upgradeSettings": {"maxUnavailable": "0"}}
    )


def test_mocks_that_answer_no_lookup_are_no_error(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests of other teams' programs have mocks of their own, which need not know this lookup."""

    def answers_nothing(*_: Any) -> Any:
        raise NotImplementedError

    monkeypatch.setattr("tests.conftest._Azure.call", answers_nothing)
    args = replace(ARGS, count=0, min_count=0, max_count=3)
    pool = deploy(lambda: GpuNodePool("gpu", args)).only("AgentPool")
    assert list(pool.options.ignoreChanges) == ["count"]


@pytest.mark.parametrize("gone", ["larger", "smaller"])
def test_pools_that_a_refresh_wrote_are_refused_with_what_helps(
    monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """`up --refresh` took a rung away; the next update of the cluster failed with the advice to
    run `up --refresh`, which leaves the other pools in the list.
    """
    pools = [{"name": name, "count": 1} for name in ("system", "spot", "larger")]

    async def live(*_: Any) -> Any:
        return {"agentPoolProfiles": [pool for pool in pools if pool["name"] != gone]}

    monkeypatch.setattr("components.live_pools.read_cluster", live)
    args = pulumi.ResourceHookArgs(
        "urn", "id", "cluster", "type", new_inputs={"agentPoolProfiles": pools}
    )

    async def require() -> None:
        await _Unmoved(None).require(args)

    with pytest.raises(StaleError, match=r"^[^:]+: add a tag to the cluster"):
        asyncio.run(require())


@pytest.mark.parametrize("exists", [True, False])
def test_an_update_says_that_it_makes_a_deleted_pool_anew(
    monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    """Somebody had deleted a pool with a fixed count: an update that only changed a label made it
    anew, with all its costs, and said nothing.
    """
    told: list[str] = []

    async def live(*_: Any) -> Any:
        return {"agentPoolProfiles": [{"name": "gpu", "count": 2}] if exists else []}

    monkeypatch.setattr("components.live_pools.read_cluster", live)
    monkeypatch.setattr("pulumi.log.warn", told.append)
    new = {"agentPoolName": "gpu", "count": 2, "enableAutoScaling": False}
    args = pulumi.ResourceHookArgs("urn", "id", "gpu", "type", new_inputs=new, old_inputs=new)

    async def require() -> None:
        await _Unmoved(None).require(args)

    asyncio.run(require())
    assert told == ["pool 'gpu' does not exist in Azure: this update makes it anew"] * (not exists)


def test_pools_share_their_hooks(deploy: Deploy) -> None:
    """100 pools had a hook and a server of the SDK each, a fifth of their preview."""
    made: list[dict[Any, Any]] = []

    def program() -> None:
        for name in ("a", "b"):
            GpuNodePool(name, replace(ARGS, pool_name=name))
            made.append(dict(hooks._GUARDS[asyncio.get_event_loop()]))

    deploy(program)
    of_one_pool, of_two_pools = made
    assert of_one_pool
    assert of_one_pool == of_two_pools
