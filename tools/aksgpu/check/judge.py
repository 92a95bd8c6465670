"""What is wrong with a cluster's GPUs. No I/O here; `words` says it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from aks_catalogue.device_plugin import CONFLICT_CONDITION
from aks_catalogue.node_problems import node_problem, vm_event
from aks_catalogue.nodes import DCGM_LABEL
from aksgpu.check import plugin_scheduling, waiting, words
from aksgpu.check.cluster_view import NODES, PODS, ClusterView, Node, Pod
from aksgpu.check.expected import Expected
from aksgpu.check.plugin_logs import no_driver_line
from aksgpu.check.words import Said
from aksgpu.outcome import Cause, Finding

# These can go away on a cluster that is just starting.
_TRANSIENT = (
    Cause.NODES_MISSING,
    Cause.NODE_NOT_READY,
    Cause.PLUGIN_NOT_RUNNING,
    Cause.NO_GPU_ALLOCATABLE,
    Cause.POD_PENDING,
)
# Taints that come and go with the state of a node, or with the autoscaler's plans.
TRANSIENT_TAINTS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
# What containerd says of a runtime class whose runtime the node does not have.
_NO_RUNTIME = re.compile(r'no runtime for "([^"]+)" is configured')

# What is wrong with a node: the cause, which case of it, and what is said.
_Decided = tuple[Cause, str, Said]


def judge(view: ClusterView, expected: Expected) -> list[Finding]:
    """All findings on a cluster, compared with its stack; problems first."""
    if NODES in view.unread:
        return []
    findings = [*_of_nodes(view, expected), *_of_pools(view, expected)]
    findings += _of_cluster(view, expected)
    findings += [unplaced(pod, view, expected) for pod in view.pods if pod.gpus and pod.unplaced]
    return sorted(findings, key=lambda finding: list(Cause).index(finding.cause))


def result(view: ClusterView | None, findings: Sequence[Finding]) -> Cause:
    """The result of a check without problems."""
    if view is None or any(node.takes_pods and node.allocatable for node in view.nodes):
        return Cause.GPUS_SCHEDULABLE
    if not view.nodes:
        return Cause.NO_NODES_NOW
    return findings[0].cause if findings else Cause.NO_NODES_NOW


def may_pass(findings: Iterable[Finding]) -> bool:
    """Whether the cluster is worth another look in some seconds."""
    return any(finding.cause in _TRANSIENT for finding in findings)


def empty_pools(view: ClusterView, expected: Expected) -> list[str]:
    with_nodes = {node.pool for node in view.nodes}
    return [name for name in expected.names if name not in with_nodes]


def unplaced(pod: Pod, view: ClusterView, expected: Expected) -> Finding:
    """A pending pod, with the scheduler's message."""
    reason, advice = pod.unplaced, words.pending(pod.unplaced, expected)
    per_node = [node.capacity for node in view.nodes]
    per_node += [pool.gpus or pod.gpus for pool in (expected.pools or {}).values()]
    if pod.gpus > max(per_node, default=pod.gpus):
        reason = f"it requests {pod.gpus} GPUs, and no node has more than {max(per_node)}"
        advice = "request fewer, or add a pool with a VM size that has as many"
    elif waiting.node_comes(pod.spec, pod.gpus, view, expected):
        advice = "nothing to do: AKS adds a node for it"
    pending = f"the pod {pod} is pending: {reason}"
    what = waiting.told(pending, pod.spec, pod.gpus, view, expected)
    return Finding(Cause.POD_PENDING, what, advice)


def _of_nodes(view: ClusterView, expected: Expected) -> list[Finding]:
    """One finding for all nodes of a pool with the same case of a cause."""
    found: dict[tuple[str, Cause, str], Finding] = {}
    for node in view.nodes:
        for cause, case, (what, advice) in _of_node(view, node, expected):
            key = (node.pool, cause, case)
            first = found.setdefault(key, Finding(cause, what, advice, pool=node.pool))
            found[key] = replace(first, nodes=(*first.nodes, node.name))
    return [*found.values()]


def _of_pools(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    """Pools of the stack that have no nodes."""
    pools = expected.pools or {}
    empty = [pools[name] for name in empty_pools(view, expected)]
    for pool in empty:
        if pool.least:
            said = words.nodes_missing(pool, expected)
            yield Finding(Cause.NODES_MISSING, *said, pool=pool.name)
        if (barrier := plugin_scheduling.to_pool(view, pool, expected)) is not None:
            cause, said = barrier
            yield Finding(cause, *said, pool=pool.name)
    for grows in (False, True):
        names = [pool.name for pool in empty if not pool.least and pool.can_grow(0) == grows]
        if names:
            said, only = words.at_zero(names, grows=grows), len(names) == 1
            yield Finding(Cause.POOL_AT_ZERO, *said, pool=names[0] if only else None)


def _of_cluster(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    if not view.nodes and not expected.pools:
        yield Finding(Cause.NO_GPU_POOL, *words.no_gpu_pool(expected))
    offering = [node for node in view.nodes if node.takes_pods and node.allocatable]
    if PODS in view.unread or not offering:
        return
    scaled = [pool for pool in (expected.pools or {}).values() if pool.is_scaled]
    reasons = {pool.name: waiting.barred(pool, view) for pool in scaled}
    is_full = all(view.used(node) >= node.allocatable for node in offering)
    if is_full and all(reasons.values()):
        total = sum(node.allocatable for node in offering)
        yield Finding(Cause.GPUS_ALL_USED, *words.all_used(total, reasons))


def _of_node(view: ClusterView, node: Node, expected: Expected) -> Iterator[_Decided]:
    announced = vm_event(node.problems)
    if announced is not None:
        kind, event = announced
        what = f"{event.meaning} ({kind}: {node.problems[kind]})"
        yield Cause.NODE_GOES, kind, (what, event.advice)
        if event.is_fault and not node.takes_pods:
            # That explains it, also that it is cordoned.
            return
    if not node.is_ready:
        # This explains whatever is wrong with its pods and GPUs.
        yield Cause.NODE_NOT_READY, node.reason, words.not_ready(node)
        return
    if node.is_cordoned:
        yield Cause.NODE_CORDONED, "", words.cordoned(node)
    yield from _reported(node, expected)
    running = [pod for pod in view.plugins_on(node) if pod.is_running]
    if _has_two_plugins(node, running, expected):
        yield Cause.PLUGIN_TWICE, "", words.two_plugins(running)
    elif not node.capacity or _has_lost_its_plugin(view, node):
        # Plugins that could not be read do not count as missing.
        if view.knows_plugins:
            yield _without_gpus(view, node, expected)
    elif node.allocatable < node.capacity:
        cause = Cause.GPUS_PARTLY_UNHEALTHY if node.allocatable else Cause.NO_GPU_ALLOCATABLE
        yield cause, str(node.allocatable), words.unhealthy(node, running)


def _reported(node: Node, expected: Expected) -> Iterator[_Decided]:
    """What AKS reports of a node's GPUs in conditions and labels."""
    for condition, message in node.problems.items():
        if (problem := node_problem(condition)) is not None:
            cause = Cause.GPU_FAULT if problem.is_fault else Cause.GPUS_IMPAIRED
            yield cause, condition, words.reported(problem, condition, message)
    pool = expected.pool(node.pool)
    is_managed = pool is not None and pool.gpu_stack == "managed"
    if is_managed and node.labels.get(DCGM_LABEL[0]) != DCGM_LABEL[1]:
        yield Cause.GPUS_IMPAIRED, "", words.without_metrics()


def _has_two_plugins(node: Node, running: Sequence[Pod], expected: Expected) -> bool:
    pool = expected.pool(node.pool)
    comes_with_node = pool is not None and pool.gpu_stack in plugin_scheduling.OWN_PLUGIN
    has_own = comes_with_node or CONFLICT_CONDITION in node.problems
    return len(running) > 1 or bool(running and has_own)


def _has_lost_its_plugin(view: ClusterView, node: Node) -> bool:
    """Whether a node has pods of plugins, and none runs.

    Its kubelet keeps the capacity for some minutes.
    """
    plugins = view.plugins_on(node)
    return bool(plugins) and not node.allocatable and not any(pod.is_running for pod in plugins)


def _without_gpus(view: ClusterView, node: Node, expected: Expected) -> _Decided:
    """Why a node that is ready has no GPUs in its capacity."""
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if not plugins:
        cause, said = plugin_scheduling.to_node(view, node, expected)
        return cause, said[0], said
    [pod, *_] = running or plugins
    if line := no_driver_line(view, pod):
        return Cause.DRIVER_MISSING, "", words.no_driver(pod, line, expected)
    if running:
        return Cause.NO_GPU_ALLOCATABLE, "", words.no_devices(pod)
    warning = view.plugin_warnings.get(str(pod), "")
    # A pod that only waits has nothing but its phase to say.
    trouble = "" if pod.trouble == "Pending" else pod.trouble
    reason = pod.unplaced or trouble or warning or pod.trouble or "no reason given"
    return Cause.PLUGIN_NOT_RUNNING, reason, _not_running(view, pod, reason)


def _not_running(view: ClusterView, pod: Pod, reason: str) -> Said:
    """Why a plugin does not run."""
    runtime = _NO_RUNTIME.search(reason)
    message = runtime[0] if runtime else ""
    if said := words.half_an_operator(pod, view.operators_parts, message):
        return said
    if runtime:
        is_operators = any(each.is_operators for each in view.daemon_sets)
        return words.no_runtime(pod, runtime[1], message, is_operators=is_operators)
    return words.not_running(pod, reason)


def driver_state(view: ClusterView, node: Node) -> str:
    """The driver's version, or whether it is present: Kubernetes knows only what plugins report."""
    if node.capacity:
        # No device plugin finds a GPU without one.
        return node.driver_version or "present"
    is_missing = any(no_driver_line(view, pod) for pod in view.plugins_on(node))
    return "missing" if is_missing else "unknown"


def plugin_state(view: ClusterView, node: Node, expected: Expected) -> str:
    """Whether a device plugin runs on a node, and whether it is the node's own."""
    if not view.knows_plugins:
        return "unknown"
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if _has_two_plugins(node, running, expected):
        return "TWICE"
    if running:
        return "running"
    if plugins:
        return "not running"
    return "the node's own" if node.capacity else "none"
