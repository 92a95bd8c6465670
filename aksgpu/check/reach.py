"""Whether a device plugin gets to nodes: those that are there, and those that a pool would get."""

from collections.abc import Iterable
from dataclasses import dataclass

from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import Cause
from catalogue.scheduling import (
    LabelOf,
    Taint,
    Unknown,
    unmet_affinity,
    unmet_selector,
    untolerated,
)

# Who has a plugin in the node's image.
OWN_PLUGIN = ("specialized-image", "managed")


@dataclass(frozen=True)
class Barrier:
    """Why no plugin gets there, and what to do about it."""

    cause: Cause
    what: str
    advice: str
    # Whether it may go by itself.
    may_pass: bool = False


@dataclass(frozen=True)
class _Place:
    """A node, or one that is to come."""

    label_of: LabelOf
    name: str | Unknown
    taints: Iterable[Taint]


def to_node(view: ClusterView, node: Node, expected: Expected) -> Barrier:
    """What keeps plugins off a node that has none."""
    place = _Place(node.labels.get, node.name, node.taints)
    barrier = _barrier(view, expected, node.pool, place)
    return barrier or Barrier(
        Cause.PLUGIN_MISSING,
        f"{_listed(view)} can run on this node, but has no pod there",
        "wait a moment; if it stays missing, look at the events of the DaemonSet",
        may_pass=True,
    )


def to_pool(view: ClusterView, pool: Pool, expected: Expected) -> Barrier | None:
    """What would keep plugins off the nodes that a pool is to get; None if nothing is known to."""
    if not view.knows_plugins or pool.gpu_stack in OWN_PLUGIN:
        return None
    return _barrier(
        view, expected, pool.name, _Place(pool.label_of, Unknown.UNKNOWN, pool.taints or ())
    )


def _barrier(
    view: ClusterView, expected: Expected, pool_name: str, place: _Place
) -> Barrier | None:
    pool = expected.pool(pool_name)
    gpu_stack = pool.gpu_stack if pool else ""
    if gpu_stack in OWN_PLUGIN:
        return Barrier(
            Cause.PLUGIN_MISSING,
            f"the device plugin that gpuStack {gpu_stack} brings with the node does not run",
            "a new node takes some minutes; else reimage the node, and look at its kubelet's log",
            may_pass=True,
        )
    # Of several, the one that comes nearest tells most.
    barriers = [_kept_away(one, place, expected, gpu_stack) for one in view.daemon_sets]
    if None in barriers:
        return None
    if gpu_stack == "none":
        return Barrier(
            Cause.GPUS_LEFT_OUT,
            "its gpuStack is none, and nothing else brings it a device plugin",
            "right until somebody brings driver and device plugin, such as the GPU Operator; "
            "else set its gpuStack to device-plugin",
        )
    if not barriers:
        return Barrier(Cause.PLUGIN_MISSING, *_none_at_all(expected, gpu_stack))
    near = min((found for found in barriers if found), key=lambda found: found[2])
    return Barrier(Cause.PLUGIN_MISSING, near[0], near[1])


def _none_at_all(expected: Expected, gpu_stack: str) -> tuple[str, str]:
    what = "the cluster has no device plugin"
    if gpu_stack == "device-plugin":
        names = " and ".join(sorted(expected.plugins))
        return (
            f"{what}: {names} of the stack was deleted",
            f"restore it: `{expected.put_back}`",
        )
    if expected.pools is not None:
        return what, (
            "`pulumi up` brings it where gpuStack is device-plugin: has its last update finished? "
            "Or install the GPU Operator"
        )
    return what, "bring one: aks-gpu:gpuStack: device-plugin, then pulumi up; or the GPU Operator"


def _kept_away(
    daemon_set: DaemonSet, place: _Place, expected: Expected, gpu_stack: str
) -> tuple[str, str, int] | None:
    """What keeps a DaemonSet's pods away, what to do, and how far from it they are."""
    before = f"no pod of {daemon_set} is scheduled there because of"
    is_the_stacks = str(daemon_set) in expected.plugins and gpu_stack == "device-plugin"
    put_back = (
        f"the DaemonSet or the pool differs from the stack: `{expected.put_back}` restores it"
    )
    if selector := ", ".join(unmet_selector(daemon_set.pods, place.label_of)):
        what = f"{before} its node selector: the node is not {selector}"
        advice = "remove the selector from the DaemonSet, or add the label to the pool"
        return what, put_back if is_the_stacks else advice, 2
    if affinity := unmet_affinity(daemon_set.pods, place.label_of, place.name):
        what = f"{before} its node affinity: it asks for {'; or '.join(affinity)}"
        advice = (
            "right where the node's image or an operator brings the plugin, which then is not at "
            "work; else set the pool's gpuStack to device-plugin"
        )
        return what, put_back if is_the_stacks else advice, 2
    if taints := untolerated(daemon_set.pods, place.taints):
        several = "the taints" if len(taints) > 1 else "the taint"
        what = f"{before} {several} {', '.join(map(str, taints))}"
        advice = "add a toleration for the taint to the DaemonSet"
        return what, put_back if is_the_stacks else advice, 1
    return None


def _listed(view: ClusterView) -> str:
    return " or ".join(map(str, view.daemon_sets))
