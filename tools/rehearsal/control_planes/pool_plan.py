"""Plans the next step of a pool towards its desired nodes.

Each step is computed anew from the nodes and their annotations, so an upgrade continues after the
server was stopped.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from aks_catalogue.nodes import node_number, surge_nodes
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import DesiredPool, Era

Json = dict[str, Any]


@dataclass(frozen=True)
class NewNode:
    index: int
    is_surge: bool


@dataclass
class Step:
    """The changes to make now. `is_done` means that nothing is left to do or to wait for."""

    create: list[NewNode] = field(default_factory=list)
    leave: list[Json] = field(default_factory=list)
    # Whether those that leave do so only as long as no pod needs them.
    are_idle: bool = False
    is_done: bool = False


def step(pool: DesiredPool, present: Sequence[Json], idle: Collection[str], era: Era) -> Step:
    """Returns the next step of a pool; `idle` has the nodes to remove first when it shrinks."""
    staying = [node for node in present if not nodes.is_deleting(node)]
    if pool.is_deleting:
        return Step(leave=staying, is_done=not present)
    regular = sorted(
        (node for node in staying if not nodes.is_surge(node)),
        key=lambda node: nodes.index_of(node, era),
    )
    surge = [node for node in staying if nodes.is_surge(node)]
    old = [node for node in regular if nodes.is_outdated(node, pool)]
    if len(regular) > pool.count:
        # Idle ones first, then the youngest.
        going = sorted(regular, key=lambda node: node["metadata"]["name"] in idle)[pool.count :]
        # The autoscaler leaves a node to which a pod has come since; an operation drains it.
        if pool.limits and not pool.operation:
            going = [node for node in going if node["metadata"]["name"] in idle]
            return Step(leave=going, are_idle=True)
        return Step(leave=going)
    indices = _free_indices(present, era)
    is_upgrading = bool(old or surge)
    if len(regular) < pool.count and not (is_upgrading and len(staying) < len(present)):
        missing = pool.count - len(regular)
        return Step(create=[NewNode(next(indices), is_surge=False) for _ in range(missing)])
    is_settled = len(staying) == len(present) and all(map(nodes.is_ready, staying))
    if not is_upgrading:
        return Step(is_done=is_settled and len(regular) == pool.count)
    return _upgrade(pool, old, surge, indices) if is_settled else Step()


def _upgrade(pool: DesiredPool, old: list[Json], surge: list[Json], indices: Any) -> Step:
    """Returns the next step of an upgrade when all nodes are ready."""
    if not old:
        return Step(leave=surge)
    extra = surge_nodes(pool.count, pool.surge, pool.unavailable, is_spot=pool.is_spot) or 0
    lacking = extra - len(surge)
    if lacking > 0:
        return Step(create=[NewNode(next(indices), is_surge=True) for _ in range(lacking)])
    at_once = node_number(pool.count, pool.unavailable) or 1
    return Step(leave=old[:at_once])


def _free_indices(present: Sequence[Json], era: Era) -> Any:
    taken = {nodes.index_of(node, era) for node in present}
    return (index for index in range(10**6) if index not in taken)
