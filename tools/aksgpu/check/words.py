"""What a check says of what it has decided: each time what is wrong, and what to do about it."""

from collections.abc import Mapping, Sequence

from aks_catalogue.gpu_operator import AKS_RUNTIME, DRIVER_PART, TOOLKIT_PART
from aks_catalogue.node_problems import XID_ADVICE, NodeProblem
from aks_catalogue.nodes import DCGM_LABEL
from aks_catalogue.scheduling import Taint
from aksgpu.check.cluster_view import DaemonSet, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import listed

Said = tuple[str, str]

_MINUTES = "a new node takes some minutes"
_ONE_OWNER = (
    "let one of both install driver and container toolkit. AKS: set driver.enabled and "
    "toolkit.enabled of the GPU Operator's chart to false, and operator.runtimeClass to "
    f"{AKS_RUNTIME}. The operator: set gpuProfile.driver of the pool to None, and both to true"
)
# Why a GPU Operator that installs only one of driver and toolkit starts no other operand.
_HALVES: Mapping[frozenset[str], str] = {
    frozenset({DRIVER_PART}): (
        "the GPU Operator installs the driver, but not the container toolkit that belongs to it"
    ),
    frozenset({TOOLKIT_PART}): (
        "the GPU Operator installs the container toolkit, but not the driver it belongs to"
    ),
}


def nodes_missing(pool: Pool, expected: Expected) -> Said:
    return (
        f"the pool has no nodes, but the stack expects {pool.least}: it is stopped, deleted or "
        "scaled by hand, or its nodes are being created",
        f"`{expected.restoring_command}` restores what the stack has",
    )


def at_zero(names: Sequence[str], *, grows: bool) -> Said:
    what = "the pool has" if len(names) == 1 else f"the pools {listed(names)} have"
    if not grows:
        return f"{what} no nodes now", "raise the count: AKS does not scale it"
    return (
        f"{what} no nodes now",
        "nothing to do: a pod that requests a GPU makes AKS add a node, which costs until AKS "
        "removes it; `aksgpu check --job` runs such a pod",
    )


def no_gpu_pool(expected: Expected) -> Said:
    what, add = "the cluster has no node with an NVIDIA GPU", "add a pool with a size that has GPUs"
    if expected.pools is None:
        only = "only its stack shows a pool with zero nodes: name the stack with --stack"
        return what, f"{add} ({only})"
    ours = expected.advice("add a pool under aks-gpu:gpuPools", add)
    return f"{what}, and the stack has no pool of them", ours


def all_used(total: int, reasons: Mapping[str, str]) -> Said:
    what = f"{'the only GPU is' if total == 1 else f'all {total} GPUs are'} in use"
    if reasons:
        pools = ", ".join(f"{pool} ({why})" for pool, why in reasons.items())
        what += f", and no pool grows: {pools}"
    return what, "wait for a pod to end, delete one, or raise the pool's count or maxCount"


def not_ready(node: Node) -> Said:
    what = f"the node is not ready ({node.reason or 'no reason given'})"
    return what, f"{_MINUTES}; else look at the virtual machine, and reimage it"


def cordoned(node: Node) -> Said:
    what, undo = "the node is cordoned: no new pod is scheduled on it", "kubectl uncordon"
    return what, f"nothing to do during an upgrade or scale-down; else: {undo} {node.name}"


def reported(problem: NodeProblem, condition: str, message: str) -> Said:
    return f"{problem.meaning} ({condition}: {message or 'no message'})", problem.advice


def without_metrics() -> Said:
    label = "=".join(DCGM_LABEL)
    what = f"AKS manages its GPUs, but the node lacks the label {label}: it has no GPU metrics"
    return what, f"{_MINUTES}; else reimage the node"


def two_plugins(running: Sequence[Pod]) -> Said:
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


def unhealthy(node: Node, running: Sequence[Pod]) -> Said:
    conditions = "; ".join(f"{kind}: {what}" for kind, what in node.problems.items())
    commands = [f"kubectl delete pod -n {pod.namespace} {pod.name}" for pod in running]
    restart = "; ".join(commands) or "restart the node's plugin"
    return (
        f"{node.allocatable or 'none'} of {node.capacity} GPUs can be allocated: the kubelet "
        f"reports the others as unhealthy{f' ({conditions})' if conditions else ''}",
        f"{XID_ADVICE}. A plugin never takes a GPU back by itself; once the GPU is well again: "
        f"{restart}. On a specialized image, remove the device-plugin DaemonSet: the image has a "
        "plugin already",
    )


def no_driver(pod: Pod, line: str, expected: Expected) -> Said:
    ours = expected.advice("gpuStack: device-plugin, or ", "")
    return (
        f"the device plugin {pod} finds no driver: {line}",
        f"let AKS install the driver ({ours}gpuProfile.driver: Install, which replaces the pool), "
        "or let the GPU Operator install one",
    )


def no_devices(pod: Pod) -> Said:
    what = f"the device plugin {pod} runs, but the node has no GPUs"
    return what, f"kubectl logs -n {pod.namespace} {pod.name} shows what the plugin found"


def not_running(pod: Pod, reason: str) -> Said:
    what = f"the device plugin {pod} does not run: {reason}"
    return what, f"kubectl describe pod -n {pod.namespace} {pod.name} shows its events"


def half_an_operator(pod: Pod, parts: frozenset[str], runtime: str) -> Said | None:
    """None if the GPU Operator installs both parts, or none."""
    if parts not in _HALVES:
        return None
    said = f" ({runtime})" if runtime else ""
    return f"the device plugin {pod} does not run: {_HALVES[parts]}{said}", _ONE_OWNER


def no_runtime(pod: Pod, name: str, message: str, *, is_operators: bool) -> Said:
    advice = f"AKS's own is called {AKS_RUNTIME}: correct or remove the runtimeClassName of the "
    return (
        f"the device plugin {pod} does not run: the node has no container runtime {name} "
        f"({message})",
        _ONE_OWNER if is_operators else f"{advice}DaemonSet",
    )


def pending(reason: str, expected: Expected) -> str:
    """What to do about a pod for which no node comes, by the scheduler's words."""
    if "untolerated taint" in reason:
        has = expected.advice(": the stack's output gpuPools has them", "")
        return f"give the pod the tolerations of its pool{has}"
    if "Insufficient nvidia.com/" in reason:
        return "free a GPU, let the pool grow, or see above why its nodes offer none"
    if "affinity/selector" in reason:
        has = expected.advice(": the stack's output gpuPools has one", "")
        return f"correct the pod's node selector{has}"
    return "do what the scheduler says, or delete the pod"


def no_pod_yet(daemon_sets: Sequence[DaemonSet]) -> Said:
    names = " or ".join(map(str, daemon_sets))
    return (
        f"{names} can run on this node, but has no pod there",
        "look at the events of the DaemonSet: kubectl describe daemonset shows them",
    )


def own_plugin_missing(gpu_stack: str, expected: Expected) -> Said:
    whose = expected.advice(f"gpuStack {gpu_stack}", "the node")
    return (
        f"the device plugin that comes with {whose} does not run",
        f"{_MINUTES}; else reimage the node, and read its kubelet's log",
    )


def left_out(expected: Expected) -> Said:
    left = expected.advice("its gpuStack is none", "AKS installs no driver on it")
    change = expected.advice(
        "set its gpuStack to device-plugin", "let AKS install the driver, and add a plugin"
    )
    return (
        f"{left}, and the cluster has no device plugin for it",
        "nothing to do if the GPU Operator, or something else, will install driver and device "
        f"plugin; otherwise {change}",
    )


def no_plugin(gpu_stack: str, expected: Expected) -> Said:
    what = "the cluster has no device plugin"
    if gpu_stack == "operator":
        return (
            f"{what}: the GPU Operator has not created its DaemonSets",
            "a new operator takes some minutes; else `kubectl get clusterpolicies`, and read the "
            "log of the operator's pod",
        )
    if gpu_stack == "device-plugin":
        names = " and ".join(sorted(expected.plugins))
        restoring = f"restore it: `{expected.restoring_command}`"
        return f"{what}: {names} of the stack was deleted", restoring
    return what, expected.advice(
        "for a pool with gpuStack device-plugin `pulumi up` installs it: did the last update "
        "finish? Or install the GPU Operator",
        "install NVIDIA's device plugin, or the GPU Operator",
    )


def operator_kept_away(daemon_set: DaemonSet, taints: Sequence[Taint]) -> Said:
    return (
        f"{_away(daemon_set)} the taints {', '.join(map(str, taints))}",
        "add tolerations to daemonsets.tolerations and "
        "node-feature-discovery.worker.tolerations of the GPU Operator's chart",
    )


def kept_away(
    daemon_set: DaemonSet,
    selector: Sequence[str],
    affinity: Sequence[str],
    taints: Sequence[Taint],
    expected: Expected,
) -> Said:
    """What keeps pods of a DaemonSet away, in the order of what has to change first."""
    if selector:
        what = f"its node selector: the node is not {', '.join(selector)}"
        advice = "remove the selector from the DaemonSet, or add the label to the pool"
    elif affinity:
        what = f"its node affinity: it requires {'; or '.join(affinity)}"
        change = expected.advice(
            "set the pool's gpuStack to device-plugin", "change the affinity of the DaemonSet"
        )
        advice = (
            "nothing to do if the node's image or an operator brings the plugin, which does not "
            f"run yet; otherwise {change}"
        )
    else:
        noun = "the taints" if len(taints) > 1 else "the taint"
        what = f"{noun} {', '.join(map(str, taints))}"
        advice = "add a toleration for the taint to the DaemonSet"
    return f"{_away(daemon_set)} {what}", advice


def restore(expected: Expected) -> str:
    command = expected.restoring_command
    return f"the DaemonSet or the pool differs from the stack: `{command}` restores it"


def _away(daemon_set: DaemonSet) -> str:
    return f"no pod of {daemon_set} is scheduled there because of"
