"""Nodes and pods as the page draws them: a square a node, a cell a GPU."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_catalogue import quantities
from aks_catalogue.device_plugin import GPU, MIG_PREFIX, PREFIX, SHARED
from aks_catalogue.shapes import at, mapping, mappings
from aks_catalogue.sizes import find
from kube_client.objects import conditions
from rehearsal.control_planes import nodes

Json = dict[str, Any]
_OVER = ("Succeeded", "Failed")


def node(pool: Mapping[str, Any], node: Json, pods: Sequence[Json]) -> Json:
    """Returns a node of a pool with these properties."""
    name = node["metadata"]["name"]
    state = "ready" if nodes.is_ready(node) else "not ready"
    if node["spec"].get("unschedulable"):
        state = "leaving" if nodes.is_deleting(node) else "cordoned"
    faults = [
        f"{kind}: {condition.get('message') or condition.get('reason')}"
        for kind, condition in conditions(node).items()
        if kind != "Ready" and condition.get("status") == "True"
    ]
    alive = (each for each in pods if each["status"]["phase"] not in _OVER)
    here = [each for each in alive if each["spec"].get("nodeName") == name]
    drawn = [*_cells(pool, node, here)]
    is_without = state == "ready" and drawn and not any(_gpus(node["status"]["capacity"]).values())
    note = "no device plugin offers its GPUs" if is_without else ""
    return {"name": name, "state": state, "note": note, "faults": faults, "cells": drawn}


def _cells(pool: Mapping[str, Any], node: Json, here: Sequence[Json]) -> Iterator[Json]:
    """Yields the GPUs of a node, or the shares or slices of them that its plugin offers."""
    size, status = find(pool["vmSize"]), node["status"]
    devices = size.devices if size else 0
    capacity, allocatable = _gpus(status.get("capacity")), _gpus(status.get("allocatable"))
    if not any(capacity.values()):
        # No device plugin offers them yet.
        yield from [{"kind": "gpu", "state": "not ready", "pod": ""}] * devices
    for name, count in sorted(capacity.items()):
        holders = [_name(pod) for pod in here for _ in range(gpus_of(pod)[name])]
        usable = allocatable[name] if nodes.is_ready(node) else 0
        kind = "share" if name.endswith(SHARED) or count > devices > 0 else "gpu"
        has_slices = kind == "share" and name == GPU and pool.get("gpuInstanceProfile")
        kind = "slice" if has_slices or name.startswith(MIG_PREFIX) else kind
        for number in range(max(count, len(holders))):
            free = "free" if number < usable else "not ready"
            holder = holders[number] if number < len(holders) else ""
            yield {"kind": kind, "state": "in use" if holder else free, "pod": holder}


def pod(pod: Json) -> Json:
    status, scheduled = pod["status"], conditions(pod).get("PodScheduled", {})
    waits = [at(each, "state.waiting.reason") for each in mappings(status.get("containerStatuses"))]
    state = next(filter(None, [status.get("reason"), *waits]), status["phase"])
    return {
        "name": _name(pod),
        "node": pod["spec"].get("nodeName", ""),
        "state": "Terminating" if pod["metadata"].get("deletionTimestamp") else state,
        "gpus": dict(gpus_of(pod)),
        "waits": is_waiting(pod),
        "reason": scheduled.get("message", "") if is_waiting(pod) else "",
    }


def gpus_of(pod: Json) -> Counter[str]:
    """Returns what the containers of a pod ask for of the GPUs, by the names of resources."""
    wanted = Counter[str]()
    for container in mappings(pod["spec"].get("containers")):
        wanted.update(_gpus(at(container, "resources.limits")))
    return wanted


def is_shown(pod: Json) -> bool:
    """Whether a pod has GPUs, or waits."""
    has_gpus = bool(gpus_of(pod)) and pod["status"]["phase"] not in _OVER
    return has_gpus or is_waiting(pod)


def is_waiting(pod: Json) -> bool:
    """Whether a pod has no node yet."""
    return "nodeName" not in pod["spec"] and pod["status"]["phase"] not in _OVER


def _gpus(amounts: Any) -> Counter[str]:
    own = {name: text for name, text in mapping(amounts).items() if name.startswith(PREFIX)}
    return Counter({name: int(quantities.parse(str(own[name])).amount) for name in own})


def _name(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
