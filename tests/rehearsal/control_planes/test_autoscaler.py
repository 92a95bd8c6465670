"""When a pool grows and shrinks."""

import time
from typing import Any

import pytest

from rehearsal.control_planes import nodes
from rehearsal.control_planes.autoscaler import IDLE_SECONDS, Autoscaler, PoolState, fits, growths
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era, Limits

CLUSTER = DesiredCluster(
    uid="uid", name="c", group="g", location="eastus", subscription="s", node_group="MC_g_c_eastus"
)


def pool(**properties: Any) -> DesiredPool:
    given = {
        "id": "p",
        "name": "p",
        "vm_size": "Standard_D4s_v3",
        "count": 0,
        "version": "2",
        "limits": Limits(least=0, most=3),
    }
    return DesiredPool(**{**given, **properties})


def pod(cpu: str = "3", node: str | None = None, **spec: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    container = {"image": "busybox", "name": "c", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {},
        "spec": {"containers": [container], **({"nodeName": node} if node else {}), **spec},
        "status": {"phase": "Running"} if node else {"phase": "Pending", "conditions": [condition]},
    }


def node(index: int = 0, *, ready: bool = True, of: DesiredPool | None = None) -> dict[str, Any]:
    made = nodes.new_node(CLUSTER, of or pool(), index, Era.TODAY, 1)
    made["status"]["conditions"] = [{"type": "Ready", "status": str(ready)}]
    return made


def count(properties: DesiredPool, present: list[Any], pods: list[Any]) -> int:
    return Autoscaler(1.0).count(PoolState(CLUSTER, properties, present, pods))


def test_the_autoscaler_adds_the_nodes_that_pending_pods_need() -> None:
    assert count(pool(), [], []) == 0
    assert count(pool(), [], [pod()]) == 1
    assert count(pool(), [], [pod("1"), pod("1"), pod("1")]) == 1
    assert count(pool(), [], [pod(), pod()]) == 2
    assert count(pool(), [], [pod() for _ in range(9)]) == 3


def test_a_pod_larger_than_a_node_adds_no_node() -> None:
    assert count(pool(), [], [pod("5")]) == 0
    gpu = pod()
    gpu["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    assert count(pool(), [], [gpu]) == 0
    assert count(pool(vm_size="Standard_NC8as_T4_v3", has_driver=True), [], [gpu]) == 1


A100 = "Standard_NC24ads_A100_v4"


def asking(resource: str = "nvidia.com/gpu", node: str | None = None) -> dict[str, Any]:
    """A pod that asks for one of a resource."""
    wish = pod("1m", node)
    wish["spec"]["containers"][0]["resources"] = {"limits": {resource: "1"}}
    return wish


def offering(of: DesiredPool, **resources: str) -> dict[str, Any]:
    """A node on which a plugin is at work."""
    made = node(of=of)
    offers = {f"nvidia.com/{name}": count for name, count in resources.items()}
    made["status"]["allocatable"] |= offers
    return made


def test_an_empty_pool_is_sized_by_the_gpus_of_its_vm_size() -> None:
    """So does Azure's autoscaler, which knows neither of MIG and plugins nor of drivers."""
    for settings in ({}, {"has_driver": True}, {"has_driver": True, "mig_profile": "MIG1g"}):
        empty = pool(vm_size=A100, **settings)
        assert count(empty, [], [asking()]) == 1
        # Each slice has a node of its own made for it, until one of them has come.
        assert count(empty, [], [asking(), asking()]) == 2
        assert count(empty, [], [asking("nvidia.com/mig-1g.10gb")]) == 0
        assert count(empty, [], [asking("nvidia.com/gpu.shared")]) == 0
    assert count(pool(vm_size="Standard_NV4as_v4"), [], [asking()]) == 0


def test_an_existing_node_is_the_template_of_the_next() -> None:
    cut = pool(vm_size=A100, has_driver=True, mig_profile="MIG1g", count=1)
    present = offering(cut, gpu="7")
    name = present["metadata"]["name"]
    taken = [asking(node=name) for _ in range(7)]
    assert count(cut, [present], [*taken[:6], asking()]) == 1
    assert count(cut, [present], [*taken, *(asking() for _ in range(7))]) == 2
    assert count(cut, [present], [*taken, *(asking() for _ in range(8))]) == 3


@pytest.mark.parametrize("resource", ["mig-1g.10gb", "gpu.shared"])
def test_a_node_with_another_gpu_resource_never_counts_as_ready(resource: str) -> None:
    """To the autoscaler, that is: it waits for nvidia.com/gpu, and takes no such node as model."""
    cut = pool(vm_size=A100, has_driver=True, count=1)
    present = offering(cut, **{resource: "1", "gpu": "0"})
    busy = asking(f"nvidia.com/{resource}", present["metadata"]["name"])
    assert count(cut, [present], [busy, asking(f"nvidia.com/{resource}")]) == 1
    assert count(cut, [present], [busy, asking()]) == 1


def test_nodes_that_are_starting_or_have_room_are_used_first() -> None:
    assert count(pool(count=1), [node(ready=False)], [pod()]) == 1
    assert count(pool(count=1), [node()], [pod()]) == 1
    name = node()["metadata"]["name"]
    assert count(pool(count=1), [node()], [pod(node=name), pod()]) == 2
    gpus = pool(vm_size="Standard_NC8as_T4_v3", has_driver=True, count=1)
    # Its GPUs have not come yet.
    assert count(gpus, [node(of=gpus)], [pod()]) == 1


def test_pods_that_the_pool_does_not_fit_add_no_node() -> None:
    assert count(pool(), [], [pod(nodeSelector={"agentpool": "other"})]) == 0
    assert count(pool(), [], [pod(nodeSelector={"agentpool": "p"})]) == 1
    tainted = pool(taints=("a=b:NoSchedule",))
    assert count(tainted, [], [pod()]) == 0
    assert count(tainted, [], [pod(tolerations=[{"key": "a", "operator": "Exists"}])]) == 1


@pytest.mark.parametrize(
    ("toleration", "is_enough"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "a", "value": "b"}, True),
        ({"key": "a", "value": "c"}, False),
        ({"key": "a", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "a", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "x", "operator": "Exists"}, False),
    ],
)
def test_tolerations_decide_whether_a_pod_fits(toleration: dict[str, str], is_enough: bool) -> None:
    tainted = node(of=pool(taints=("a=b:NoSchedule", "soft=x:PreferNoSchedule")))
    assert fits(pod(tolerations=[toleration]), tainted) is is_enough


@pytest.mark.parametrize(
    ("operator", "values", "is_enough"),
    [
        ("In", ["p", "q"], True),
        ("In", ["q"], False),
        ("NotIn", ["q"], True),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_affinity_decides_whether_a_pod_fits(
    operator: str, values: list[str], is_enough: bool
) -> None:
    wish = {"key": "agentpool", "operator": operator, "values": values}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wish]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert fits(pod(affinity=affinity), node()) is is_enough


def test_a_node_is_removed_after_its_idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    scaler, properties = Autoscaler(1.0), pool(count=2)
    present = [node(0), node(1)]
    busy = pod(node=present[1]["metadata"]["name"])
    here = PoolState(CLUSTER, properties, present, [busy])
    assert scaler.count(here) == 2
    now += IDLE_SECONDS - 1
    assert scaler.count(here) == 2
    now += 1
    assert scaler.count(here) == 1
    assert scaler.idle_nodes == {present[0]["metadata"]["name"]}
    # It was not idle after all.
    both = [busy, pod(node=present[0]["metadata"]["name"])]
    assert scaler.count(PoolState(CLUSTER, properties, present, both)) == 2
    assert scaler.count(here) == 2
    assert scaler.idle_nodes == set()


def test_a_scale_down_ends_before_the_next_one_starts() -> None:
    """A node that shall go, and has not been marked yet, is idle still."""
    scaler = Autoscaler(0.0)
    present = [node(0), node(1)]
    busy = pod(node=present[1]["metadata"]["name"])
    assert scaler.count(PoolState(CLUSTER, pool(count=2), present, [busy])) == 1
    assert scaler.count(PoolState(CLUSTER, pool(count=1), present, [busy])) == 1


def test_a_node_that_a_pod_waits_for_is_not_idle() -> None:
    """A GPU node went in the moment between its device plugin and the pod that it came for."""
    scaler = Autoscaler(0.0)
    assert scaler.count(PoolState(CLUSTER, pool(count=1), [node()], [pod()])) == 1
    # No node of this pool will do.
    assert scaler.count(PoolState(CLUSTER, pool(count=1), [node()], [pod("9")])) == 0


def test_a_node_that_is_kept_counts_again() -> None:
    """A pod came to it between the decision and its end."""
    scaler = Autoscaler(0.0)
    assert scaler.count(PoolState(CLUSTER, pool(count=1), [node()], [])) == 0
    busy = pod(node=node()["metadata"]["name"])
    assert scaler.count(PoolState(CLUSTER, pool(count=0), [node()], [busy])) == 1
    surge = node(1)
    surge["metadata"]["annotations"][nodes.SURGE] = "true"
    assert scaler.count(PoolState(CLUSTER, pool(count=1), [node(), surge], [busy])) == 1


def test_daemon_set_pods_and_finished_pods_leave_a_node_idle() -> None:
    name = node()["metadata"]["name"]
    daemon, over = pod(node=name), pod(node=name)
    daemon["metadata"]["ownerReferences"] = [{"kind": "DaemonSet"}]
    over["status"]["phase"] = "Succeeded"
    scaler = Autoscaler(0.0)
    assert scaler.count(PoolState(CLUSTER, pool(count=1), [node()], [daemon, over])) == 0


def test_the_limits_of_the_pool_are_kept() -> None:
    assert count(pool(count=0, limits=Limits(least=2, most=3)), [], []) == 2
    assert count(pool(count=5, limits=Limits(least=0, most=3)), [], []) == 3


SMALL = pool(id="s", name="small", vm_size="Standard_D4s_v3")
LARGE = pool(id="l", name="large", vm_size="Standard_D16s_v3")


def grown(expander: str, *pods: Any, priorities: str = "", **present: Any) -> dict[str, int]:
    """How many nodes each of two pools gets for pods that both fit."""
    for number, waiting in enumerate(pods):
        waiting["metadata"]["uid"] = str(number)
    states = [PoolState(CLUSTER, each, present.get(each.name, []), pods) for each in (SMALL, LARGE)]
    found = growths(states, expander, priorities)
    return {name: growth.nodes for name, growth in found.items() if growth.nodes}


@pytest.mark.parametrize("expander", ["random", "least-waste", "most-pods"])
def test_the_first_pool_that_fits_grows(expander: str) -> None:
    """Each did: a pod got two nodes, and cost twice."""
    assert grown(expander, pod("1")) == {"small": 1}
    assert grown(expander, pod("12")) == {"large": 1}


def test_priorities_choose_the_pool() -> None:
    priorities = "10:\n  - .*small.*\n50:\n  - .*large.*\n"
    assert grown("priority", pod("1"), priorities=priorities) == {"large": 1}
    assert grown("priority", pod("1"), priorities="10: [large]\n50: [small]") == {"small": 1}
    assert grown("priority", pod("1"), priorities="20:\n10: [large]") == {"large": 1}


@pytest.mark.parametrize(
    "priorities",
    [
        *("", "no map", "{", "10: large", "'10': [large]", "10: [other]", "-5: [large]"),
        # One mistake, and nothing of the text counts.
        *("10: [large]\n20: small", "10: [large]\n20: ['(']"),
    ],
)
def test_priorities_that_say_nothing_leave_the_first_pool(priorities: str) -> None:
    assert grown("priority", pod("1"), priorities=priorities) == {"small": 1}


def test_a_pool_at_its_limit_leaves_the_rest_to_another() -> None:
    """Five pods of three CPUs: the small pool has at most three nodes."""
    assert grown("random", *(pod("3") for _ in range(5))) == {"small": 3, "large": 1}


def test_no_pool_grows_for_a_pod_whose_node_is_coming() -> None:
    starting = pool(id="s", name="small", vm_size="Standard_D4s_v3", count=1)
    waiting = pod("1")
    waiting["metadata"]["uid"] = "u"
    states = [PoolState(CLUSTER, each, [], [waiting]) for each in (starting, LARGE)]
    for _ in range(10):
        found = growths(states, "random", "")
        assert [growth.nodes for growth in found.values()] == [0, 0]
        assert found["small"].awaited == {"u"}
