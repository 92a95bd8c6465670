"""Whether a pod that requests a GPU gets one, and what it has to wait for."""

from collections.abc import Collection
from dataclasses import dataclass

from aksgpu.check import reach
from aksgpu.check.cluster_view import ClusterView, Node
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.plugin_logs import no_driver_line
from catalogue.device_plugin import GPU


def requested_resource(offered: Collection[str], expected: Expected) -> str:
    """The name by which the sample job requests a GPU: the usual one, if it gets a GPU by it."""
    pools = (expected.pools or {}).values()
    may_come = [pool.resource for pool in pools if not offered or pool.can_grow(0)]
    return GPU if GPU in (*offered, *may_come) else min(offered or may_come, default=GPU)


@dataclass(frozen=True, kw_only=True)
class Outlook:
    # Why it gets none unless something is changed; else empty.
    never: str = ""
    # What it waits for.
    waits_for: str = ""
    # The pools to which AKS may add a node for it, which costs.
    grows: tuple[str, ...] = ()


def outlook(view: ClusterView, expected: Expected, *, is_coming: bool) -> Outlook:
    """The outlook of the sample job, which tolerates the taints of all GPU pools.

    `is_coming`: whether to expect that nodes become ready, and that plugins start.
    """
    offering = [node for node in view.nodes if node.takes_pods and node.requestable > 0]
    if any(view.free(node) > 0 for node in offering):
        return Outlook(waits_for="a place on a node with a free GPU")
    if is_coming and (coming := [n.name for n in view.nodes if _may_come(view, n, expected)]):
        return Outlook(waits_for=f"the GPUs of the node {coming[0]}")
    pools = (expected.pools or {}).values()
    reasons = {pool.name: _why_not(view, pool, expected) for pool in pools}
    if growing := tuple(name for name, reason in reasons.items() if not reason):
        return Outlook(waits_for=f"a new node of pool {' or '.join(growing)}", grows=growing)
    if offering and (not pools or any(expected.pool(node.pool) is None for node in offering)):
        # A pool that the stack does not have: nothing says whether it can grow.
        return Outlook(waits_for="a GPU that is in use")
    now = "all GPUs are in use" if offering else "no node offers a GPU"
    return Outlook(never="; ".join([now, *(f"pool {name} {why}" for name, why in reasons.items())]))


def _why_not(view: ClusterView, pool: Pool, expected: Expected) -> str:
    """Why a new node of this pool does not help, or cannot be added."""
    nodes = [node for node in view.nodes if node.pool == pool.name]
    if pool.resource != view.resource:
        return f"offers {pool.resource}"
    if not pool.can_grow(len(nodes)):
        if pool.is_scaled:
            return f"has {len(nodes)} of at most {pool.most} nodes"
        return "is not scaled by AKS" if nodes else "has no nodes, and AKS does not scale it"
    if not nodes:
        barrier = reach.to_pool(view, pool, expected)
        return f"would get no GPUs: {barrier.what}" if barrier else ""
    ready = [node for node in nodes if node.is_ready]
    if ready and not any(node.requestable or _may_come(view, node, expected) for node in ready):
        return f"can grow, but its nodes offer no {view.resource}"
    return ""


def _may_come(view: ClusterView, node: Node, expected: Expected) -> bool:
    """Whether a node can be expected to offer its GPUs soon."""
    if not node.is_ready:
        return True
    if node.is_cordoned or node.capacity or not view.knows_plugins:
        return False
    if plugins := view.plugins_on(node):
        return not any(no_driver_line(view, pod) for pod in plugins)
    return reach.to_node(view, node, expected).may_pass
