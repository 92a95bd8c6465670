"""Whether a device plugin can run on a node, or on the nodes that a pool would get."""

from collections.abc import Iterable
from dataclasses import dataclass

from aks_catalogue.nodes import DCGM_LABEL
from aks_catalogue.scheduling import (
    LabelOf,
    Taint,
    Unknown,
    unmet_affinity,
    unmet_selector,
    untolerated,
)
from aksgpu.check import words
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.words import Said
from aksgpu.outcome import Cause

# The GPU stacks whose nodes come with a plugin.
OWN_PLUGIN = ("specialized-image", "managed")

# Why no plugin runs there: the cause, and what is said.
Barrier = tuple[Cause, Said]


@dataclass(frozen=True)
class _Place:
    """A node, or a future node of a pool."""

    label_of: LabelOf
    name: str | Unknown
    taints: Iterable[Taint]


def to_node(view: ClusterView, node: Node, expected: Expected) -> Barrier:
    """Why a node has no plugin."""
    place = _Place(node.labels.get, node.name, node.taints)
    # Else it is not missing: Kubernetes creates the pods of a new DaemonSet one by one.
    not_yet = Cause.PLUGIN_NOT_RUNNING, words.no_pod_yet(view.daemon_sets)
    return _barrier(view, expected, node.pool, place) or not_yet


def to_pool(view: ClusterView, pool: Pool, expected: Expected) -> Barrier | None:
    """Why new nodes of a pool would have no plugin; None if they would, or if nothing is known."""
    if not view.knows_plugins or pool.gpu_stack in OWN_PLUGIN:
        return None
    place = _Place(pool.label_of, Unknown.UNKNOWN, pool.taints or ())
    return _barrier(view, expected, pool.name, place)


def _barrier(view: ClusterView, expected: Expected, pool: str, place: _Place) -> Barrier | None:
    known = expected.pool(pool)
    gpu_stack = known.gpu_stack if known else ""
    if not gpu_stack and place.label_of(DCGM_LABEL[0]) == DCGM_LABEL[1]:
        gpu_stack = "managed"
    if gpu_stack in OWN_PLUGIN:
        return Cause.PLUGIN_MISSING, words.own_plugin_missing(gpu_stack, expected)
    kept = [_kept_away(each, place, expected, gpu_stack) for each in view.daemon_sets]
    if None in kept:
        return None
    if gpu_stack == "none":
        return Cause.GPUS_LEFT_OUT, words.left_out(expected)
    # Of several DaemonSets, the one with the smallest obstacle.
    away = min(filter(None, kept), key=lambda each: each[0], default=None)
    return Cause.PLUGIN_MISSING, away[1] if away else words.no_plugin(gpu_stack, expected)


def _kept_away(
    daemon_set: DaemonSet, place: _Place, expected: Expected, gpu_stack: str
) -> tuple[int, Said] | None:
    """How much keeps a DaemonSet's pods away from there, and what is said of it."""
    taints = untolerated(daemon_set.pods, place.taints)
    if daemon_set.is_operators and taints:
        # Node Feature Discovery does not reach the node either, so the label is missing too.
        return 1, words.operator_kept_away(daemon_set, taints)
    selector = [*unmet_selector(daemon_set.pods, place.label_of)]
    affinity = unmet_affinity(daemon_set.pods, place.label_of, place.name)
    if not (selector or affinity or taints):
        return None
    what, advice = words.kept_away(daemon_set, selector, affinity, taints, expected)
    if str(daemon_set) in expected.plugins and gpu_stack == "device-plugin":
        advice = words.restore(expected)
    return 2 if selector or affinity else 1, (what, advice)
