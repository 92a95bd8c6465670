"""The cluster autoscaler: pools grow for unschedulable pods, and shrink when idle."""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

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
# What the expander `priority` goes by: numbers, and expressions for the names of node groups.
Rules = Sequence[tuple[int, re.Pattern[str]]]
_PRIORITIES = TypeAdapter(dict[int, list[re.Pattern[str]] | None])
# That of a group whose name matches none.
_NO_PRIORITY = -1


@dataclass(frozen=True)
class PoolState:
    """A pool, its nodes, and all pods of its cluster."""

    cluster: DesiredCluster
    pool: DesiredPool
    nodes: Sequence[Json]
    pods: Sequence[Json]
    # It does not grow for a while, as Azure had no machines for it.
    is_backed_off: bool = False

    @cached_property
    def template(self) -> Json:
        """The node that an empty pool would get."""
        node = nodes.new_node(self.cluster, self.pool, 0, Era.TODAY, 0)
        node["status"]["allocatable"][GPU] = str(_gpus(self.pool))
        return node

    @cached_property
    def complete(self) -> list[Json]:
        """The nodes that count as ready: a GPU node needs `nvidia.com/gpu` for that."""
        has_gpus = _gpus(self.pool)
        return [each for each in _ready(self) if not has_gpus or _allocatable(each).get(GPU)]

    @cached_property
    def whole(self) -> Amounts:
        """What a new node offers.

        The autoscaler takes a node of the pool as the template of the next one. An empty pool is
        judged by its size, which says nothing of driver, device plugin or MIG: a new node counts
        with whole GPUs, and slices with a resource name of their own never make a pool grow.
        """
        return _allocatable(self.complete[0] if self.complete else self.template)


class Autoscaler:
    """Decides how many nodes a pool has."""

    def __init__(self, time_scale: float) -> None:
        self._patience = IDLE_SECONDS * time_scale
        self._idle_since: dict[str, float] = {}
        # The nodes that go when a pool shrinks.
        self.idle_nodes: set[str] = set()

    def count(self, state: PoolState, growth: "Growth | None" = None) -> int:
        """Returns how many nodes a pool has; `growth` is its part in that of all pools."""
        limits = state.pool.limits
        if limits is None:
            return state.pool.count
        growth = growth or growth_of(state)
        self._note_idle_nodes(state, is_awaited=bool(growth.awaited))
        own = [each for each in state.nodes if not nodes.is_surge(each)]
        staying = _names(each for each in own if not nodes.is_deleting(each))
        target = state.pool.count + growth.nodes
        # Until the last decision is carried out, its nodes still look idle.
        if not growth.nodes and len(staying) == state.pool.count:
            target -= len(staying & self.idle_nodes)
        # A node that was to go, and to which a pod has come, counts again.
        target = max(target, len(staying - self.idle_nodes))
        least = min(limits.least, state.pool.count) if state.is_backed_off else limits.least
        return max(least, min(limits.most, target))

    def _note_idle_nodes(self, state: PoolState, *, is_awaited: bool) -> None:
        now, names = time.monotonic(), _names(state.nodes)
        busy = {pod["spec"].get("nodeName") for pod in state.pods if keeps_node(pod)}
        idle = set() if is_awaited else _names(_ready(state)) - busy
        for name in names - idle:
            self._idle_since.pop(name, None)
        since = {name: self._idle_since.setdefault(name, now) for name in idle}
        ripe = {name for name in idle if now - since[name] >= self._patience}
        self.idle_nodes = (self.idle_nodes - names) | ripe


@dataclass(frozen=True)
class Growth:
    """How a pool would grow for pods that wait."""

    state: PoolState
    nodes: int
    # The pods that wait for nodes that are there or start, and those that new nodes would help. By
    # uid.
    awaited: frozenset[str]
    helped: frozenset[str]


def growths(states: Sequence[PoolState], expander: str, priorities: str) -> dict[str, Growth]:
    """Returns the growth of each pool by name: for a pod that several fit, one of them grows.

    `priorities` is the text of the ConfigMap by which the expander `priority` chooses.
    """
    first = [growth_of(state) for state in states]
    if not any(each.nodes for each in first):
        return {each.state.pool.name: each for each in first}
    awaited = frozenset[str]().union(*(each.awaited for each in first))
    left = [growth_of(each.state, awaited - each.awaited) for each in first]
    chosen, rules = dict[str, Growth](), _rules(priorities)
    while growing := [each for each in left if each.nodes]:
        best = _best(growing, expander, rules)
        chosen[best.state.pool.name] = best
        awaited |= best.helped
        others = (each for each in left if each is not best)
        left = [growth_of(each.state, awaited - each.awaited) for each in others]
    return chosen | {each.state.pool.name: each for each in left}


def _best(growing: Sequence[Growth], expander: str, rules: Rules) -> Growth:
    """Returns the growth of the highest priority; of equals, the first."""
    if expander != "priority":
        return growing[0]

    def priority(growth: Growth) -> int:
        group = nodes.group(growth.state.cluster, growth.state.pool)
        return max((_NO_PRIORITY, *(number for number, rule in rules if rule.search(group))))

    return max(growing, key=priority)


def _rules(priorities: str) -> Rules:
    """Reads the ConfigMap of the expander `priority`; a text with any mistake says nothing.

    See `expander/priority/priority.go` of kubernetes/autoscaler 1.34.
    """
    try:
        read = _PRIORITIES.validate_python(yaml.safe_load(priorities), strict=True)
    except (ValidationError, yaml.YAMLError):
        return []
    return [(number, rule) for number, listed in read.items() for rule in listed or ()]


def growth_of(state: PoolState, elsewhere: Collection[str] = ()) -> Growth:
    """Returns the growth of one pool; the pods `elsewhere` get their nodes from other pools."""
    node, ready, whole = state.template, state.complete, state.whole
    # The scheduler may not have used a node yet that has just become ready.
    rooms = [_free_resources(ready_node, state.pods) for ready_node in ready]
    rooms += [whole] * (state.pool.count - len(ready))
    limits = None if state.is_backed_off else state.pool.limits
    most = limits.most if limits else len(rooms)
    present, awaited, helped = len(rooms), set[str](), set[str]()
    for pod in state.pods:
        requests = _requests_of(pod) if is_unplaced(pod) and fits(pod, node) else None
        if not requests or _uid(pod) in elsewhere:
            continue
        place = next((i for i, room in enumerate(rooms) if _has(room, requests)), len(rooms))
        if place == len(rooms):
            if not _has(whole, requests) or len(rooms) >= most:
                continue  # no node of this pool will ever do
            rooms.append(whole)
        (awaited if place < present else helped).add(_uid(pod))
        rooms[place] = _without(rooms[place], requests)
    return Growth(state, len(rooms) - present, frozenset(awaited), frozenset(helped))


def _gpus(pool: DesiredPool) -> int:
    size = find(pool.vm_size)
    return size.devices if size and size.is_nvidia else 0


def _ready(state: PoolState) -> list[Json]:
    return [each for each in state.nodes if nodes.is_ready(each) and not nodes.is_deleting(each)]


def missing(pod: Json, state: PoolState) -> list[str]:
    """Returns the resources of which a new node has too little for a pod."""
    requests = _requests_of(pod) or {}
    return [name for name, amount in requests.items() if state.whole.get(name, 0) < amount]


def _uid(pod: Json) -> str:
    # Pods of a template have none.
    return str(pod["metadata"].get("uid") or id(pod))


def is_unplaced(pod: Json) -> bool:
    """Whether the scheduler found no node for a pod."""
    if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    return conditions(pod).get("PodScheduled", {}).get("reason") == "Unschedulable"


def fits(pod: Json, node: Json) -> bool:
    """Whether the labels and taints of a future node admit the pod."""
    labels: Mapping[str, str] = node["metadata"]["labels"]
    taints = map(Taint.of, node["spec"].get("taints", ()))
    # No pod can select a future node by its name.
    return selects(pod["spec"], labels.get, name="") and not untolerated(pod["spec"], taints)


def _names(present: Iterable[Json]) -> set[str]:
    return {node["metadata"]["name"] for node in present}


def _free_resources(node: Json, pods: Iterable[Json]) -> Amounts:
    """Returns what is left of a node's allocatable resources; nothing if it takes no pods."""
    if node["spec"].get("unschedulable"):
        return {}
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
