"""How a node's GPUs come to be seen, and what becomes of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from catalogue import images
from rehearsal.kubernetes import nodes, sizes
from rehearsal.kubernetes.wanted import WantedPool

Json = dict[str, Any]

RESOURCE = "nvidia.com/gpu"
# The part of an image's name by which a device plugin is known, whatever the registry.
PLUGIN = images.DEVICE_PLUGIN.rpartition("/")[2].partition(":")[0]
# How many devices one GPU becomes.
MIG_SLICES = {"MIG1g": 7, "MIG2g": 3, "MIG3g": 2, "MIG4g": 1, "MIG7g": 1}

CONFLICT = "DevicePluginConflict"
CONFLICT_REASON = "TwoDevicePlugins"
CONFLICT_MESSAGE = (
    "{count} device plugins on this node offer nvidia.com/gpu. The kubelet takes the one that "
    "registered last and finds the devices of the others unhealthy: none can be allocated."
)


@dataclass(frozen=True)
class Seen:
    """The GPUs that a node reports, and by how many device plugins they were reported to it."""

    capacity: int
    allocatable: int
    plugins: int


def in_pool(pool: WantedPool) -> int:
    """How many GPUs a device plugin finds on a node of the pool."""
    found = sizes.gpus(pool.vm_size)
    # Without a driver a plugin finds no device, and registers nothing: it waits.
    if found is None or found.vendor != nodes.NVIDIA or not pool.has_driver:
        return 0
    return found.count * MIG_SLICES.get(pool.mig_profile or "", 1)


def seen(pool: WantedPool, node: Json, pods: Iterable[Json]) -> Seen | None:
    """What the node is to report; None if it knows nothing of GPUs."""
    count = in_pool(pool)
    if not count or not nodes.is_ready(node):
        return None
    plugins = sum(map(is_running_plugin, pods)) + pool.brings_plugin
    if not plugins:
        return None
    return Seen(count, count if plugins == 1 else 0, plugins)


def is_running_plugin(pod: Json) -> bool:
    """Whether a container of the pod is a device plugin at work."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    plugins = {c["name"] for c in pod["spec"]["containers"] if PLUGIN in c["image"]}
    statuses = pod["status"].get("containerStatuses", ())
    return any(s["name"] in plugins and "running" in s.get("state", {}) for s in statuses)


def reported(node: Json) -> tuple[str | None, str | None]:
    """What the node reports now: its capacity, and what is allocatable."""
    status = node["status"]
    return status.get("capacity", {}).get(RESOURCE), status.get("allocatable", {}).get(RESOURCE)


def status_patch(node: Json, wanted: Seen | None, now: str) -> Json | None:
    """What to change in the node's status; None if it is as it shall be.

    A resource that is gone stays at zero, as a kubelet leaves it.
    """
    patch: Json = {}
    numbers = (wanted.capacity, wanted.allocatable) if wanted else (0, 0)
    shown = (str(numbers[0]), str(numbers[1]))
    if reported(node) != shown and (wanted or reported(node) != (None, None)):
        patch = {"capacity": {RESOURCE: shown[0]}, "allocatable": {RESOURCE: shown[1]}}
    is_conflict = wanted is not None and wanted.plugins > 1
    if is_conflict != (nodes.condition(node, CONFLICT) == "True"):
        patch["conditions"] = [_conflict(wanted.plugins if wanted else 0, now, is_conflict)]
    return patch or None


def _conflict(plugins: int, now: str, is_conflict: bool) -> Json:
    return {
        "type": CONFLICT,
        "status": "True" if is_conflict else "False",
        "reason": CONFLICT_REASON if is_conflict else "OneDevicePluginAtMost",
        "message": CONFLICT_MESSAGE.format(count=plugins) if is_conflict else "",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def event(node: Json, plugins: int, now: str, name: str) -> Json:
    """The warning that goes with the condition."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "type": "Warning",
        "reason": CONFLICT,
        "message": CONFLICT_MESSAGE.format(count=plugins),
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Node",
            "name": node["metadata"]["name"],
            "uid": node["metadata"]["name"],
        },
        "source": {"component": "kubelet", "host": node["metadata"]["name"]},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
