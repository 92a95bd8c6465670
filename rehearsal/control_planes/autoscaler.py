"""The cluster autoscaler: pools that grow for pods without a place, and shrink when idle."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from catalogue import quantities
from catalogue.device_plugin import GPU
from catalogue.scheduling import Taint, selects, untolerated
from catalogue.shapes import mapping, mappings
from catalogue.sizes import find
from kube.objects import conditions
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import Era, WantedCluster, WantedPool

Json = dict[str, Any]
# How much there is of resources, by their names.
Amounts = Mapping[str, Decimal]

# How long a node has to be idle, in seconds at time scale 1. Azure waits ten minutes.
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class PoolState:
    """A pool, its nodes, and all pods of its cluster."""

    cluster: WantedCluster
    pool: WantedPool
    nodes: Sequence[Json]
    pods: Sequence[Json]


class Autoscaler:
    """Decides how many nodes a pool shall have."""

    def __init__(self, time_scale: float) -> None:
        self._patience = IDLE_SECONDS * time_scale
        self._idle_since: dict[str, float] = {}
        # The nodes that go when a pool shrinks.
        self.idle_nodes: set[str] = set()

    def count(self, state: PoolState) -> int:
        limits = state.pool.limits
        if limits is None:
            return state.pool.count
        growth, shrinkage = self._growth(state), self._shrinkage(state)
        wanted = state.pool.count + (growth or -shrinkage)
        return max(limits.least, min(limits.most, wanted))

    def _growth(self, state: PoolState) -> int:
        """How many nodes the waiting pods need beyond those that are coming."""
        node = nodes.made(state.cluster, state.pool, 0, Era.TODAY, 0)
        size = find(state.pool.vm_size)
        count = size.devices if size and size.is_nvidia else 0
        node["status"]["allocatable"][GPU] = str(count)
        complete = [found for found in state.nodes if _is_complete(found, has_gpus=count > 0)]
        # The autoscaler takes a node of the pool for a model of the next; only where there is none,
        # it goes by the size. That knows of no driver, no plugin and no MIG: each new node counts
        # for its GPUs as a whole, and slices by a name of their own never make a pool grow.
        whole = _allocatable(complete[0] if complete else node)
        # The scheduler may not have got round to a node that has just become complete.
        rooms = [_left(found, state.pods) for found in complete]
        rooms += [whole] * (state.pool.count - len(complete))
        known = len(rooms)
        waiting = [pod for pod in state.pods if is_unplaced(pod) and fits(pod, node)]
        for asked in filter(None, map(_asked_for, waiting)):
            place = next((i for i, room in enumerate(rooms) if _has(room, asked)), len(rooms))
            if place == len(rooms):
                if not _has(whole, asked):
                    continue  # no node of this pool will ever do
                rooms.append(whole)
            rooms[place] = _without(rooms[place], asked)
        return len(rooms) - known

    def _shrinkage(self, state: PoolState) -> int:
        now = time.monotonic()
        names = {node["metadata"]["name"] for node in state.nodes}
        busy = {pod["spec"].get("nodeName") for pod in state.pods if keeps_node(pod)}
        idle = {
            node["metadata"]["name"]
            for node in state.nodes
            if nodes.is_ready(node) and not nodes.is_going(node)
        } - busy
        for name in names - idle:
            self._idle_since.pop(name, None)
        since = {name: self._idle_since.setdefault(name, now) for name in idle}
        ripe = {name for name in idle if now - since[name] >= self._patience}
        self.idle_nodes = (self.idle_nodes - names) | ripe
        staying = [node for node in state.nodes if not nodes.is_going(node)]
        # While the last decision is not carried out yet, its nodes look idle still.
        return len(ripe) if len(staying) == state.pool.count else 0


def is_unplaced(pod: Json) -> bool:
    """Whether the scheduler has said that no node will do."""
    if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    return conditions(pod).get("PodScheduled", {}).get("reason") == "Unschedulable"


def _is_complete(node: Json, *, has_gpus: bool) -> bool:
    """Whether the autoscaler takes a node for ready: it waits for GPUs of that one name."""
    if not nodes.is_ready(node) or nodes.is_going(node):
        return False
    offered = node["status"].get("allocatable", {}).get(GPU, "0")
    return quantities.parse(offered).amount > 0 or not has_gpus


def fits(pod: Json, node: Json) -> bool:
    """Whether the labels and taints of a node, whatever its name will be, admit the pod."""
    labels: Mapping[str, str] = node["metadata"]["labels"]
    taints = map(Taint.of, node["spec"].get("taints", ()))
    # No pod can ask for the name of a node that is still to come.
    return selects(pod["spec"], labels.get, name="") and not untolerated(pod["spec"], taints)


def _left(node: Json, pods: Iterable[Json]) -> Amounts:
    """What a node has room for yet."""
    left = _allocatable(node)
    for pod in pods:
        if pod["spec"].get("nodeName") == node["metadata"]["name"] and not _is_over(pod):
            left = _without(left, _asked_for(pod) or {})
    return left


def _allocatable(node: Json) -> Amounts:
    return _amounts(node["status"]["allocatable"])


def _asked_for(pod: Json) -> Amounts | None:
    """What a pod asks for: its containers together. None where that is no number of anything."""
    total = {"pods": Decimal(1)}
    try:
        for container in pod["spec"]["containers"]:
            resources = mapping(container.get("resources"))
            asked = {**mapping(resources.get("limits")), **mapping(resources.get("requests"))}
            for name, amount in _amounts(asked).items():
                total[name] = total.get(name, Decimal(0)) + amount
    except (ArithmeticError, TypeError, ValueError):
        return None
    return total


def _amounts(resources: Mapping[str, str]) -> Amounts:
    return {name: quantities.parse(text).amount for name, text in resources.items()}


def _has(room: Amounts, asked: Amounts) -> bool:
    return all(room.get(name, 0) >= amount for name, amount in asked.items())


def _without(room: Amounts, asked: Amounts) -> Amounts:
    return {name: amount - asked.get(name, 0) for name, amount in room.items()}


def keeps_node(pod: Json) -> bool:
    """Whether a pod needs its node, or another one: it is not over, and belongs to no node."""
    owners = mappings(pod["metadata"].get("ownerReferences"))
    kinds = [owner.get("kind") for owner in owners]
    return not _is_over(pod) and not {"DaemonSet", "Node"} & {*kinds}


def _is_over(pod: Json) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")
