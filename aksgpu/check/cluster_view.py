"""A cluster as the check sees it: nodes, pods and DaemonSets, out of what the API server sends.

Whatever it sends: a value of another shape than belongs there is taken for none.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue import quantities, sizes
from catalogue.device_plugin import GPU, PREFIX, is_plugin
from catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL
from catalogue.scheduling import Spec, Taint, affinity_terms
from catalogue.shapes import at, mapping, mappings, sequence
from kube.objects import conditions

Json = Mapping[str, Any]

# What is read of a cluster, as it is called in what is printed.
NODES, PODS, DAEMON_SETS = "nodes", "pods", "DaemonSets"

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
_SIZE_LABEL = "node.kubernetes.io/instance-type"
_RELEASE = re.compile(r"v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?!\d)", re.ASCII)
# Such a number is no count of devices.
_TOO_MANY = 1_000_000
# Nodes of a rehearsal have annotations of this domain.
_REHEARSED = "rehearsal.aks-gpu/"


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
    size: str = ""
    capacity: int = 0
    allocatable: int = 0
    # What of this goes by the name that whoever wants one GPU asks for, and no slice by its own.
    whole: int = 0
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
    image: str = ""
    is_running: bool = False
    is_over: bool = False
    gpus: int = 0
    # What of this goes by the name of whole GPUs.
    whole: int = 0
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
class Kubelet:
    """Any node of the cluster, and the version of its Kubernetes."""

    node: str
    pool: str
    version: str


@dataclass(frozen=True, kw_only=True)
class ClusterView:
    # What of it could not be read.
    unread: frozenset[str] = frozenset()
    # The control plane's.
    version: str = ""
    kubelets: tuple[Kubelet, ...] = ()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    # The end of the log of each plugin on a node that knows of no GPUs, by namespace and name.
    plugin_logs: Mapping[str, str] = field(default_factory=dict)

    def plugins_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self.pods if pod.is_plugin and pod.node == node.name]

    def used(self, node: Node) -> int:
        """How many of a node's GPUs are taken."""
        return sum(pod.gpus for pod in self._at_work_on(node))

    def free(self, node: Node) -> int:
        """How many whole GPUs of a node can be had."""
        return node.whole - sum(pod.whole for pod in self._at_work_on(node))

    def _at_work_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self.pods if pod.node == node.name and not pod.is_over]

    @property
    def knows_plugins(self) -> bool:
        return not self.unread & {PODS, DAEMON_SETS}


def nodes(items: Iterable[Json], pools: Iterable[str]) -> tuple[Node, ...]:
    """Those of the pools, and all others that have to do with NVIDIA GPUs."""
    named = frozenset(pools)
    found = [_node(item) for item in items if _is_gpu_node(item, named)]
    return tuple(sorted(found, key=lambda node: (node.pool, node.name)))


def kubelets(items: Iterable[Json]) -> tuple[Kubelet, ...]:
    """All nodes that say what version they have."""
    found = [
        Kubelet(
            node=_name(item),
            pool=_labels(item).get(POOL_LABEL, ""),
            version=release(at(item, "status.nodeInfo.kubeletVersion")),
        )
        for item in items
    ]
    return tuple(kubelet for kubelet in found if kubelet.version)


def is_rehearsed(items: Iterable[Json]) -> bool:
    """Whether a rehearsal plays these nodes."""
    annotations = (mapping(at(item, "metadata.annotations")) for item in items)
    return any(str(key).startswith(_REHEARSED) for found in annotations for key in found)


def release(version: Any) -> str:
    """A version as AKS writes it: v1.35.2 is 1.35.2, and so is v1.35.2-gke.1; else nothing."""
    found = _RELEASE.match(str(version))
    return found[1] if found else ""


def pods(items: Iterable[Json]) -> tuple[Pod, ...]:
    """Those that matter of all pods."""
    found = (_pod(item) for item in items if not at(item, "metadata.deletionTimestamp"))
    return tuple(pod for pod in found if pod.is_plugin or pod.gpus)


def daemon_sets(items: Iterable[Json]) -> tuple[DaemonSet, ...]:
    """Those that bring device plugins."""
    return tuple(
        DaemonSet(
            namespace=_namespace(item),
            name=_name(item),
            pods={**spec, "tolerations": [*sequence(spec.get("tolerations")), *_OF_DAEMONS]},
        )
        for item in items
        if _plugins_of(spec := mapping(at(item, "spec.template.spec")))
    )


def _name(item: Json) -> str:
    return str(at(item, "metadata.name") or "(without a name)")


def _namespace(item: Json) -> str:
    return str(at(item, "metadata.namespace") or "default")


def _labels(item: Json) -> dict[str, str]:
    return {key: str(value) for key, value in mapping(at(item, "metadata.labels")).items()}


def _is_gpu_node(item: Json, pools: frozenset[str]) -> bool:
    labels = _labels(item)
    label, nvidia = ACCELERATOR_LABEL
    size = sizes.find(labels.get(_SIZE_LABEL, ""))
    return (
        labels.get(POOL_LABEL) in pools
        or labels.get(label) == nvidia
        or (size is not None and size.is_nvidia)
        or _gpus(at(item, "status.capacity")) > 0
    )


def _node(item: Json) -> Node:
    labels, known = _labels(item), conditions(item)
    ready = known.get("Ready", {"status": "Unknown", "reason": "it has never reported"})
    return Node(
        name=_name(item),
        pool=labels.get(POOL_LABEL, ""),
        labels=labels,
        taints=tuple(_taints(at(item, "spec.taints"))),
        is_ready=ready.get("status") == "True",
        reason=_joined(ready.get("reason"), ready.get("message")),
        is_cordoned=bool(at(item, "spec.unschedulable")),
        size=labels.get(_SIZE_LABEL, ""),
        capacity=_gpus(at(item, "status.capacity")),
        allocatable=_gpus(at(item, "status.allocatable")),
        whole=_amount(mapping(at(item, "status.allocatable")).get(GPU)),
        driver_version=next((labels[key] for key in _DRIVER_LABELS if key in labels), None),
        problems={
            kind: _joined(found.get("reason"), found.get("message"))
            for kind, found in known.items()
            if kind != "Ready" and found.get("status") == "True"
        },
    )


def _taints(listed: Any) -> Iterator[Taint]:
    for taint in mappings(listed):
        if taint.get("key") and taint.get("effect"):
            yield Taint(str(taint["key"]), str(taint.get("value") or ""), str(taint["effect"]))


def _pod(item: Json) -> Pod:
    spec, status = mapping(item.get("spec")), mapping(item.get("status"))
    plugins = _plugins_of(spec)
    states = {
        str(found.get("name")): mapping(found.get("state"))
        for found in mappings(status.get("containerStatuses"))
    }
    placed = conditions(item).get("PodScheduled", {})
    is_unplaced = placed.get("reason") == "Unschedulable"
    return Pod(
        namespace=_namespace(item),
        name=_name(item),
        node=str(spec.get("nodeName") or "") or _aim(spec),
        plugin=next(iter(plugins), ""),
        image=next(iter(plugins.values()), ""),
        is_running=any("running" in states.get(name, {}) for name in plugins),
        is_over=status.get("phase") in ("Succeeded", "Failed"),
        gpus=_asked_for(spec, _gpus),
        whole=_asked_for(spec, lambda limits: _amount(mapping(limits).get(GPU))),
        trouble=trouble(item),
        unplaced=str(placed.get("message") or "Unschedulable") if is_unplaced else "",
    )


def trouble(pod: Json) -> str:
    """What keeps a pod from running, in the words of its containers; else its phase."""
    status = mapping(pod.get("status"))
    for container in (
        *mappings(status.get("initContainerStatuses")),
        *mappings(status.get("containerStatuses")),
    ):
        state = mapping(container.get("state"))
        waiting, ended = mapping(state.get("waiting")), mapping(state.get("terminated"))
        if waiting.get("reason") not in _NOT_IN_TROUBLE:
            return _joined(waiting["reason"], waiting.get("message"))
        if ended.get("exitCode"):
            code = f"exit code {ended['exitCode']}"
            return _joined(ended.get("reason"), ended.get("message") or code)
    return _joined(status.get("reason") or status.get("phase"), status.get("message"))


def _plugins_of(spec: Json) -> dict[str, str]:
    """The containers that are device plugins, and their images."""
    return {
        str(container.get("name")): str(container.get("image"))
        for container in mappings(spec.get("containers"))
        if is_plugin(container)
    }


def _aim(spec: Json) -> str | None:
    """The node for which a DaemonSet has made a pod that is not placed yet."""
    for term in affinity_terms(spec) or ():
        for found in mappings(term.get("matchFields")):
            if (found.get("key"), found.get("operator")) == ("metadata.name", "In"):
                return next(map(str, sequence(found.get("values"))), None)
    return None


def _asked_for(spec: Json, count: Callable[[Any], int]) -> int:
    """Containers run together; those that prepare them, one after the other before."""

    def of(containers: Any) -> list[int]:
        return [count(at(container, "resources.limits")) for container in mappings(containers)]

    return max([sum(of(spec.get("containers"))), *of(spec.get("initContainers"))])


def _gpus(resources: Any) -> int:
    return sum(
        _amount(amount)
        for name, amount in mapping(resources).items()
        if name == GPU or str(name).startswith(_GPU_PREFIXES)
    )


def _amount(text: Any) -> int:
    """A whole number of devices: the API server takes no other."""
    try:
        amount = quantities.parse(str(text)).amount
    except (ValueError, ArithmeticError):
        return 0
    return int(amount) if 0 <= amount < _TOO_MANY else 0


def _joined(reason: Any, message: Any) -> str:
    return ": ".join(str(part) for part in (reason, message) if part)
