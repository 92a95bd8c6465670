"""A cluster as the check sees it: nodes, pods and DaemonSets, out of what the API server sends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue import sizes
from catalogue.device_plugin import GPU, PREFIX, is_plugin
from catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL
from catalogue.scheduling import Spec, Taint, affinity_terms
from kube.objects import conditions

Json = Mapping[str, Any]

# What partitions and shares of GPUs are called, where the plugin is told to name them.
_GPU_PREFIXES = (f"{PREFIX}mig-", f"{GPU}.")
# Where NVIDIA's feature discovery notes the driver's version.
_DRIVER_LABELS = ("nvidia.com/cuda.driver-version.full", "nvidia.com/gpu.driver-version")
# What the DaemonSet controller lets the pods of every DaemonSet tolerate.
_STATES = "not-ready unreachable disk-pressure memory-pressure pid-pressure unschedulable"
_OF_DAEMONS = [
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists"} for state in _STATES.split()
]
_NOT_IN_TROUBLE = (None, "ContainerCreating", "PodInitializing")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node that has, or should have, NVIDIA GPUs."""

    name: str
    pool: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    is_ready: bool = True
    # Why it is not ready, in its own words.
    reason: str = ""
    is_cordoned: bool = False
    capacity: int = 0
    allocatable: int = 0
    driver_version: str | None = None
    # Conditions that say something is wrong, by type.
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def takes_pods(self) -> bool:
        return self.is_ready and not self.is_cordoned


@dataclass(frozen=True, kw_only=True)
class _Namespaced:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Pod(_Namespaced):
    """A pod that matters: a device plugin, or one that asks for GPUs."""

    # Where it is, or, for the pod of a DaemonSet, where it shall be.
    node: str | None = None
    # The container that is a device plugin, if one is.
    plugin: str = ""
    is_running: bool = False
    is_over: bool = False
    gpus: int = 0
    # Why it does not run, as far as anybody says.
    trouble: str = ""
    # The scheduler's words for a pod that it has no place for.
    unplaced: str = ""

    @property
    def is_plugin(self) -> bool:
        return bool(self.plugin)


@dataclass(frozen=True, kw_only=True)
class DaemonSet(_Namespaced):
    """One that brings device plugins."""

    # What its pods say of the nodes that they land on.
    pods: Spec = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClusterView:
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    # The end of the log of each plugin on a node that knows of no GPUs, by namespace and name.
    plugin_logs: Mapping[str, str] = field(default_factory=dict)

    def plugins_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self.pods if pod.is_plugin and pod.node == node.name]

    def used(self, node: Node) -> int:
        """How many of a node's GPUs are taken."""
        return sum(pod.gpus for pod in self.pods if pod.node == node.name and not pod.is_over)


def nodes(items: Iterable[Json], pools: Iterable[str]) -> tuple[Node, ...]:
    """Those of the pools, and all others that have to do with NVIDIA GPUs."""
    named = frozenset(pools)
    found = [_node(item) for item in items if _is_gpu_node(item, named)]
    return tuple(sorted(found, key=lambda node: (node.pool, node.name)))


def pods(items: Iterable[Json]) -> tuple[Pod, ...]:
    """Those that matter of all pods."""
    found = (_pod(item) for item in items if not item["metadata"].get("deletionTimestamp"))
    return tuple(pod for pod in found if pod.is_plugin or pod.gpus)


def daemon_sets(items: Iterable[Json]) -> tuple[DaemonSet, ...]:
    """Those that bring device plugins."""
    return tuple(
        DaemonSet(
            namespace=item["metadata"]["namespace"],
            name=item["metadata"]["name"],
            pods={**spec, "tolerations": [*(spec.get("tolerations") or ()), *_OF_DAEMONS]},
        )
        for item in items
        if _plugins_of(spec := item["spec"]["template"]["spec"])
    )


def _is_gpu_node(item: Json, pools: frozenset[str]) -> bool:
    labels = item["metadata"].get("labels") or {}
    label, nvidia = ACCELERATOR_LABEL
    size = sizes.find(labels.get("node.kubernetes.io/instance-type", ""))
    return (
        labels.get(POOL_LABEL) in pools
        or labels.get(label) == nvidia
        or (size is not None and size.is_nvidia)
        or _gpus(item["status"].get("capacity")) > 0
    )


def _node(item: Json) -> Node:
    metadata, spec, status = item["metadata"], item["spec"], item["status"]
    labels = metadata.get("labels") or {}
    known = conditions(item)
    ready = known.get("Ready", {"status": "Unknown", "reason": "it has never reported"})
    return Node(
        name=metadata["name"],
        pool=labels.get(POOL_LABEL, ""),
        labels=labels,
        taints=tuple(map(Taint.of, spec.get("taints") or ())),
        is_ready=ready["status"] == "True",
        reason=_joined(ready.get("reason"), ready.get("message")),
        is_cordoned=bool(spec.get("unschedulable")),
        capacity=_gpus(status.get("capacity")),
        allocatable=_gpus(status.get("allocatable")),
        driver_version=next((labels[key] for key in _DRIVER_LABELS if key in labels), None),
        problems={
            kind: _joined(found.get("reason"), found.get("message"))
            for kind, found in known.items()
            if kind != "Ready" and found["status"] == "True"
        },
    )


def _pod(item: Json) -> Pod:
    spec, status = item["spec"], item.get("status") or {}
    plugins = _plugins_of(spec)
    states = {
        found["name"]: found.get("state") or {} for found in status.get("containerStatuses") or ()
    }
    placed = conditions(item).get("PodScheduled", {})
    is_unplaced = placed.get("reason") == "Unschedulable"
    return Pod(
        namespace=item["metadata"]["namespace"],
        name=item["metadata"]["name"],
        node=spec.get("nodeName") or _aim(spec),
        plugin=plugins[0] if plugins else "",
        is_running=any("running" in states.get(name, {}) for name in plugins),
        is_over=status.get("phase") in ("Succeeded", "Failed"),
        gpus=_asked_for(spec),
        trouble=trouble(item),
        unplaced=(placed.get("message") or "Unschedulable") if is_unplaced else "",
    )


def trouble(pod: Json) -> str:
    """What keeps a pod from running, in the words of its containers; else its phase."""
    status = pod.get("status") or {}
    for container in (
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ):
        state = container.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason") not in _NOT_IN_TROUBLE:
            return _joined(waiting["reason"], waiting.get("message"))
        if ended.get("exitCode"):
            code = f"exit code {ended['exitCode']}"
            return _joined(ended.get("reason"), ended.get("message") or code)
    return _joined(status.get("reason") or status.get("phase"), status.get("message"))


def _plugins_of(spec: Json) -> list[str]:
    """The names of the containers that are device plugins."""
    return [container["name"] for container in spec.get("containers") or () if is_plugin(container)]


def _aim(spec: Json) -> str | None:
    """The node for which a DaemonSet has made a pod that is not placed yet."""
    for term in affinity_terms(spec) or ():
        for found in term.get("matchFields") or ():
            if found["key"] == "metadata.name" and found["operator"] == "In":
                return str(found["values"][0])
    return None


def _asked_for(spec: Json) -> int:
    """Containers run together; those that prepare them, one after the other before."""

    def of(container: Json) -> int:
        return _gpus((container.get("resources") or {}).get("limits"))

    together = sum(map(of, spec.get("containers") or ()))
    return max([together, *map(of, spec.get("initContainers") or ())])


def _gpus(resources: Json | None) -> int:
    return sum(
        int(amount)
        for name, amount in (resources or {}).items()
        if name == GPU or name.startswith(_GPU_PREFIXES)
    )


def _joined(reason: str | None, message: str | None) -> str:
    return ": ".join(part for part in (reason, message) if part)
