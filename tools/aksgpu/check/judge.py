"""What is wrong with a cluster's GPUs, and what to do about it. No I/O here."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from aks_catalogue.device_plugin import CONFLICT_CONDITION
from aks_catalogue.gpu_operator import AKS_RUNTIME, DRIVER_PART, TOOLKIT_PART
from aks_catalogue.node_problems import XID_ADVICE, node_problem, vm_event
from aks_catalogue.nodes import DCGM_LABEL
from aksgpu.check import plugin_scheduling, waiting
from aksgpu.check.cluster_view import NODES, PODS, ClusterView, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.plugin_logs import no_driver_line
from aksgpu.outcome import Cause, Finding, listed

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
_ONE_OWNER = (
    "let one of both install driver and container toolkit. AKS: set driver.enabled and "
    "toolkit.enabled of the GPU Operator's chart to false, and operator.runtimeClass to "
    f"{AKS_RUNTIME}. The operator: set gpuProfile.driver of the pool to None, and both to true"
)
# What differs between the messages of pods that all crash for the same reason.
_BACK_OFF = re.compile(r"back-off \S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(view: ClusterView, expected: Expected) -> list[Finding]:
    """All findings on a cluster, compared with its stack; problems first."""
    if NODES in view.unread:
        return []
    findings = [finding for node in view.nodes for finding in _of_node(view, node, expected)]
    findings += _of_pools(view, expected)
    findings += _of_cluster(view, expected)
    findings += [unplaced(pod, view, expected) for pod in view.pods if pod.gpus and pod.unplaced]
    return sorted(_grouped(view, findings), key=lambda finding: list(Cause).index(finding.cause))


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
    reason = pod.unplaced
    per_node = [node.capacity for node in view.nodes]
    per_node += [pool.gpus or pod.gpus for pool in (expected.pools or {}).values()]
    if pod.gpus > max(per_node, default=pod.gpus):
        reason = f"it requests {pod.gpus} GPUs, and no node has more than {max(per_node)}"
        advice = "request fewer, or add a pool with a VM size that has as many"
    elif waiting.node_comes(pod.spec, pod.gpus, view, expected):
        advice = "nothing to do: AKS adds a node for it"
    elif "untolerated taint" in reason:
        advice = "give the pod the tolerations of its pool"
        advice += expected.advice(": the stack's output gpuPools has them", "")
    elif "Insufficient nvidia.com/" in reason:
        advice = "free a GPU, let the pool grow, or see above why its nodes offer none"
    elif "affinity/selector" in reason:
        advice = "correct the pod's node selector"
        advice += expected.advice(": the stack's output gpuPools has one", "")
    else:
        advice = "do what the scheduler says, or delete the pod"
    pending = f"the pod {pod} is pending: {reason}"
    what = waiting.told(pending, pod.spec, pod.gpus, view, expected)
    return Finding(cause=Cause.POD_PENDING, what=what, advice=advice)


def _grouped(view: ClusterView, findings: Iterable[Finding]) -> list[Finding]:
    """One finding for all nodes and pools with the same cause, text and advice."""
    plugins_by_node = {node.name: view.plugins_on(node) for node in view.nodes}
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        what, advice = finding.what, finding.advice
        # Texts that differ only by the name of the node or its plugin are the same.
        for node in finding.nodes:
            plugins = plugins_by_node.get(node, ())
            for name in (node, *map(str, plugins), *(pod.name for pod in plugins)):
                what, advice = what.replace(name, "*"), advice.replace(name, "*")
        groups.setdefault((finding.cause, _BACK_OFF.sub("*", what), advice), []).append(finding)
    return [
        replace(
            group[0],
            pool=", ".join(dict.fromkeys(f.pool for f in group if f.pool)) or None,
            nodes=tuple(node for finding in group for node in finding.nodes),
        )
        for group in groups.values()
    ]


def _of_pools(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    """Pools of the stack that have no nodes."""
    pools = expected.pools or {}
    empty = [pools[name] for name in empty_pools(view, expected)]
    for pool in empty:
        if pool.least:
            yield Finding(
                Cause.NODES_MISSING,
                f"the pool has no nodes, but the stack expects {pool.least}: it is stopped, "
                "deleted or scaled by hand, or its nodes are being created",
                _restore_advice(expected),
                pool=pool.name,
            )
        if (barrier := plugin_scheduling.to_pool(view, pool, expected)) is not None:
            yield Finding(barrier.cause, barrier.what, barrier.advice, pool=pool.name)
    at_zero = [pool for pool in empty if not pool.least]
    for grows, group in groupby(sorted(at_zero, key=_grows), _grows):
        names = [pool.name for pool in group]
        several = len(names) > 1
        yield Finding(
            Cause.POOL_AT_ZERO,
            f"the pools {listed(names)} have no nodes now"
            if several
            else "the pool has no nodes now",
            "nothing to do: a pod that requests a GPU makes AKS add a node, which costs until AKS "
            "removes it; `aksgpu check --job` runs such a pod"
            if grows
            else "raise the count: AKS does not scale it",
            pool=None if several else names[0],
        )


def _grows(pool: Pool) -> bool:
    return pool.can_grow(0)


def _restore_advice(expected: Expected) -> str:
    return f"`{expected.restoring_command}` restores what the stack has"


def _of_cluster(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    if not view.nodes and not expected.pools:
        yield Finding(
            cause=Cause.NO_GPU_POOL,
            what="the cluster has no node with an NVIDIA GPU, and the stack has no pool of them"
            if expected.pools is not None
            else "the cluster has no node with an NVIDIA GPU",
            advice=expected.advice(
                "add a pool under aks-gpu:gpuPools", "add a pool with a size that has GPUs"
            )
            if expected.pools is not None
            else "add a pool with a size that has GPUs (only its stack shows a pool with zero "
            "nodes: name the stack with --stack)",
        )
    offering = [node for node in view.nodes if node.takes_pods and node.allocatable]
    if PODS in view.unread or not offering:
        return
    scaled = [pool for pool in (expected.pools or {}).values() if pool.is_scaled]
    reasons = [(pool.name, waiting.barred(pool, view)) for pool in scaled]
    is_full = all(view.used(node) >= node.allocatable for node in offering)
    if is_full and all(why for _, why in reasons):
        total = sum(node.allocatable for node in offering)
        what = f"{'the only GPU is' if total == 1 else f'all {total} GPUs are'} in use"
        if reasons:
            what += f", and no pool grows: {', '.join(f'{name} ({why})' for name, why in reasons)}"
        advice = "wait for a pod to end, delete one, or raise the pool's count or maxCount"
        yield Finding(Cause.GPUS_ALL_USED, what, advice)


def _of_node(view: ClusterView, node: Node, expected: Expected) -> Iterator[Finding]:
    announced = vm_event(node.problems)
    if announced is not None:
        kind, event = announced
        what = f"{event.meaning} ({kind}: {node.problems[kind]})"
        yield Finding(Cause.NODE_GOES, what, event.advice, pool=node.pool, nodes=(node.name,))
        if event.is_fault and not node.takes_pods:
            # That explains it, also that it is cordoned.
            return
    yield from _of_its_gpus(view, node, expected)


def _of_its_gpus(view: ClusterView, node: Node, expected: Expected) -> Iterator[Finding]:
    def finding(cause: Cause, what: str, advice: str) -> Finding:
        return Finding(cause=cause, pool=node.pool, nodes=(node.name,), what=what, advice=advice)

    if not node.is_ready:
        # This explains whatever is wrong with its pods and GPUs.
        yield finding(
            Cause.NODE_NOT_READY,
            f"the node is not ready ({node.reason or 'no reason given'})",
            "a new node takes some minutes; else look at the virtual machine, and reimage it",
        )
        return
    if node.is_cordoned:
        yield finding(
            Cause.NODE_CORDONED,
            "the node is cordoned: no new pod is scheduled on it",
            f"nothing to do during an upgrade or scale-down; else: kubectl uncordon {node.name}",
        )
    running = [pod for pod in view.plugins_on(node) if pod.is_running]
    for reported in _reported(node, expected):
        yield finding(*reported)
    if _has_two_plugins(node, running, expected):
        yield finding(Cause.PLUGIN_TWICE, *_two_plugins(running))
    elif not node.capacity or _has_lost_its_plugin(view, node):
        # Plugins that could not be read do not count as missing.
        if view.knows_plugins:
            yield finding(*_without_gpus(view, node, expected))
    elif node.allocatable < node.capacity:
        yield finding(
            Cause.GPUS_PARTLY_UNHEALTHY if node.allocatable else Cause.NO_GPU_ALLOCATABLE,
            f"{node.allocatable or 'none'} of {node.capacity} GPUs can be allocated: the kubelet "
            f"reports the others as unhealthy{_conditions_text(node)}",
            f"{XID_ADVICE}. A plugin never takes a GPU back by itself; once the GPU is well again: "
            f"{_restart(running)}. On a specialized image, remove the device-plugin DaemonSet: the "
            "image has a plugin already",
        )


def _restart(plugins: Sequence[Pod]) -> str:
    commands = [f"kubectl delete pod -n {pod.namespace} {pod.name}" for pod in plugins]
    return "; ".join(commands) or "restart the node's plugin"


def _reported(node: Node, expected: Expected) -> Iterator[tuple[Cause, str, str]]:
    """What AKS reports of a node's GPUs in conditions and labels."""
    for condition, message in node.problems.items():
        if (problem := node_problem(condition)) is not None:
            yield (
                Cause.GPU_FAULT if problem.is_fault else Cause.GPUS_IMPAIRED,
                f"{problem.meaning} ({condition}: {message or 'no message'})",
                problem.advice,
            )
    if _is_managed(node, expected) and node.labels.get(DCGM_LABEL[0]) != DCGM_LABEL[1]:
        yield (
            Cause.GPUS_IMPAIRED,
            f"AKS manages its GPUs, but the node lacks the label {'='.join(DCGM_LABEL)}: it has no "
            "GPU metrics",
            "a new node takes some minutes; else reimage the node",
        )


def _is_managed(node: Node, expected: Expected) -> bool:
    pool = expected.pool(node.pool)
    return pool is not None and pool.gpu_stack == "managed"


def _has_two_plugins(node: Node, running: Sequence[Pod], expected: Expected) -> bool:
    pool = expected.pool(node.pool)
    comes_with_node = pool is not None and pool.gpu_stack in plugin_scheduling.OWN_PLUGIN
    has_own = comes_with_node or CONFLICT_CONDITION in node.problems
    return len(running) > 1 or bool(running and has_own)


def _two_plugins(running: Sequence[Pod]) -> tuple[str, str]:
    names = " and ".join(map(str, running))
    if len(running) == 1:
        return (
            f"two device plugins run: {names}, and the one that comes with the node",
            "keep the DaemonSet off this node: never install it on the specialized image, or where "
            "AKS manages the GPUs",
        )
    return (
        f"{len(running)} device plugins run: {names}",
        "keep one and remove the others: the kubelet uses the devices of only one",
    )


def _has_lost_its_plugin(view: ClusterView, node: Node) -> bool:
    """Whether a node has pods of plugins, and none runs.

    Its kubelet keeps the capacity for some minutes.
    """
    plugins = view.plugins_on(node)
    return bool(plugins) and not node.allocatable and not any(pod.is_running for pod in plugins)


def _without_gpus(view: ClusterView, node: Node, expected: Expected) -> tuple[Cause, str, str]:
    """Why a node that is ready has no GPUs in its capacity."""
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if not plugins:
        barrier = plugin_scheduling.to_node(view, node, expected)
        return barrier.cause, barrier.what, barrier.advice
    [pod, *_] = running or plugins
    if line := no_driver_line(view, pod):
        return (
            Cause.DRIVER_MISSING,
            f"the device plugin {pod} finds no driver: {line}",
            f"let AKS install the driver ({expected.advice('gpuStack: device-plugin, or ', '')}"
            "gpuProfile.driver: Install, which replaces the pool), or let the GPU Operator install "
            "one",
        )
    if running:
        return (
            Cause.NO_GPU_ALLOCATABLE,
            f"the device plugin {pod} runs, but the node has no GPUs",
            f"kubectl logs -n {pod.namespace} {pod.name} shows what the plugin found",
        )
    warning = view.plugin_warnings.get(str(pod), "")
    # A pod that only waits has nothing but its phase to say.
    trouble = "" if pod.trouble == "Pending" else pod.trouble
    reason = pod.unplaced or trouble or warning or pod.trouble or "no reason given"
    runtime = _NO_RUNTIME.search(reason)
    if mixture := _operators_mixture(view):
        return (
            Cause.PLUGIN_NOT_RUNNING,
            f"the device plugin {pod} does not run: {mixture}"
            + (f" ({runtime[0]})" if runtime else ""),
            _ONE_OWNER,
        )
    if runtime:
        return (
            Cause.PLUGIN_NOT_RUNNING,
            f"the device plugin {pod} does not run: the node has no container runtime {runtime[1]} "
            f"({runtime[0]})",
            _ONE_OWNER
            if any(each.is_operators for each in view.daemon_sets)
            else f"AKS's own is called {AKS_RUNTIME}: correct or remove the runtimeClassName of "
            "the DaemonSet",
        )
    return (
        Cause.PLUGIN_NOT_RUNNING,
        f"the device plugin {pod} does not run: {reason}",
        f"kubectl describe pod -n {pod.namespace} {pod.name} shows its events",
    )


def _operators_mixture(view: ClusterView) -> str:
    """Why a GPU Operator that installs only one of driver and toolkit starts no other operand."""
    if view.operators_parts == {DRIVER_PART}:
        return (
            "the GPU Operator installs the driver, but not the container toolkit that belongs to it"
        )
    if view.operators_parts == {TOOLKIT_PART}:
        return "the GPU Operator installs the container toolkit, but not the driver it belongs to"
    return ""


def _conditions_text(node: Node) -> str:
    conditions = "; ".join(f"{kind}: {what}" for kind, what in node.problems.items())
    return f" ({conditions})" if conditions else ""


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
