"""The next step for a pool, from what there is."""

from typing import Any

import pytest

from rehearsal.control_planes import nodes, pool_plan
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era, Limits
from rehearsal.control_planes.pool_plan import NewNode

CLUSTER = DesiredCluster(
    uid="uid", name="c", group="g", location="eastus", subscription="s", node_group="MC_g_c_eastus"
)


def pool(**properties: Any) -> DesiredPool:
    given = {"id": "p", "name": "p", "vm_size": "Standard_D2s_v3", "count": 2, "version": "2"}
    return DesiredPool(**{**given, **properties})


def node(index: int, version: str = "2", *, ready: bool = True, **marks: bool) -> dict[str, Any]:
    made = nodes.new_node(CLUSTER, pool(version=version), index, Era.TODAY, 1)
    made["status"]["conditions"] = [{"type": "Ready", "status": str(ready)}]
    annotations = {"surge": nodes.SURGE, "going": nodes.DELETING}
    for mark in marks:
        made["metadata"]["annotations"][annotations[mark]] = "true"
    return made


def step(properties: DesiredPool, *present: Any, idle: tuple[str, ...] = ()) -> pool_plan.Step:
    return pool_plan.step(properties, present, idle, Era.TODAY)


def leaving(plan: pool_plan.Step) -> list[int]:
    return [nodes.index_of(node, Era.TODAY) for node in plan.leave]


def test_missing_nodes_get_the_lowest_free_numbers() -> None:
    plan = step(pool(count=3), node(1))
    assert plan.create == [NewNode(0, is_surge=False), NewNode(2, is_surge=False)]
    assert not plan.is_done


def test_a_plan_is_done_when_all_nodes_are_ready() -> None:
    assert step(pool(), node(0), node(1)).is_done
    assert not step(pool(), node(0), node(1, ready=False)).is_done
    assert not step(pool(), node(0), node(1), node(2, going=True)).is_done
    assert step(pool(count=0)).is_done


def test_surplus_nodes_are_removed_idle_ones_first() -> None:
    present = [node(0), node(1), node(2)]
    assert leaving(step(pool(), *present)) == [2]
    idle = present[0]["metadata"]["name"]
    assert leaving(step(pool(), *present, idle=(idle,))) == [0]
    # One that goes already counts no more.
    assert leaving(step(pool(), node(0), node(1), node(2, going=True))) == []


def test_the_autoscaler_removes_idle_nodes_only() -> None:
    """It drained nodes to which pods had come since its decision; a user's change does drain."""
    present, limits = [node(0), node(1), node(2)], Limits(least=0, most=3)
    names = tuple(each["metadata"]["name"] for each in present)
    assert leaving(step(pool(count=1, limits=limits), *present)) == []
    assert leaving(step(pool(count=1, limits=limits), *present, idle=names[:1])) == [0]
    assert leaving(step(pool(count=1, limits=limits, operation="o"), *present)) == [1, 2]
    assert not step(pool(count=1, limits=limits), *present).is_done


def test_a_deleted_pool_removes_all_nodes() -> None:
    going = pool(is_deleting=True)
    assert leaving(step(going, node(0), node(1, going=True))) == [0]
    assert not step(going, node(1, going=True)).is_done
    assert step(going).is_done


def test_an_upgrade_replaces_nodes_step_by_step() -> None:
    old = node(0, "1"), node(1, "1")
    assert step(pool(), *old).create == [NewNode(2, is_surge=True)]
    # While the one that came for it is not ready, nothing happens.
    waiting = step(pool(), *old, node(2, ready=False, surge=True))
    assert (waiting.create, waiting.leave, waiting.is_done) == ([], [], False)
    assert leaving(step(pool(), *old, node(2, surge=True))) == [0]
    # While the first one empties, neither another goes nor one comes.
    emptying = step(pool(), node(0, "1", going=True), old[1], node(2, surge=True))
    assert (emptying.create, emptying.leave) == ([], [])
    again = step(pool(), old[1], node(2, surge=True))
    assert again.create == [NewNode(0, is_surge=False)]
    assert leaving(step(pool(), node(0), old[1], node(2, surge=True))) == [1]
    last = step(pool(), node(0), node(1), node(2, surge=True))
    assert leaving(last) == [2]
    assert not last.is_done


def test_another_linux_replaces_the_nodes() -> None:
    """A change of osSKU left Ubuntu on the nodes."""
    azure_linux = pool(count=1, surge="0", unavailable="1", node_image="AKSAzureLinux-V3gen2-1")
    assert leaving(step(azure_linux, node(0))) == [0]


@pytest.mark.parametrize(("unavailable", "at_once"), [("1", 1), ("50%", 2), ("9", 3)])
def test_an_upgrade_without_surge_replaces_nodes_in_place(unavailable: str, at_once: int) -> None:
    plan = step(
        pool(count=3, surge="0", unavailable=unavailable), *(node(at, "1") for at in range(3))
    )
    assert (len(plan.leave), plan.create) == (at_once, [])


def test_a_spot_pool_has_no_surge() -> None:
    assert leaving(step(pool(is_spot=True), node(0, "1"), node(1, "1"))) == [0]


@pytest.mark.parametrize("era", list(Era))
@pytest.mark.parametrize("index", [0, 9, 10, 35, 36, 1295, 1296])
def test_a_node_name_contains_its_number(era: Era, index: int) -> None:
    made = nodes.new_node(CLUSTER, pool(), index, era, 1)
    assert nodes.index_of(made, era) == index


def test_node_names_end_with_a_base_36_number() -> None:
    name = nodes.name(CLUSTER, pool(), 10, Era.TODAY)
    assert name.endswith("-vmss00000a")
