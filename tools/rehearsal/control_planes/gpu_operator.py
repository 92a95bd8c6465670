"""NVIDIA's GPU Operator and its operands, as far as they decide whether a node gets GPUs.

The operator makes its operands' DaemonSets from its ClusterPolicy. Node Feature Discovery and the
operator label nodes with GPUs, and the operands land there. An operand's containers start once the
driver is there, and a container runtime of the name that they ask for. Both come from AKS, or both
from the operator.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aks_catalogue.gpu_operator import (
    AKS_RUNTIME,
    CHART,
    DEPLOY_LABEL,
    DRIVER_PART,
    TOOLKIT_PART,
    WITHOUT_OPERANDS,
)
from aks_catalogue.shapes import mapping, mappings, sequence
from aks_catalogue.sizes import find
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]

POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
MANAGER = "gpu-operator"
# The annotation of what the operator has made: what it was made from.
MADE_FROM = "nvidia.com/last-applied-hash"
OPERANDS = "app.kubernetes.io/managed-by=gpu-operator"

_DISCOVERED = "feature.node.kubernetes.io/pci-10de.present"
_PRESENT = "nvidia.com/gpu.present"
_DRIVER, _TOOLKIT = "nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"
_WAITS_FOR_DRIVER = ("driver-validation",)
_WAITS_FOR_TOOLKIT = ("toolkit-validation",)
_WAITS_FOR_BOTH = (*_WAITS_FOR_DRIVER, *_WAITS_FOR_TOOLKIT)
# The operands: their key in the ClusterPolicy, DaemonSet, node label, command, and what their init
# containers wait for. Those that wait for the toolkit ask for its runtime.
_OPERANDS: tuple[tuple[str, str, str, str, Sequence[str]], ...] = (
    ("driver", _DRIVER, DRIVER_PART, "nvidia-driver", ()),
    ("toolkit", _TOOLKIT, TOOLKIT_PART, "nvidia-toolkit", _WAITS_FOR_DRIVER),
    (
        "devicePlugin",
        "nvidia-device-plugin-daemonset",
        "device-plugin",
        "/bin/entrypoint.sh",
        _WAITS_FOR_TOOLKIT,
    ),
    (
        "gfd",
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        _WAITS_FOR_TOOLKIT,
    ),
    (
        "dcgmExporter",
        "nvidia-dcgm-exporter",
        "dcgm-exporter",
        "dcgm-exporter",
        _WAITS_FOR_TOOLKIT,
    ),
    (
        "validator",
        "nvidia-operator-validator",
        "operator-validator",
        "nvidia-validator",
        _WAITS_FOR_BOTH,
    ),
)


def namespace_of_operator(pods: Iterable[Json]) -> str | None:
    """Returns the namespace of the operator; None if none is running."""
    for pod in pods:
        if _is_running(pod) and any(
            _name_of_image(container) == CHART and container.get("command") == [CHART]
            for container in pod["spec"]["containers"]
        ):
            namespace: str = pod["metadata"]["namespace"]
            return namespace
    return None


def objects(policy: Json, namespace: str) -> Iterator[tuple[str, Json]]:
    """Yields what the operator makes from a ClusterPolicy, each with its path in the API."""
    spec = mapping(policy.get("spec"))
    runtime = _runtime(spec)
    yield (
        f"{RUNTIME_CLASSES}/{runtime}",
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": runtime},
    )
    for key, name, label, command, waits in _OPERANDS:
        own = mapping(spec.get(key))
        if own.get("enabled") is not False:
            body = _daemon_set(spec, own, name, label, command, waits)
            yield f"/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}", body


def marked(body: Json, policy: Json, path: str) -> Json:
    """Returns an object with its name, its owner, and a hash of what it was made from."""
    content = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    about = policy["metadata"]
    owner = {key: policy[key] for key in ("apiVersion", "kind")}
    owner |= {key: about[key] for key in ("name", "uid")}
    key, _, value = OPERANDS.partition("=")
    metadata = {
        "name": path.rpartition("/")[2],
        "labels": {key: value},
        "annotations": {MADE_FROM: content},
        "ownerReferences": [{**owner, "controller": True}],
    }
    return {**body, "metadata": metadata}


def is_as_marked(present: Json | None, wanted: Json) -> bool:
    """Whether an object is there, and was made from the same settings of the same ClusterPolicy."""
    if present is None:
        return False
    now, then = wanted["metadata"], present["metadata"]
    marks = [held.get("annotations", {}).get(MADE_FROM) for held in (now, then)]
    owners = [[one["uid"] for one in held.get("ownerReferences", ())] for held in (now, then)]
    return marks[0] == marks[1] and owners[0] == owners[1]


def label_patch(node: Json, pool: DesiredPool, pods: Sequence[Json], *, operates: bool) -> Json:
    """Returns the labels that Node Feature Discovery and the operator add to a node."""
    labels = node["metadata"].get("labels", {})
    new: dict[str, str] = {}
    size = find(pool.vm_size)
    if any(map(_is_discovery, pods)) and size is not None and size.is_nvidia:
        new[_DISCOVERED] = "true"
    if operates and {**labels, **new}.get(_DISCOVERED) == "true":
        new[_PRESENT] = "true"
        is_served = labels.get(WITHOUT_OPERANDS[0]) != WITHOUT_OPERANDS[1]
        parts = [label for _, _, label, _, _ in _OPERANDS] if is_served else []
        # What somebody has set on a node stays.
        new |= {
            f"{DEPLOY_LABEL}{part}": "true"
            for part in parts
            if f"{DEPLOY_LABEL}{part}" not in labels
        }
        if is_served and pool.has_driver:
            # The operator's driver leaves a node alone that has one.
            new[f"{DEPLOY_LABEL}{DRIVER_PART}"] = "pre-installed"
    return {name: value for name, value in new.items() if labels.get(name) != value}


def has_driver(pool: DesiredPool, pods: Iterable[Json]) -> bool:
    """Whether a node has a driver: AKS's, or the operator's."""
    return pool.has_driver or _runs(_DRIVER, pods)


def obstacle(pod: Json, pool: DesiredPool, pods: Sequence[Json]) -> str | None:
    """Returns why the containers of a pod do not start on their node; None if they do.

    Empty: its init containers still wait.
    """
    waits = {held["name"] for held in mappings(sequence(pod["spec"].get("initContainers")))}
    if waits & {*_WAITS_FOR_BOTH} and not has_driver(pool, pods):
        return ""
    runtime = pod["spec"].get("runtimeClassName") or ""
    if "nvidia" not in runtime or runtime in _runtimes(pool, pods):
        return None
    return (
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox "
        f'runtime: no runtime for "{runtime}" is configured'
    )


def _runtimes(pool: DesiredPool, pods: Iterable[Json]) -> set[str]:
    """Returns NVIDIA's container runtimes on a node.

    The toolkit is taken to serve only the operator's driver: NVIDIA and AKS support no mixture.
    """
    if pool.has_driver:
        return {AKS_RUNTIME}
    if not _runs(_DRIVER, pods):
        return set()
    return {
        variable["value"]
        for pod in pods
        if _app(pod) == _TOOLKIT and _is_running(pod)
        for container in pod["spec"]["containers"]
        for variable in container.get("env", ())
        if variable["name"] == "NVIDIA_RUNTIME_NAME"
    }


def _daemon_set(
    spec: Mapping[str, Any],
    own: Mapping[str, Any],
    name: str,
    label: str,
    command: str,
    waits: Sequence[str],
) -> Json:
    runtime, shared = _runtime(spec), mapping(spec.get("daemonsets"))
    variables = {
        TOOLKIT_PART: {"NVIDIA_RUNTIME_NAME": runtime},
        "device-plugin": {
            "FAIL_ON_INIT_ERROR": "true",
            "MIG_STRATEGY": str(mapping(spec.get("mig")).get("strategy") or "single"),
            "NVIDIA_MIG_MONITOR_DEVICES": "all",
        },
    }.get(label, {})
    image = f"{own.get('repository')}/{own.get('image')}:{own.get('version')}"
    container = {
        "name": name.removesuffix("-daemonset"),
        "image": image,
        "command": ["/bin/sh", "-c", command] if command.startswith("/") else [command],
        "securityContext": {"privileged": True},
        "env": [
            *({"name": key, "value": value} for key, value in variables.items()),
            *mappings(own.get("env")),
        ],
    }
    pods: Json = {
        "nodeSelector": {f"{DEPLOY_LABEL}{label}": "true"},
        "tolerations": [*mappings(shared.get("tolerations"))],
        "priorityClassName": shared.get("priorityClassName"),
        "containers": [container],
        "initContainers": [
            {"name": wait, "image": image, "command": ["nvidia-validator"]} for wait in waits
        ],
    }
    if "toolkit-validation" in waits:
        pods["runtimeClassName"] = runtime
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pods},
        },
    }


def _runtime(spec: Mapping[str, Any]) -> str:
    return str(mapping(spec.get("operator")).get("runtimeClass") or "nvidia")


def _runs(app: str, pods: Iterable[Json]) -> bool:
    return any(_app(pod) == app and _is_running(pod) for pod in pods)


def _app(pod: Json) -> str:
    return str(pod["metadata"].get("labels", {}).get("app", ""))


def _is_running(pod: Json) -> bool:
    is_deleting = pod["metadata"].get("deletionTimestamp")
    return pod["status"].get("phase") == "Running" and not is_deleting


def _is_discovery(pod: Json) -> bool:
    return _is_running(pod) and any(
        container.get("command") == ["nfd-worker"] for container in pod["spec"]["containers"]
    )


def _name_of_image(container: Json) -> str:
    name: str = container["image"].partition("@")[0].rpartition("/")[2].partition(":")[0]
    return name
