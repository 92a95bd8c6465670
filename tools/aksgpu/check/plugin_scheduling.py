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
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import Cause

# The GPU stacks whose nodes come with a plugin.
OWN_PLUGIN = ("specialized-image", "managed")


@dataclass(frozen=True)
class Barrier:
    """Why no plugin runs there, and what to do about it."""

    cause: Cause
    what: str
    advice: str
    # Whether it can go away without a change.
    may_pass: bool = False


@dataclass(frozen=True)
class _Place:
    """A node, or a future node of a pool."""

    label_of: LabelOf
    name: str | Unknown
    taints: Iterable[Taint]


def to_node(view: ClusterView, node: Node, expected: Expected) -> Barrier:
    """Why a node has no plugin."""
    place = _Place(node.labels.get, node.name, node.taints)
    barrier = _barrier(view, expected, node.pool, place)
    return barrier or Barrier(
        # Not missing: Kubernetes creates the pods of a new DaemonSet one by one.
        Cause.PLUGIN_NOT_RUNNING,
        f"{_listed(view)} can run on this node, but has no pod there",
        "look at the events of the DaemonSet: kubectl describe daemonset shows them",
        may_pass=True,
    )


def to_pool(view: ClusterView, pool: Pool, expected: Expected) -> Barrier | None:
    """Why new nodes of a pool would have no plugin; None if they would, or if nothing is known."""
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
    if not gpu_stack and place.label_of(DCGM_LABEL[0]) == DCGM_LABEL[1]:
        gpu_stack = "managed"
    if gpu_stack in OWN_PLUGIN:
        stack_or_node = expected.advice(f"gpuStack {gpu_stack}", "the node")
        return Barrier(
            Cause.PLUGIN_MISSING,
            f"the device plugin that comes with {stack_or_node} does not run",
            "a new node takes some minutes; else reimage the node, and read its kubelet's log",
            may_pass=True,
        )
    barriers = [
        _kept_away(daemon_set, place, expected, gpu_stack) for daemon_set in view.daemon_sets
    ]
    if None in barriers:
        return None
    if gpu_stack == "none":
        install = expected.advice(
            "set its gpuStack to device-plugin", "let AKS install the driver, and add a plugin"
        )
        return Barrier(
            Cause.GPUS_LEFT_OUT,
            f"{expected.advice('its gpuStack is none', 'AKS installs no driver on it')}, and the "
            "cluster has no device plugin for it",
            "nothing to do if the GPU Operator, or something else, will install driver and device "
            f"plugin; otherwise {install}",
        )
    if not barriers:
        return Barrier(Cause.PLUGIN_MISSING, *_none_at_all(expected, gpu_stack))
    # Of several DaemonSets, the one with the smallest obstacle.
    what, advice, _ = min(filter(None, barriers), key=lambda barrier: barrier[2])
    return Barrier(Cause.PLUGIN_MISSING, what, advice)


def _none_at_all(expected: Expected, gpu_stack: str) -> tuple[str, str]:
    what = "the cluster has no device plugin"
    if gpu_stack == "operator":
        return (
            f"{what}: the GPU Operator has not created its DaemonSets",
            "a new operator takes some minutes; else `kubectl get clusterpolicies`, and read the "
            "log of the operator's pod",
        )
    if gpu_stack == "device-plugin":
        names = " and ".join(sorted(expected.plugins))
        return (
            f"{what}: {names} of the stack was deleted",
            f"restore it: `{expected.restoring_command}`",
        )
    return what, expected.advice(
        "for a pool with gpuStack device-plugin `pulumi up` installs it: did the last update "
        "finish? Or install the GPU Operator",
        "install NVIDIA's device plugin, or the GPU Operator",
    )


def _kept_away(
    daemon_set: DaemonSet, place: _Place, expected: Expected, gpu_stack: str
) -> tuple[str, str, int] | None:
    """Why a DaemonSet's pods are not scheduled there, what to do, and how much has to change."""
    prefix = f"no pod of {daemon_set} is scheduled there because of"
    is_the_stacks = str(daemon_set) in expected.plugins and gpu_stack == "device-plugin"
    restore = (
        "the DaemonSet or the pool differs from the stack: "
        f"`{expected.restoring_command}` restores it"
    )
    taints = untolerated(daemon_set.pods, place.taints)
    if daemon_set.is_operators and taints:
        # Node Feature Discovery does not reach the node either, so the label is missing too.
        return (
            f"{prefix} the taints {', '.join(map(str, taints))}",
            "add tolerations to daemonsets.tolerations and "
            "node-feature-discovery.worker.tolerations of the GPU Operator's chart",
            1,
        )
    if selector := ", ".join(unmet_selector(daemon_set.pods, place.label_of)):
        what = f"{prefix} its node selector: the node is not {selector}"
        advice = "remove the selector from the DaemonSet, or add the label to the pool"
        return what, restore if is_the_stacks else advice, 2
    if affinity := unmet_affinity(daemon_set.pods, place.label_of, place.name):
        what = f"{prefix} its node affinity: it requires {'; or '.join(affinity)}"
        advice = (
            "nothing to do if the node's image or an operator brings the plugin, which does not "
            "run yet; otherwise "
        ) + expected.advice(
            "set the pool's gpuStack to device-plugin", "change the affinity of the DaemonSet"
        )
        return what, restore if is_the_stacks else advice, 2
    if taints:
        noun = "the taints" if len(taints) > 1 else "the taint"
        what = f"{prefix} {noun} {', '.join(map(str, taints))}"
        advice = "add a toleration for the taint to the DaemonSet"
        return what, restore if is_the_stacks else advice, 1
    return None


def _listed(view: ClusterView) -> str:
    return " or ".join(map(str, view.daemon_sets))
