"""The cluster autoscaler: pools grow for unschedulable pods, and shrink when idle."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aks_catalogue import quantities
from aks_catalogue.device_plugin import GPU
from aks_catalogue.scheduling import Taint, selects, untolerated
from aks_catalogue.shapes import mapping, mappings
from aks_catalogue.sizes import find
from kube_client.objects import conditions
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era

Json = dict[str, Any]
# Amounts of resources by name.
Amounts = Mapping[str, Decimal]

# How long a node has to be idle, in seconds at time scale 1. Azure waits ten minutes.
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class PoolState:
    """A pool, its nodes, and all pods of its cluster."""

    cluster: DesiredCluster
    pool: DesiredPool
    nodes: Sequence[Json]
    pods: Sequence[Json]


class Autoscaler:
    """Decides how many nodes a pool has."""

    def __init__(self, time_scale: float) -> None:
        self._patience = IDLE_SECONDS * time_scale
        self._idle_since: dict[str, float] = {}
        # The nodes that go when a pool shrinks.
        self.idle_nodes: set[str] = set()

    def count(self, state: PoolState) -> int:
        limits = state.pool.limits
        if limits is None:
            return state.pool.count
        growth, is_awaited = self._growth(state)
        self._note_idle_nodes(state, is_awaited=is_awaited)
        own = [each for each in state.nodes if not nodes.is_surge(each)]
        staying = _names(each for each in own if not nodes.is_deleting(each))
        target = state.pool.count + growth
        # Until the last decision is carried out, its nodes still look idle.
        if not growth and len(staying) == state.pool.count:
            target -= len(staying & self.idle_nodes)
        # A node that was to go, and to which a pod has come, counts again.
        target = max(target, len(staying - self.idle_nodes))
        return max(limits.least, min(limits.most, target))

    def _growth(self, state: PoolState) -> tuple[int, bool]:
        """Returns how many nodes the pending pods need beyond those that are starting.

        And whether pods wait for these, or for nodes that are there.
        """
        node = nodes.new_node(state.cluster, state.pool, 0, Era.TODAY, 0)
        size = find(state.pool.vm_size)
        count = size.devices if size and size.is_nvidia else 0
        node["status"]["allocatable"][GPU] = str(count)
        complete = [
            ready_node for ready_node in state.nodes if _is_complete(ready_node, has_gpus=count > 0)
        ]
        # The autoscaler takes a node of the pool as the template of the next one. An empty pool is
        # judged by its size, which says nothing of driver, device plugin or MIG: a new node counts
        # with whole GPUs, and slices with a resource name of their own never make a pool grow.
        whole = _allocatable(complete[0] if complete else node)
        # The scheduler may not have used a node yet that has just become ready.
        rooms = [_free_resources(ready_node, state.pods) for ready_node in complete]
        rooms += [whole] * (state.pool.count - len(complete))
        present, is_awaited = len(rooms), False
        waiting = [pod for pod in state.pods if is_unplaced(pod) and fits(pod, node)]
        for requests in filter(None, map(_requests_of, waiting)):
            place = next((i for i, room in enumerate(rooms) if _has(room, requests)), len(rooms))
            if place == len(rooms):
                if not _has(whole, requests):
                    continue  # no node of this pool will ever do
                rooms.append(whole)
            is_awaited |= place < present
            rooms[place] = _without(rooms[place], requests)
        return len(rooms) - present, is_awaited

    def _note_idle_nodes(self, state: PoolState, *, is_awaited: bool) -> None:
        now, names = time.monotonic(), _names(state.nodes)
        busy = {pod["spec"].get("nodeName") for pod in state.pods if keeps_node(pod)}
        ready = [
            each for each in state.nodes if nodes.is_ready(each) and not nodes.is_deleting(each)
        ]
        idle = set() if is_awaited else _names(ready) - busy
        for name in names - idle:
            self._idle_since.pop(name, None)
        since = {name: self._idle_since.setdefault(name, now) for name in idle}
        ripe = {name for name in idle if now - since[name] >= self._patience}
        self.idle_nodes = (self.idle_nodes - names) | ripe


def is_unplaced(pod: Json) -> bool:
    """Whether the scheduler found no node for a pod."""
    if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    return conditions(pod).get("PodScheduled", {}).get("reason") == "Unschedulable"


def _is_complete(node: Json, *, has_gpus: bool) -> bool:
    """Whether the autoscaler counts a node as ready: a GPU node needs `nvidia.com/gpu` for that."""
    if not nodes.is_ready(node) or nodes.is_deleting(node):
        return False
    offered = node["status"].get("allocatable", {}).get(GPU, "0")
    return quantities.parse(offered).amount > 0 or not has_gpus


def fits(pod: Json, node: Json) -> bool:
    """Whether the labels and taints of a future node admit the pod."""
    labels: Mapping[str, str] = node["metadata"]["labels"]
    taints = map(Taint.of, node["spec"].get("taints", ()))
    # No pod can select a future node by its name.
    return selects(pod["spec"], labels.get, name="") and not untolerated(pod["spec"], taints)


def _names(present: Iterable[Json]) -> set[str]:
    return {node["metadata"]["name"] for node in present}


def _free_resources(node: Json, pods: Iterable[Json]) -> Amounts:
    """Returns what is left of a node's allocatable resources."""
    left = _allocatable(node)
    for pod in pods:
        if pod["spec"].get("nodeName") == node["metadata"]["name"] and not _is_over(pod):
            left = _without(left, _requests_of(pod) or {})
    return left


def _allocatable(node: Json) -> Amounts:
    return _amounts(node["status"]["allocatable"])


def _requests_of(pod: Json) -> Amounts | None:
    """Returns the requests of a pod's containers in all; None if one is not a quantity."""
    total = {"pods": Decimal(1)}
    try:
        for container in pod["spec"]["containers"]:
            resources = mapping(container.get("resources"))
            amounts = {**mapping(resources.get("limits")), **mapping(resources.get("requests"))}
            for name, amount in _amounts(amounts).items():
                total[name] = total.get(name, Decimal(0)) + amount
    except (ArithmeticError, TypeError, ValueError):
        return None
    return total


def _amounts(resources: Mapping[str, str]) -> Amounts:
    return {name: quantities.parse(text).amount for name, text in resources.items()}


def _has(room: Amounts, requests: Amounts) -> bool:
    return all(room.get(name, 0) >= amount for name, amount in requests.items())


def _without(room: Amounts, requests: Amounts) -> Amounts:
    return {name: amount - requests.get(name, 0) for name, amount in room.items()}


def keeps_node(pod: Json) -> bool:
    """Whether a pod needs a node: it has not ended, and is not bound to its node like a daemon."""
    owners = mappings(pod["metadata"].get("ownerReferences"))
    kinds = [owner.get("kind") for owner in owners]
    return not _is_over(pod) and not {"DaemonSet", "Node"} & {*kinds}


def _is_over(pod: Json) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")
