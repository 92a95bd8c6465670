"""What is wrong with a cluster's GPUs, and what to do about it. Nothing here asks anybody."""

from collections.abc import Iterable, Iterator, Sequence

from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod
from aksgpu.outcome import Cause, Finding
from catalogue.device_plugin import CONFLICT_CONDITION
from catalogue.scheduling import unmet_affinity, unmet_selector, untolerated

# What device plugins, old and new, say where there is no driver.
_NO_DRIVER = (
    "no devices found",
    "incompatible strategy detected",
    "invalid device discovery strategy",
    "could not load nvml",
    "driver not loaded",
    "failed to initialize nvml",
    "incompatible platform detected",
)

# These may pass by themselves on a cluster that is just coming up.
_PASSING = (
    Cause.NODE_NOT_READY,
    Cause.PLUGIN_NOT_RUNNING,
    Cause.NO_GPU_ALLOCATABLE,
    Cause.POD_PENDING,
)


def judge(view: ClusterView, pools: Sequence[str]) -> list[Finding]:
    """All that is to be said of a cluster with these GPU pools, problems first."""
    findings = [found for node in view.nodes for found in _of_node(view, node)]
    findings += _of_the_whole(view, pools)
    findings += [unplaced(pod) for pod in view.pods if pod.gpus and pod.unplaced]
    return sorted(findings, key=lambda finding: list(Cause).index(finding.cause))


def has_room(view: ClusterView, pools: Sequence[str]) -> bool:
    """Whether a job that asks for a GPU may get one: from a node, or from a pool that can grow."""
    offered = any(node.allocatable for node in view.nodes if node.takes_pods)
    return offered or bool(empty_pools(view, pools))


def may_pass(findings: Iterable[Finding]) -> bool:
    """Whether another look, some seconds later, may find less."""
    return any(finding.cause in _PASSING for finding in findings)


def empty_pools(view: ClusterView, pools: Sequence[str]) -> list[str]:
    return [pool for pool in pools if all(node.pool != pool for node in view.nodes)]


def unplaced(pod: Pod) -> Finding:
    """A pod without a place, as the scheduler explains it."""
    said = pod.unplaced
    if "untolerated taint" in said:
        advice = "give the pod the tolerations of its pool: the stack's output gpuPools has them"
    elif "Insufficient nvidia.com/" in said:
        advice = "free a GPU, let the pool grow, or see above why its nodes offer none"
    elif "affinity/selector" in said:
        advice = "correct the pod's node selector: the stack's output gpuPools has those of pools"
    else:
        advice = "do what the scheduler says, or take the pod away"
    return Finding(cause=Cause.POD_PENDING, what=f"the pod {pod} is pending: {said}", advice=advice)


def _of_the_whole(view: ClusterView, pools: Sequence[str]) -> Iterator[Finding]:
    for pool in empty_pools(view, pools):
        yield Finding(
            cause=Cause.POOL_AT_ZERO,
            pool=pool,
            what="the pool has no nodes now",
            advice="nothing to do where it scales by itself: a pod that asks for a GPU makes it "
            "grow; else raise its count",
        )
    if not view.nodes and not pools:
        yield Finding(
            cause=Cause.NO_GPU_POOL,
            what="the cluster has no node with an NVIDIA GPU, and the stack has no GPU pool",
            advice="add a pool under aks-gpu:gpuPools (a pool at zero nodes is known from its "
            "stack alone: name that with --stack)",
        )
    offering = [node for node in view.nodes if node.takes_pods and node.allocatable]
    if offering and all(view.used(node) >= node.allocatable for node in offering):
        total = sum(node.allocatable for node in offering)
        yield Finding(
            cause=Cause.GPUS_ALL_USED,
            what=f"{'the only GPU is' if total == 1 else f'all {total} GPUs are'} in use",
            advice="wait until work ends, end some, or raise the pool's count or maxCount",
        )


def _of_node(view: ClusterView, node: Node) -> Iterator[Finding]:
    def finding(cause: Cause, what: str, advice: str) -> Finding:
        return Finding(cause=cause, pool=node.pool, node=node.name, what=what, advice=advice)

    if not node.is_ready:
        # All that its pods and its GPUs are not follows from this.
        yield finding(
            Cause.NODE_NOT_READY,
            f"the node is not ready ({node.reason or 'it does not say why'})",
            "a new node takes some minutes; else look at the virtual machine, and reimage it",
        )
        return
    if node.is_cordoned:
        yield finding(
            Cause.NODE_CORDONED,
            "the node is cordoned: no new pod gets there",
            f"nothing to do during an upgrade or scale-down; else: kubectl uncordon {node.name}",
        )
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    conflict = node.problems.get(CONFLICT_CONDITION)
    if len(running) > 1 or (running and conflict):
        yield finding(Cause.PLUGIN_TWICE, *_twice(running))
    elif not node.capacity:
        yield finding(*_without_gpus(view, node, plugins, running))
    elif node.allocatable < node.capacity:
        all_of_them = not node.allocatable
        yield finding(
            Cause.NO_GPU_ALLOCATABLE if all_of_them else Cause.GPUS_PARTLY_UNHEALTHY,
            f"of {node.capacity} GPUs {node.allocatable or 'none'} can be allocated: the kubelet "
            f"finds the others unhealthy{_in_words(node)}",
            "look for Xid errors in the node's kernel log, and replace the node; on a specialised "
            "image, remove the device-plugin DaemonSet: the image has a plugin already",
        )


def _twice(running: Sequence[Pod]) -> tuple[str, str]:
    names = " and ".join(map(str, running))
    if len(running) == 1:
        return (
            f"two device plugins are at work: {names}, and one that the node brings itself",
            "keep the DaemonSet off this node: never install it on the specialised image",
        )
    return (
        f"{len(running)} device plugins are at work: {names}",
        "keep one of them, and remove the other: the kubelet takes the devices of one alone",
    )


def _without_gpus(
    view: ClusterView, node: Node, plugins: Sequence[Pod], running: Sequence[Pod]
) -> tuple[Cause, str, str]:
    """Why a node that is ready knows nothing of GPUs."""
    if plugins:
        [pod, *_] = running or plugins
        if words := _words_of_no_driver(view, pod):
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
                f"kubectl logs -n {pod.namespace} {pod.name} says what the plugin found",
            )
        reason = pod.unplaced or pod.trouble or "no reason"
        return (
            Cause.PLUGIN_NOT_RUNNING,
            f"the device plugin {pod} does not run: {reason}",
            f"kubectl describe pod -n {pod.namespace} {pod.name} has its events",
        )
    if not view.daemon_sets:
        return (
            Cause.PLUGIN_MISSING,
            "there is no device plugin in this cluster",
            "bring one: aks-gpu:gpuStack: device-plugin, then pulumi up; or the GPU Operator",
        )
    # Of several, the one that comes nearest tells most.
    reasons = [_kept_away(daemon_set, node) for daemon_set in view.daemon_sets]
    what, advice = min(reasons, key=lambda reason: reason[2])[:2]
    return Cause.PLUGIN_MISSING, what, advice


def _kept_away(daemon_set: DaemonSet, node: Node) -> tuple[str, str, int]:
    """What keeps a DaemonSet's pods off a node, what to do, and how far from it they are."""
    before = f"no pod of {daemon_set} gets to this node because of"
    if selector := ", ".join(unmet_selector(daemon_set.pods, node.labels.get)):
        what = f"{before} its node selector: the node is not {selector}"
        return what, "drop the selector from the DaemonSet, or label the pool so", 2
    if affinity := unmet_affinity(daemon_set.pods, node.labels.get, node.name):
        what = f"{before} its node affinity: it asks for {'; or '.join(affinity)}"
        advice = (
            "right where the node's image or an operator brings the plugin, which then is not at "
            "work; else set the pool's gpuStack to device-plugin"
        )
        return what, advice, 2
    if taints := untolerated(daemon_set.pods, node.taints):
        several = "the taints" if len(taints) > 1 else "the taint"
        what = f"{before} {several} {', '.join(map(str, taints))}"
        return what, "let the DaemonSet tolerate what the pool is tainted with", 1
    what = f"{daemon_set} has no pod on this node, though nothing keeps it away"
    return what, "it may be about to come; else look at the DaemonSet's events", 0


def _words_of_no_driver(view: ClusterView, plugin: Pod) -> str:
    """The line in which a plugin tells that there is no driver; empty if there is none."""
    for line in view.plugin_logs.get(str(plugin), "").splitlines():
        if any(words in line.lower() for words in _NO_DRIVER):
            return line.strip()
    return ""


def _in_words(node: Node) -> str:
    told = "; ".join(f"{kind}: {what}" for kind, what in node.problems.items())
    return f" ({told})" if told else ""


def driver_state(view: ClusterView, node: Node) -> str:
    """What is known of a node's driver: Kubernetes sees it only through the plugin."""
    if node.capacity:
        # No device plugin finds a GPU without one.
        return node.driver_version or "present"
    is_missing = any(_words_of_no_driver(view, pod) for pod in view.plugins_on(node))
    return "missing" if is_missing else "unknown"


def plugin_state(view: ClusterView, node: Node) -> str:
    """Whether a device plugin is at work on a node, and whose."""
    plugins = view.plugins_on(node)
    running = [pod for pod in plugins if pod.is_running]
    if len(running) > 1 or (running and CONFLICT_CONDITION in node.problems):
        return "TWICE"
    if running:
        return "running"
    if plugins:
        return "not running"
    return "the node's own" if node.capacity else "none"
