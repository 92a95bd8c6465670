"""How a spot node that Azure takes back goes."""

import asyncio
import re
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

from hypothesis import given
from hypothesis import strategies as st

from kube_client.client import NOT_FOUND, ApiError
from rehearsal.control_planes import cluster as clusters
from rehearsal.control_planes import evictions, nodes
from rehearsal.control_planes.autoscaler import Autoscaler, PoolState
from rehearsal.control_planes.cluster import Cluster
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era, Limits

NOW = 1_800_000_000.0
# What karpenter-provider-azure reads of the message.
NOTICE = r"Preempt Scheduled:\s*(\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT)"
EVENT = r"EventId:\s*[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$"


@given(at=st.integers(min_value=1_600_000_000, max_value=2_500_000_000))
def test_a_notice_has_its_time_as_the_node_problem_detector_writes_it(at: int) -> None:
    preemption, any_event = evictions.notices(at, "now")
    for condition in (preemption, any_event):
        message = condition["message"]
        assert condition["status"] == "True"
        found = re.match(NOTICE, message)
        assert found
        assert parsedate_to_datetime(found[1]).timestamp() == at
        assert re.search(EVENT, message)
    assert evictions.evicted_at({"status": {"conditions": [preemption, any_event]}}) == at
    assert evictions.evicted_at({"status": {"conditions": [any_event]}}) is None


class Azure:
    """Machines and an API server that take note of what is done."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self.done: list[tuple[str, str]] = []
        self.gone: set[str] = set()

    def resize(self, pool_id: str, count: int) -> None:
        raise AssertionError((pool_id, count))

    def lose(self, pool_id: str) -> None:
        self.lost.append(pool_id)

    async def patch(self, path: str, *_: Any, **__: Any) -> dict[str, Any]:
        self.done.append(("patch", path.rpartition("/")[2]))
        return {"metadata": {"uid": "gone", "resourceVersion": "0"}}

    async def post(self, path: str, *_: Any, **__: Any) -> None:
        self.done.append(("post", path.rpartition("/")[2]))

    async def delete(self, path: str, **_: Any) -> None:
        name = path.rpartition("/")[2]
        if name in self.gone:
            raise ApiError(NOT_FOUND, {})
        self.done.append(("delete", name))


def with_spot(**pool: Any) -> tuple[Azure, Cluster, DesiredCluster]:
    """A cluster with a spot pool of two nodes, in zones 1 and 2, with a pod on each."""
    given: dict[str, Any] = {"zones": ("1", "2"), "is_spot": True, **pool}
    size: dict[str, Any] = {"vm_size": "Standard_D4s_v3", "version": "1", "count": 2}
    wished = DesiredPool(id="/p", name="p", **size, **given)
    desired = DesiredCluster(
        uid="u", name="c", group="g", location="eastus", subscription="s", node_group="n",
        pools=(wished,),
    )  # fmt: skip
    azure = Azure()
    cluster = Cluster(MagicMock(), azure, desired, azure, Era.TODAY, 1.0)  # type: ignore[arg-type]
    for index in range(2):
        node = nodes.new_node(desired, wished, index, Era.TODAY, 1)
        node["metadata"]["uid"] = f"n{index}"
        cluster.nodes._objects[f"n{index}"] = node
        names = {"name": f"pod{index}", "namespace": "d", "uid": f"p{index}"}
        on = {"spec": {"nodeName": node["metadata"]["name"]}, "status": {"phase": "Running"}}
        cluster._pods._objects[f"p{index}"] = {"metadata": names, **on}
    return azure, cluster, desired


def step(cluster: Cluster, desired: DesiredCluster, now: float) -> None:
    with patch.object(clusters, "time", SimpleNamespace(time=lambda: now)):
        asyncio.run(cluster._evict_nodes(desired))


def test_the_nodes_of_a_zone_give_notice() -> None:
    azure, cluster, desired = with_spot(evicted_zones=frozenset({"2"}))
    step(cluster, desired, NOW)
    [first, second] = cluster.nodes.objects
    assert azure.done[:2] == [("patch", second["metadata"]["name"]), ("patch", "status")]
    assert [what for what, _ in azure.done] == ["patch", "patch", "post", "post"]
    assert first["metadata"]["name"] not in str(azure.done)


def test_a_node_is_drained_until_its_time_and_then_goes_once() -> None:
    """The watch tells of a deletion late: the node was counted as lost twice."""
    azure, cluster, desired = with_spot()
    [first, second] = cluster.nodes.objects
    first["status"]["conditions"] = evictions.notices(NOW + 3, "now")
    step(cluster, desired, NOW)
    assert azure.done == [("post", "eviction")]
    assert not azure.lost
    for _ in range(2):
        step(cluster, desired, NOW + 3)
    assert azure.done[1:] == [("delete", first["metadata"]["name"]), ("delete", "pod0")]
    assert azure.lost == ["/p"]
    assert cluster._nodes_of(desired.pools[0]) == [second]


def test_a_pod_that_has_just_gone_does_not_keep_its_node_counted() -> None:
    azure, cluster, desired = with_spot()
    azure.gone = {"pod0"}
    cluster.nodes.objects[0]["status"]["conditions"] = evictions.notices(NOW, "now")
    step(cluster, desired, NOW)
    assert azure.lost == ["/p"]


def test_a_node_that_goes_anyway_is_not_lost_as_well() -> None:
    """The autoscaler had found it idle while it was drained: the count became negative."""
    azure, cluster, desired = with_spot()
    [first, _] = cluster.nodes.objects
    first["status"]["conditions"] = evictions.notices(NOW, "now")
    first["metadata"]["annotations"][nodes.DELETING] = nodes.AS_IDLE
    step(cluster, desired, NOW)
    assert (azure.done, azure.lost) == ([], [])


def test_a_node_that_is_taken_back_is_not_idle() -> None:
    _, cluster, desired = with_spot(limits=Limits(least=0, most=2))
    present = cluster.nodes.objects
    for node in present:
        node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    present[0]["status"]["conditions"] += evictions.notices(NOW, "now")
    scaler = Autoscaler(0.0)
    assert scaler.count(PoolState(desired, desired.pools[0], present, [])) == 1
    assert scaler.idle_nodes == {present[1]["metadata"]["name"]}
