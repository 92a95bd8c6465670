"""The nodes of an agent pool: names, labels, taints and resources as on AKS."""

import hashlib
import ipaddress
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from aks_catalogue import nodes as conventions
from aks_catalogue.scheduling import Taint
from aks_catalogue.sizes import architecture, find
from kube_client.objects import conditions as conditions_of
from kube_client.objects import is_true
from rehearsal.control_planes import sizes
from rehearsal.control_planes.containers import now
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era, NodeFault

Json = dict[str, Any]

# Annotations of the rehearsal on a node: the labels and taints that come from its pool; that it is
# a surge node of an upgrade...
POOL_SETTINGS = "rehearsal.aks-gpu/given"
SURGE = "rehearsal.aks-gpu/surge"
# ...and that it is drained, and then removed.
DELETING = "rehearsal.aks-gpu/going"
# The reasons of conditions that the script of faults sets and lifts.
SCRIPTED, LIFTED = "ScriptedFault", "ScriptedFaultLifted"
ALONE, AS_IDLE, WITH_ITS_POOL = "true", "as-idle", "with-its-pool"

SUBNET = ipaddress.ip_network("10.224.0.0/16")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# The reserved part of a disk, measured on AKS: for the file system, and kept free for eviction.
DISK_KIBIBYTES_PER_GIB = 1014735
DISK_ALLOCATABLE = 0.9
LONGEST_LABEL = 63
ZONE = "topology.kubernetes.io/zone"
OS_SKU = "kubernetes.azure.com/os-sku"


@dataclass(frozen=True)
class System:
    """An operating system of nodes: its labels `os-sku`, and what the kubelet says of it."""

    sku: str
    effective_sku: str
    image: str
    kernel: str
    runtime: str = "containerd://2.1.6-1"


UBUNTU_2404 = System("Ubuntu", "Ubuntu2404", "Ubuntu 24.04.3 LTS", "6.8.0-1041-azure")
# By the beginning of the node image's name.
SYSTEMS = {
    "AKSUbuntu-1804": System("Ubuntu", "Ubuntu1804", "Ubuntu 18.04.6 LTS", "5.4.0-1109-azure"),
    "AKSUbuntu-2204": System("Ubuntu", "Ubuntu2204", "Ubuntu 22.04.5 LTS", "5.15.0-1102-azure"),
    "AKSUbuntu-2404": UBUNTU_2404,
    "AKSAzureLinux-V3": System(
        "AzureLinux", "AzureLinux3", "Microsoft Azure Linux 3.0", "6.6.150.1-1.azl3"
    ),
}
_INDEX = {
    Era.TODAY: re.compile(r"-vmss(?P<index>[0-9a-z]{6})$"),
    Era.ARTICLE: re.compile(r"-(?P<index>\d+)$"),
}


def name(cluster: DesiredCluster, pool: DesiredPool, index: int, era: Era) -> str:
    return f"{_stem(cluster.uid, pool.name)}-{_suffix(index, era)}"


def index_of(node: Json, era: Era) -> int:
    matched = _INDEX[era].search(node["metadata"]["name"])
    if matched is None:
        # A name of the other era never matches.
        return 0
    return int(matched["index"], 10 if era is Era.ARTICLE else len(DIGITS))


def _stem(uid: str, pool: str) -> str:
    digits = int(hashlib.sha256(uid.encode()).hexdigest(), 16) % 10**8
    return f"aks-{pool}-{digits:08}"


def scale_set(uid: str, pool: str) -> str:
    """Returns the name of the scale set of a cluster's pool."""
    return f"{_stem(uid, pool)}-vmss"


def group(cluster: DesiredCluster, pool: DesiredPool) -> str:
    """Returns the scale set of a pool, which is a node group to the autoscaler."""
    return scale_set(cluster.uid, pool.name)


def _suffix(index: int, era: Era) -> str:
    if era is Era.ARTICLE:
        return str(index)
    places = ""
    for _ in range(6):
        index, place = divmod(index, len(DIGITS))
        places = DIGITS[place] + places
    return f"vmss{places}"


def _machine(cluster: DesiredCluster, pool: DesiredPool, index: int, era: Era) -> str:
    """Returns the id of the virtual machine, as in the node's provider id."""
    base = (
        f"/subscriptions/{cluster.subscription}/resourceGroups/{cluster.node_group}"
        "/providers/Microsoft.Compute"
    )
    if era is Era.ARTICLE:
        return f"{base}/virtualMachines/{name(cluster, pool, index, era)}"
    return f"{base}/virtualMachineScaleSets/{group(cluster, pool)}/virtualMachines/{index}"


def new_node(
    cluster: DesiredCluster,
    pool: DesiredPool,
    index: int,
    era: Era,
    port: int,
    *,
    surge: bool = False,
) -> Json:
    """Returns a new node, which is not ready yet."""
    called = name(cluster, pool, index, era)
    own = labels(cluster, pool, index)
    annotations = {POOL_SETTINGS: pool_settings(pool), **({SURGE: "true"} if surge else {})}
    capacity, allocatable = resources(pool)
    system = _system(pool)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": called,
            "labels": {**own, "kubernetes.io/hostname": called},
            "annotations": annotations,
        },
        "spec": {
            "providerID": f"azure://{_machine(cluster, pool, index, era)}",
            "taints": [taint(text) for text in pool.taints],
        },
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "conditions": [*conditions(now()), *(_managed(now()) if pool.is_managed else ())],
            "addresses": [
                {"type": "InternalIP", "address": _address(called)},
                {"type": "Hostname", "address": called},
                # The API server finds the kubelet on this machine.
                {"type": "InternalDNS", "address": "localhost"},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            "nodeInfo": {
                "architecture": own["kubernetes.io/arch"],
                "bootID": "",
                "containerRuntimeVersion": system.runtime,
                "kernelVersion": system.kernel,
                "kubeProxyVersion": "",
                "kubeletVersion": f"v{pool.version}",
                "machineID": hashlib.sha256(called.encode()).hexdigest()[:32],
                "operatingSystem": pool.os_type.lower(),
                "osImage": system.image,
                "systemUUID": "",
            },
        },
    }


def labels(cluster: DesiredCluster, pool: DesiredPool, index: int) -> dict[str, str]:
    """Returns all labels but the host name: those of the pool, overridden by those of AKS."""
    zone = pool.zones[index % len(pool.zones)]
    system = _system(pool)
    labels = {
        **pool.labels,
        "agentpool": pool.name,
        conventions.POOL_LABEL: pool.name,
        "kubernetes.azure.com/cluster": _as_label(cluster.node_group),
        "kubernetes.azure.com/mode": pool.mode.lower(),
        "kubernetes.azure.com/node-image-version": pool.node_image,
        OS_SKU: system.sku,
        f"{OS_SKU}-effective": system.effective_sku,
        f"{OS_SKU}-requested": pool.os_sku,
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/storageprofile": "managed",
        "kubernetes.io/arch": architecture(pool.vm_size) or "amd64",
        "kubernetes.io/os": pool.os_type.lower(),
        "kubernetes.io/role": "agent",
        "node-role.kubernetes.io/agent": "",
        "node.kubernetes.io/instance-type": pool.vm_size,
        "topology.kubernetes.io/region": cluster.location,
        ZONE: zone if zone == "0" else f"{cluster.location}-{zone}",
    }
    size = find(pool.vm_size)
    if size and size.is_nvidia:
        accelerator, nvidia = conventions.ACCELERATOR_LABEL
        labels |= {f"kubernetes.azure.com/{accelerator}": nvidia, accelerator: nvidia}
    if pool.is_spot:
        labels |= dict([conventions.SPOT_LABEL])
    if pool.is_managed:
        labels |= dict([conventions.DCGM_LABEL])
    return labels


def _system(pool: DesiredPool) -> System:
    found = (system for image, system in SYSTEMS.items() if pool.node_image.startswith(image))
    return next(found, UBUNTU_2404)


def _as_label(group: str) -> str:
    """Returns a resource group's name as a label value, cut as by AKS (AgentBaker)."""
    cut = group.replace("(", "-").replace(")", "-")[:LONGEST_LABEL]
    return f"{cut[: LONGEST_LABEL - 1]}z" if cut.endswith(("-", "_", ".")) else cut


def pool_settings(pool: DesiredPool) -> str:
    """Returns the labels and taints from the pool, which may change while the node exists."""
    return json.dumps(
        {"labels": dict(sorted(pool.labels.items())), "taints": sorted(pool.taints)}, sort_keys=True
    )


def taint(text: str) -> Json:
    """Returns a pool's taint as a Kubernetes taint."""
    return {key: value for key, value in asdict(Taint.parse(text)).items() if value}


def resources(pool: DesiredPool) -> tuple[dict[str, str], dict[str, str]]:
    """Returns capacity and allocatable resources, without GPUs."""
    room = sizes.room(pool.vm_size, pool.max_pods)
    disk = pool.disk_gib * DISK_KIBIBYTES_PER_GIB
    both = {"pods": str(pool.max_pods), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity = {
        "cpu": str(room.cpus),
        "memory": f"{room.kibibytes}Ki",
        "ephemeral-storage": f"{disk}Ki",
        **both,
    }
    allocatable = {
        "cpu": f"{room.millicpus_allocatable}m",
        "memory": f"{room.kibibytes_allocatable}Ki",
        "ephemeral-storage": str(int(disk * 1024 * DISK_ALLOCATABLE)),
        **both,
    }
    return capacity, allocatable


def _managed(moment: str) -> list[Json]:
    """Returns what AKS's node problem detector reports of GPUs that AKS manages."""
    healthy = (
        ("UnhealthyNvidiaDevicePlugin", "HealthyNvidiaDevicePlugin"),
        ("UnhealthyNvidiaDCGMServices", "HealthyNvidiaDCGMServices"),
    )
    return [new_condition(kind, reason, "", moment) for kind, reason in healthy]


def conditions(moment: str) -> list[Json]:
    """Returns the conditions of a node whose kubelet runs and whose network is not ready."""
    good = (
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    )
    not_yet = ("Ready", "KubeletNotReady", "container runtime network not ready")
    return [new_condition(*each, moment) for each in (*good, not_yet)]


def new_condition(
    kind: str, reason: str, message: str, moment: str, *, holds: bool = False
) -> Json:
    return {
        "type": kind,
        "status": "True" if holds else "False",
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": moment,
        "lastTransitionTime": moment,
    }


def fault_patch(node: Json, faults: Iterable[NodeFault], moment: str) -> Json | None:
    """Returns the patch of a node's status for scripted conditions; None if there is none to make.

    A condition that is no longer scripted becomes false. Those of others stay.
    """
    scripted = {
        fault.condition: new_condition(fault.condition, SCRIPTED, fault.message, moment, holds=True)
        for fault in faults
        if re.search(fault.node, node["metadata"]["name"])
    }
    present = conditions_of(node)
    lifted = {
        kind: new_condition(kind, LIFTED, "", moment)
        for kind, condition in present.items()
        if kind not in scripted and condition.get("reason") == SCRIPTED
    }

    def is_there(wanted: Json) -> bool:
        held = present.get(wanted["type"], {})
        return all(held.get(key) == wanted[key] for key in ("status", "reason", "message"))

    changes = [each for each in (*scripted.values(), *lifted.values()) if not is_there(each)]
    return {"conditions": changes} if changes else None


def zone(node: Json) -> str:
    """Returns the number of a node's zone; "0" if its pool has no zones."""
    label: str = node["metadata"]["labels"].get(ZONE, "0")
    return label.rpartition("-")[2]


def pool_of(node: Json) -> str | None:
    name: str | None = node["metadata"].get("labels", {}).get(conventions.POOL_LABEL)
    return name


def is_ready(node: Json) -> bool:
    return is_true(node, "Ready")


def version(node: Json) -> str:
    kubelet: str = node["status"]["nodeInfo"]["kubeletVersion"]
    return kubelet.removeprefix("v")


def is_outdated(node: Json, pool: DesiredPool) -> bool:
    """Whether a node has another version or operating system than its pool."""
    os_image = node["status"]["nodeInfo"]["osImage"]
    return version(node) != pool.version or bool(os_image != _system(pool).image)


def is_surge(node: Json) -> bool:
    return SURGE in node["metadata"].get("annotations", {})


def is_deleting(node: Json) -> bool:
    return DELETING in node["metadata"].get("annotations", {})


def goes_with_its_pool(node: Json) -> bool:
    return bool(node["metadata"].get("annotations", {}).get(DELETING) == WITH_ITS_POOL)


def goes_as_idle(node: Json) -> bool:
    """Whether it goes because the autoscaler has no pods for it."""
    return bool(node["metadata"].get("annotations", {}).get(DELETING) == AS_IDLE)


def settings_patch(node: Json, pool: DesiredPool) -> Json | None:
    """Returns the patch for a change of the pool's labels and taints; None if there is none.

    Labels and taints from others stay.
    """
    new = pool_settings(pool)
    metadata, spec = node["metadata"], node["spec"]
    before = metadata.get("annotations", {}).get(POOL_SETTINGS, "{}")
    if before == new:
        return None
    old: Json = json.loads(before)
    dropped = old.get("labels", {}).keys() - pool.labels.keys()
    ours = [taint(text) for text in old.get("taints", ())]
    taints = [present for present in spec.get("taints", ()) if present not in ours]
    return {
        "metadata": {
            "annotations": {POOL_SETTINGS: new},
            "labels": {**dict.fromkeys(dropped), **pool.labels},
        },
        "spec": {"taints": [*taints, *map(taint, pool.taints)]},
    }


def _address(called: str) -> str:
    """Returns an address in the cluster's subnet; a name always gets the same one."""
    number = int(hashlib.sha256(called.encode()).hexdigest(), 16)
    return str(SUBNET[4 + number % (SUBNET.num_addresses - 5)])


def port(node: Json) -> int:
    """Returns the port of the node's kubelet."""
    endpoints = node["status"].get("daemonEndpoints", {})
    number: int = endpoints.get("kubeletEndpoint", {}).get("Port", 0)
    return number


def status_with_port(number: int) -> Json:
    return {"daemonEndpoints": {"kubeletEndpoint": {"Port": number}}}
