"""A cluster as the check sees it: nodes, pods and DaemonSets, read from the API server's JSON.

A value of the wrong type counts as missing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from aks_catalogue import scale_ups, sizes
from aks_catalogue.device_plugin import GPU, MIG_PREFIX, is_plugin
from aks_catalogue.gpu_operator import DEPLOY_LABEL, DRIVER_PART, TOOLKIT_PART
from aks_catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL
from aks_catalogue.scheduling import Spec, Taint, affinity_terms
from aks_catalogue.shapes import at, mapping, mappings, sequence
from kube_client.objects import conditions

Json = Mapping[str, Any]

# The kinds of objects that the check reads, as reports name them.
NODES, PODS, DAEMON_SETS = "nodes", "pods", "DaemonSets"

# Resource names of MIG slices and shared GPUs, if the plugin is configured to use them.
_GPU_PREFIXES = (MIG_PREFIX, f"{GPU}.")
# The labels in which NVIDIA's feature discovery puts the driver's version.
_DRIVER_LABELS = ("nvidia.com/cuda.driver-version.full", "nvidia.com/gpu.driver-version")
# The tolerations that the DaemonSet controller adds to the pods of every DaemonSet.
_NODE_STATES = "not-ready unreachable disk-pressure memory-pressure pid-pressure unschedulable"
_DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists"} for state in _NODE_STATES.split()
]
_NORMAL_WAITING_REASONS = (None, "ContainerCreating", "PodInitializing")
# What of a pod's spec decides where it can run.
_PLACING = ("nodeSelector", "affinity", "tolerations")
_SIZE_LABEL = "node.kubernetes.io/instance-type"
# The provider ID of a node whose machine is in a scale set.
_SCALE_SET = re.compile(
    r"azure://(?P<id>/subscriptions/(?P<subscription>[^/]+)/resourceGroups/[^/]+/providers/"
    r"Microsoft\.Compute/virtualMachineScaleSets/[^/]+)/virtualMachines/[^/]+",
    re.IGNORECASE,
)
# Nodes of a rehearsal have annotations with this prefix.
_REHEARSAL_PREFIX = "rehearsal.aks-gpu/"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node that has, or should have, NVIDIA GPUs."""

    name: str
    pool: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    is_ready: bool = True
    # Why it is not ready: reason and message of its Ready condition.
    reason: str = ""
    is_cordoned: bool = False
    capacity: int = 0
    allocatable: int = 0
    # The name by which a pod requests one of them.
    resource: str = GPU
    driver_version: str | None = None
    # Reason and message of conditions that report a problem, by type.
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
    """A device plugin, or a pod that requests GPUs."""

    # The node it runs on; for a pending pod of a DaemonSet, the node it is for.
    node: str | None = None
    # The name of the device plugin's container, if the pod has one.
    plugin: str = ""
    image: str = ""
    is_running: bool = False
    is_over: bool = False
    gpus: int = 0
    # Why it does not run, if its status has a reason.
    trouble: str = ""
    # The scheduler's message, if the pod is unschedulable, and what it asks of nodes.
    unplaced: str = ""
    spec: Spec = field(default_factory=dict)

    @property
    def is_plugin(self) -> bool:
        return bool(self.plugin)


@dataclass(frozen=True, kw_only=True)
class DaemonSet(_Namespaced):
    """A DaemonSet that runs device plugins."""

    # The spec of its pods: which nodes they can run on.
    pods: Spec = field(default_factory=dict)

    @property
    def is_operators(self) -> bool:
        """Whether the GPU Operator created it."""
        return any(key.startswith(DEPLOY_LABEL) for key in mapping(self.pods.get("nodeSelector")))


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What the cluster autoscaler says of a pool."""

    # The number of nodes that it wants, and the most.
    target: int
    most: int
    # NoActivity, InProgress or Backoff, since when, and why.
    state: str
    since: str
    failure: str


@dataclass(frozen=True)
class ScaleSet:
    """The scale set of a pool with several nodes that have InfiniBand."""

    pool: str
    id: str
    subscription: str


@dataclass(frozen=True, kw_only=True)
class ClusterView:
    # The kinds of objects that could not be read.
    unread: frozenset[str] = frozenset()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    # The GPU Operator's DaemonSets for driver and container toolkit, by what they install.
    operators_parts: frozenset[str] = frozenset()
    # Of pools with several nodes that have InfiniBand.
    scale_sets: tuple[ScaleSet, ...] = ()
    # The end of the log of each plugin on a node that offers no GPU, by namespace/name...
    plugin_logs: Mapping[str, str] = field(default_factory=dict)
    # ...and the last warning of its events.
    plugin_warnings: Mapping[str, str] = field(default_factory=dict)
    # What the cluster autoscaler says of each pool.
    growth: Mapping[str, Growth] = field(default_factory=dict)

    def plugins_on(self, node: Node) -> list[Pod]:
        return [pod for pod in self.pods if pod.is_plugin and pod.node == node.name]

    def used(self, node: Node) -> int:
        """How many of a node's GPUs are in use."""
        return sum(pod.gpus for pod in self.pods if pod.node == node.name and not pod.is_over)

    @property
    def knows_plugins(self) -> bool:
        return not self.unread & {PODS, DAEMON_SETS}


def nodes(items: Iterable[Json], pools: Iterable[str]) -> tuple[Node, ...]:
    """The nodes of these pools, and all others that have NVIDIA GPUs or are labeled so."""
    pool_names = frozenset(pools)
    gpu_nodes = [_node(item) for item in items if _is_gpu_node(item, pool_names)]
    return tuple(sorted(gpu_nodes, key=lambda node: (node.pool, node.name)))


def scale_sets(items: Iterable[Json]) -> tuple[ScaleSet, ...]:
    """Those of pools with several nodes that have InfiniBand, whoever made their GPUs."""
    counts = Counter[ScaleSet]()
    for item in items:
        machine = _SCALE_SET.fullmatch(str(at(item, "spec.providerID")))
        labels = _labels(item)
        if machine and sizes.has_rdma(labels.get(_SIZE_LABEL, "")):
            pool = labels.get(POOL_LABEL, "")
            counts[ScaleSet(pool, machine["id"], machine["subscription"])] += 1
    return tuple(scale_set for scale_set, count in counts.items() if count > 1)


def is_rehearsed(items: Iterable[Json]) -> bool:
    """Whether these nodes are simulated by a rehearsal."""
    annotations = (mapping(at(item, "metadata.annotations")) for item in items)
    return any(str(key).startswith(_REHEARSAL_PREFIX) for keys in annotations for key in keys)


def pods(items: Iterable[Json]) -> tuple[Pod, ...]:
    """The device plugins and the pods that request GPUs."""
    all_pods = (_pod(item) for item in items if not at(item, "metadata.deletionTimestamp"))
    return tuple(pod for pod in all_pods if pod.is_plugin or pod.gpus)


def operators_parts(items: Iterable[Json]) -> frozenset[str]:
    """Returns which of driver and container toolkit the GPU Operator installs."""
    selectors = (mapping(at(item, "spec.template.spec.nodeSelector")) for item in items)
    parts = {key.removeprefix(DEPLOY_LABEL) for selector in selectors for key in selector}
    return frozenset(parts & {DRIVER_PART, TOOLKIT_PART})


def daemon_sets(items: Iterable[Json]) -> tuple[DaemonSet, ...]:
    """The DaemonSets that run device plugins."""
    return tuple(
        DaemonSet(
            namespace=_namespace(item),
            name=_name(item),
            pods={
                **spec,
                "tolerations": [*sequence(spec.get("tolerations")), *_DAEMON_TOLERATIONS],
            },
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
    labels, by_type = _labels(item), conditions(item)
    allocatable = mapping(at(item, "status.allocatable"))
    offered = [name for name, amount in allocatable.items() if _gpus({name: amount})]
    ready = by_type.get("Ready", {"status": "Unknown", "reason": "it has never reported"})
    return Node(
        name=_name(item),
        pool=labels.get(POOL_LABEL, ""),
        labels=labels,
        taints=tuple(_taints(at(item, "spec.taints"))),
        is_ready=ready.get("status") == "True",
        reason=_joined(ready.get("reason"), ready.get("message")),
        is_cordoned=bool(at(item, "spec.unschedulable")),
        capacity=_gpus(at(item, "status.capacity")),
        allocatable=_gpus(allocatable),
        resource=GPU if GPU in offered else min(offered, default=GPU),
        driver_version=next((labels[key] for key in _DRIVER_LABELS if key in labels), None),
        problems={
            kind: _joined(condition.get("reason"), condition.get("message"))
            for kind, condition in by_type.items()
            if kind != "Ready" and condition.get("status") == "True"
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
        str(container.get("name")): mapping(container.get("state"))
        for container in mappings(status.get("containerStatuses"))
    }
    return Pod(
        namespace=_namespace(item),
        name=_name(item),
        node=str(spec.get("nodeName") or "") or _intended_node(spec),
        plugin=next(iter(plugins), ""),
        image=next(iter(plugins.values()), ""),
        is_running=any("running" in states.get(name, {}) for name in plugins),
        is_over=status.get("phase") in ("Succeeded", "Failed"),
        gpus=_requested_gpus(spec),
        trouble=trouble(item),
        unplaced=(reason := unplaced(item)),
        spec={key: spec[key] for key in _PLACING if key in spec} if reason else {},
    )


def unplaced(pod: Json) -> str:
    """The scheduler's message, if the pod is unschedulable."""
    scheduled = conditions(pod).get("PodScheduled", {})
    is_unschedulable = scheduled.get("reason") == "Unschedulable"
    return str(scheduled.get("message") or "Unschedulable") if is_unschedulable else ""


def trouble(pod: Json) -> str:
    """Why a pod does not run: reason and message of a container's state, else the pod's phase."""
    status = mapping(pod.get("status"))
    for container in (
        *mappings(status.get("initContainerStatuses")),
        *mappings(status.get("containerStatuses")),
    ):
        state = mapping(container.get("state"))
        waiting, ended = mapping(state.get("waiting")), mapping(state.get("terminated"))
        if waiting.get("reason") not in _NORMAL_WAITING_REASONS:
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


def growth(status: Any) -> dict[str, Growth]:
    """What the autoscaler's status says of each pool; nothing if it is not as since 1.30."""
    try:
        # All values as texts: an odd one is no error.
        groups = mappings(at(yaml.load(str(status), yaml.BaseLoader), "nodeGroups"))  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return {}
    return {
        pool: Growth(
            target=_amount(at(group, "health.cloudProviderTarget")),
            most=_amount(at(group, "health.maxSize")),
            state=str(at(group, "scaleUp.status")),
            since=str(at(group, "scaleUp.lastTransitionTime") or ""),
            failure=scale_ups.failure(
                str(at(group, "scaleUp.backoffInfo.errorCode") or ""),
                str(at(group, "scaleUp.backoffInfo.errorMessage") or ""),
            ),
        )
        for group in groups
        if (pool := scale_ups.pool_of(str(group.get("name"))))
    }


def last_warning(events: Iterable[Json]) -> str:
    """The reason and the message of the newest warning; empty if there is none."""
    warnings = [event for event in events if event.get("type") == "Warning"]
    newest = max(warnings, key=_event_time, default={})
    return _joined(newest.get("reason"), newest.get("message"))


def _event_time(event: Json) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def _intended_node(spec: Json) -> str | None:
    """The node for which a DaemonSet created a pod that is not scheduled yet."""
    for term in affinity_terms(spec) or ():
        for field_match in mappings(term.get("matchFields")):
            if (field_match.get("key"), field_match.get("operator")) == ("metadata.name", "In"):
                return next(map(str, sequence(field_match.get("values"))), None)
    return None


def _requested_gpus(spec: Json) -> int:
    """The most that a pod uses at once: init containers run one by one, before the others."""

    def amounts(containers: Any) -> list[int]:
        return [_gpus(at(container, "resources.limits")) for container in mappings(containers)]

    return max([sum(amounts(spec.get("containers"))), *amounts(spec.get("initContainers"))])


def _gpus(resources: Any) -> int:
    return sum(
        _amount(amount)
        for name, amount in mapping(resources).items()
        if name == GPU or str(name).startswith(_GPU_PREFIXES)
    )


def _amount(text: Any) -> int:
    """A number of devices: the API server has no other numbers of them."""
    return int(text) if str(text).isdecimal() else 0


def _joined(reason: Any, message: Any) -> str:
    return ": ".join(str(part) for part in (reason, message) if part)
