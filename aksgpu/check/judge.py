"""What is wrong with a cluster's GPUs, and what to do about it. Nothing here asks anybody."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from aksgpu.check import reach
from aksgpu.check.cluster_view import NODES, PODS, ClusterView, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.plugin_logs import words_of_no_driver
from aksgpu.outcome import Cause, Finding, listed
from catalogue.device_plugin import CONFLICT_CONDITION
from catalogue.kubernetes import is_newer_release

# These may pass by themselves on a cluster that is just coming up.
_PASSING = (
    Cause.NODES_MISSING,
    Cause.NODE_NOT_READY,
    Cause.PLUGIN_NOT_RUNNING,
    Cause.NO_GPU_ALLOCATABLE,
    Cause.POD_PENDING,
)
# Taints that come and go with the state of a node, or with the autoscaler's plans for it.
PASSING_TAINTS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
# What differs between the words of pods that all crash in the same way.
_BACK_OFF = re.compile(r"back-off \S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(view: ClusterView, expected: Expected) -> list[Finding]:
    """All that is to be said of a cluster of which a stack says so much, problems first."""
    if NODES in view.unread:
        return []
    findings = [found for node in view.nodes for found in _of_node(view, node, expected)]
    findings += _of_pools(view, expected)
    findings += _of_the_whole(view, expected)
    findings += _behind(view)
    findings += [unplaced(pod, view, expected) for pod in view.pods if pod.gpus and pod.unplaced]
    return sorted(_each_once(view, findings), key=lambda finding: list(Cause).index(finding.cause))


def result(view: ClusterView | None, findings: Sequence[Finding]) -> Cause:
    """What a cluster comes to in which nothing is wrong."""
    if view is None or any(node.takes_pods and node.allocatable for node in view.nodes):
        return Cause.GPUS_SCHEDULABLE
    if not view.nodes:
        return Cause.NO_NODES_NOW
    return findings[0].cause if findings else Cause.NO_NODES_NOW


def may_pass(findings: Iterable[Finding]) -> bool:
    """Whether another look, some seconds later, may find less."""
    return any(finding.cause in _PASSING for finding in findings)


def empty_pools(view: ClusterView, expected: Expected) -> list[str]:
    there = {node.pool for node in view.nodes}
    return [name for name in expected.names if name not in there]


def unplaced(pod: Pod, view: ClusterView, expected: Expected) -> Finding:
    """A pod without a place, as the scheduler explains it."""
    said = pod.unplaced
    most = [node.capacity for node in view.nodes]
    most += [pool.gpus or pod.gpus for pool in (expected.pools or {}).values()]
    if pod.gpus > max(most, default=pod.gpus):
        said = f"it asks for {pod.gpus} GPUs, and no node has more than {max(most)}"
        advice = "let it ask for fewer, or add a pool of a size with as many"
    elif "untolerated taint" in said:
        advice = "give the pod the tolerations of its pool: the stack's output gpuPools has them"
    elif "Insufficient nvidia.com/" in said:
        advice = "free a GPU, let the pool grow, or see above why its nodes offer none"
    elif "affinity/selector" in said:
        advice = "correct the pod's node selector: the stack's output gpuPools has those of pools"
    else:
        advice = "do what the scheduler says, or take the pod away"
    return Finding(cause=Cause.POD_PENDING, what=f"the pod {pod} is pending: {said}", advice=advice)


def _each_once(view: ClusterView, findings: Iterable[Finding]) -> list[Finding]:
    """Of findings that say the same of several nodes or pools, one that names them all."""
    of_node = {node.name: [str(pod) for pod in view.plugins_on(node)] for node in view.nodes}
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for found in findings:
        what, advice = found.what, found.advice
        # Nodes, and what runs on them, have names of their own.
        for node in found.nodes:
            for name in (node, *of_node.get(node, ()), *_last_parts(of_node.get(node, ()))):
                what, advice = what.replace(name, "*"), advice.replace(name, "*")
        groups.setdefault((found.cause, _BACK_OFF.sub("*", what), advice), []).append(found)
    return [
        replace(
            group[0],
            pool=", ".join(dict.fromkeys(found.pool for found in group if found.pool)) or None,
            nodes=tuple(node for found in group for node in found.nodes),
        )
        for group in groups.values()
    ]


def _last_parts(pods: Iterable[str]) -> list[str]:
    return [pod.rpartition("/")[2] for pod in pods]


def _of_pools(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    """What pools lack that the stack has, or have that it does not."""
    pools = expected.pools or {}
    empty = [pools[name] for name in empty_pools(view, expected)]
    for pool in empty:
        if pool.least:
            yield Finding(
                Cause.NODES_MISSING,
                f"the pool has no nodes, but the stack expects {pool.least}: it is stopped, "
                "deleted or scaled by hand, or its nodes are being created",
                _put_back(expected),
                pool=pool.name,
            )
        if (barrier := reach.to_pool(view, pool, expected)) is not None:
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
            "nothing to do: a pod that asks for a GPU makes AKS add a node, which costs until AKS "
            "takes it away; `aksgpu check --job` runs such a pod"
            if grows
            else "raise the count: AKS does not scale it",
            pool=None if several else names[0],
        )
    for name, nodes in groupby(view.nodes, lambda node: node.pool):
        number = len(list(nodes))
        if expected.pools is not None and name not in pools:
            what = f"its {number} nodes have GPUs, but the stack has no such pool"
            advice = "nothing to do if another stack or team owns the pool"
            yield Finding(Cause.DIFFERS_FROM_STACK, what, advice, pool=name or "(without a name)")
        elif name in pools and (what := _differs_in_count(pools[name], number)):
            yield Finding(
                Cause.DIFFERS_FROM_STACK,
                what,
                f"nothing to do during an upgrade or scaling; else {_put_back(expected)}",
                pool=name,
            )


def _grows(pool: Pool) -> bool:
    return pool.can_grow(0)


def _differs_in_count(pool: Pool, number: int) -> str:
    if pool.least is not None and number < pool.least:
        return f"there are {number} nodes, but the stack expects at least {pool.least}"
    if pool.most is not None and number > pool.most:
        return f"there are {number} nodes, but the stack expects at most {pool.most}"
    return ""


def _differences(node: Node, expected: Expected) -> Iterator[str]:
    """What a node has otherwise than its pool in the stack."""
    pool = expected.pool(node.pool)
    if pool is None:
        return
    if pool.size and node.size and node.size.lower() != pool.size.lower():
        yield f"the node is a {node.size}, but the stack has {pool.size}"
    if pool.gpus and node.capacity and node.capacity != pool.gpus:
        divided = f" with {pool.mig_profile}" * bool(pool.mig_profile)
        yield f"the node has {node.capacity} GPUs, and {pool.size}{divided} has {pool.gpus}"
    own = {taint for taint in node.taints if not taint.key.startswith(PASSING_TAINTS)}
    if pool.taints is not None and (more := own - {*pool.taints}):
        yield f"the node has the taint {listed(map(str, more))}, but the stack does not"
    if pool.taints is not None and (less := {*pool.taints} - own):
        yield f"the node lacks the taint {listed(map(str, less))}, which the stack has"


def _put_back(expected: Expected) -> str:
    return f"`{expected.put_back}` restores what the stack has"


def _of_the_whole(view: ClusterView, expected: Expected) -> Iterator[Finding]:
    if not view.nodes and not expected.pools:
        yield Finding(
            cause=Cause.NO_GPU_POOL,
            what="the cluster has no node with an NVIDIA GPU, and the stack has no GPU pool"
            if expected.pools is not None
            else "the cluster has no node with an NVIDIA GPU",
            advice="add a pool under aks-gpu:gpuPools (a pool at zero nodes is known from its "
            "stack alone: name that with --stack)",
        )
    offering = [node for node in view.nodes if node.takes_pods and node.allocatable]
    if PODS in view.unread or not offering:
        return
    if all(view.used(node) >= node.allocatable for node in offering):
        total = sum(node.allocatable for node in offering)
        yield Finding(
            cause=Cause.GPUS_ALL_USED,
            what=f"{'the only GPU is' if total == 1 else f'all {total} GPUs are'} in use",
            advice="wait for a pod to end, delete one, or raise the pool's count or maxCount",
        )


def _behind(view: ClusterView) -> Iterator[Finding]:
    """The nodes whose Kubernetes is older than the control plane's."""
    behind = sorted(
        (kubelet.pool, kubelet.version, kubelet.node)
        for kubelet in view.kubelets
        if is_newer_release(view.version, kubelet.version)
    )
    pools = [
        f"{pool or '(without a pool)'} has {version} ({listed([row[2] for row in rows])})"
        for (pool, version), rows in groupby(behind, lambda row: row[:2])
    ]
    if pools:
        yield Finding(
            Cause.NODES_BEHIND,
            f"the control plane has Kubernetes {view.version}, and these nodes are older:"
            f"{'; '.join(pools)}",
            "upgrade their pools: a GPU pool by its kubernetesVersion, the system pool with "
            "`az aks nodepool upgrade`",
        )


def _of_node(view: ClusterView, node: Node, expected: Expected) -> Iterator[Finding]:
    def finding(cause: Cause, what: str, advice: str) -> Finding:
        return Finding(cause=cause, pool=node.pool, nodes=(node.name,), what=what, advice=advice)

    if not node.is_ready:
        # All that its pods and its GPUs are not follows from this.
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
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    conflict = node.problems.get(CONFLICT_CONDITION)
    if len(running) > 1 or (running and conflict):
        yield finding(Cause.PLUGIN_TWICE, *_twice(running))
    elif not node.capacity:
        # What is not known to be missing is not.
        if view.knows_plugins:
            yield finding(*_without_gpus(view, node, expected))
    elif node.allocatable < node.capacity:
        all_of_them = not node.allocatable
        yield finding(
            Cause.NO_GPU_ALLOCATABLE if all_of_them else Cause.GPUS_PARTLY_UNHEALTHY,
            f"of {node.capacity} GPUs {node.allocatable or 'none'} can be allocated: the kubelet "
            f"finds the others unhealthy{_in_words(node)}",
            "look for Xid errors in the node's kernel log, and replace the node; on a specialized "
            "image, remove the device-plugin DaemonSet: the image has a plugin already",
        )

    for what in _differences(node, expected):
        advice = f"{_put_back(expected)}; or write it to the stack file, and `pulumi up`"
        yield finding(Cause.DIFFERS_FROM_STACK, what, advice)


def _twice(running: Sequence[Pod]) -> tuple[str, str]:
    names = " and ".join(map(str, running))
    if len(running) == 1:
        return (
            f"two device plugins run: {names}, and one of the node's image",
            "keep the DaemonSet off this node: never install it on the specialized image",
        )
    return (
        f"{len(running)} device plugins run: {names}",
        "keep one and remove the others: the kubelet uses the devices of only one",
    )


def _without_gpus(view: ClusterView, node: Node, expected: Expected) -> tuple[Cause, str, str]:
    """Why a node that is ready knows nothing of GPUs."""
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if not plugins:
        barrier = reach.to_node(view, node, expected)
        return barrier.cause, barrier.what, barrier.advice
    [pod, *_] = running or plugins
    if words := words_of_no_driver(view, pod):
        return (
            Cause.DRIVER_MISSING,
            f"the device plugin {pod} finds no driver: {words}",
            "let AKS install the driver (a pool is made anew for that: gpuProfile.driver "
            "Install, gpuStack: device-plugin), or let the GPU Operator bring one",
        )
    if running:
        return (
            Cause.NO_GPU_ALLOCATABLE,
            f"the device plugin {pod} runs, and the node has no GPUs",
            f"kubectl logs -n {pod.namespace} {pod.name} shows what the plugin found",
        )
    reason = pod.unplaced or pod.trouble or "no reason"
    return (
        Cause.PLUGIN_NOT_RUNNING,
        f"the device plugin {pod} does not run: {reason}",
        f"kubectl describe pod -n {pod.namespace} {pod.name} shows its events",
    )


def _in_words(node: Node) -> str:
    told = "; ".join(f"{kind}: {what}" for kind, what in node.problems.items())
    return f" ({told})" if told else ""


def driver_state(view: ClusterView, node: Node) -> str:
    """What is known of a node's driver: Kubernetes sees it only through the plugin."""
    if node.capacity:
        # No device plugin finds a GPU without one.
        return node.driver_version or "present"
    is_missing = any(words_of_no_driver(view, pod) for pod in view.plugins_on(node))
    return "missing" if is_missing else "unknown"


def plugin_state(view: ClusterView, node: Node) -> str:
    """Whether a device plugin is at work on a node, and whose."""
    if not view.knows_plugins:
        return "unknown"
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if len(running) > 1 or (running and CONFLICT_CONDITION in node.problems):
        return "TWICE"
    if running:
        return "running"
    if plugins:
        return "not running"
    return "the node's own" if node.capacity else "none"
