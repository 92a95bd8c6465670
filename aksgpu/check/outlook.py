"""Whether a pod that asks for a GPU gets one, and what it has to wait for."""

from dataclasses import dataclass

from aksgpu.check import reach
from aksgpu.check.cluster_view import ClusterView, Node
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.plugin_logs import words_of_no_driver


@dataclass(frozen=True, kw_only=True)
class Outlook:
    # Why it gets none, unless somebody does something; else empty.
    never: str = ""
    # What it waits for, in a few words.
    waits_for: str = ""
    # The pools that may get a node for it: that costs.
    grows: tuple[str, ...] = ()


def outlook(view: ClusterView, expected: Expected, *, is_coming: bool) -> Outlook:
    """For a pod that asks for one whole GPU, and tolerates the taints of all GPU pools.

    `is_coming`: nodes that are not ready, or whose plugin does not run, are about to be.
    """
    offering = [node for node in view.nodes if node.takes_pods and node.whole > 0]
    if any(view.free(node) > 0 for node in offering):
        return Outlook(waits_for="a place on a node that has a GPU for it")
    if is_coming and (coming := [n.name for n in view.nodes if _may_come(view, n, expected)]):
        return Outlook(waits_for=f"the GPUs of the node {coming[0]}")
    pools = (expected.pools or {}).values()
    reasons = {pool.name: _why_not(view, pool, expected) for pool in pools}
    if growing := tuple(name for name, reason in reasons.items() if not reason):
        return Outlook(waits_for=f"a new node of pool {' or '.join(growing)}", grows=growing)
    if offering and (not pools or any(expected.pool(node.pool) is None for node in offering)):
        # Whether that pool grows is not known here.
        return Outlook(waits_for="a GPU that is in use")
    now = "all GPUs are in use" if offering else "no node offers a GPU"
    return Outlook(never="; ".join([now, *(f"pool {name} {why}" for name, why in reasons.items())]))


def _why_not(view: ClusterView, pool: Pool, expected: Expected) -> str:
    """Why no new node of a pool helps."""
    there = [node for node in view.nodes if node.pool == pool.name]
    if not pool.can_grow(len(there)):
        if pool.is_scaled:
            return f"is at its most, {len(there)} of {pool.most}"
        return "has no nodes, and AKS does not scale it" if not there else "is not scaled by AKS"
    if not there:
        barrier = reach.to_pool(view, pool, expected)
        return f"would get no GPUs: {barrier.what}" if barrier else ""
    ready = [node for node in there if node.is_ready]
    if ready and not any(node.whole or _may_come(view, node, expected) for node in ready):
        return "can grow, and its nodes offer no whole GPU"
    return ""


def _may_come(view: ClusterView, node: Node, expected: Expected) -> bool:
    """Whether nothing but time is needed until a node offers its GPUs."""
    if not node.is_ready:
        return True
    if node.is_cordoned or node.capacity or not view.knows_plugins:
        return False
    if plugins := view.plugins_on(node):
        return not any(words_of_no_driver(view, pod) for pod in plugins)
    return reach.to_node(view, node, expected).may_pass
