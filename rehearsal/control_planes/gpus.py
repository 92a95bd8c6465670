"""How a node's GPUs come to be seen, and what becomes of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalogue import mig
from catalogue.device_plugin import CONFLICT_CONDITION, GPU, PREFIX
from catalogue.sizes import find
from kube.objects import is_true
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import WantedPool

Json = dict[str, Any]

CONFLICT_REASON = "TwoDevicePlugins"
CONFLICT_MESSAGE = (
    "{count} device plugins on this node offer {resource}. The kubelet takes the one that "
    "registered last and finds the devices of the others unhealthy: none can be allocated."
)


@dataclass(frozen=True)
class Hardware:
    """What there is on a node for a plugin to find."""

    # NVIDIA's GPUs that have a driver, and into what MIG divides each of them.
    gpus: int = 0
    slices: mig.Slices | None = None


@dataclass(frozen=True)
class NodeOffers:
    """What device plugins have offered to a node: how many of each resource, by how many plugins.

    Of a resource that several of them offer, none can be allocated.
    """

    offered: Mapping[str, int]
    plugins: Mapping[str, int]

    @property
    def contested(self) -> Mapping[str, int]:
        return {name: count for name, count in self.plugins.items() if count > 1}

    @property
    def conflict(self) -> str:
        """What is wrong; nothing where every resource has one plugin."""
        return " ".join(
            CONFLICT_MESSAGE.format(count=count, resource=name)
            for name, count in sorted(self.contested.items())
        )


NOTHING = NodeOffers({}, {})


def hardware(pool: WantedPool) -> Hardware:
    """What there is on a node of the pool for a device plugin to find."""
    size = find(pool.vm_size)
    # Without a driver a plugin cannot tell the node from one without GPUs.
    if size is None or not size.is_nvidia or not pool.has_driver:
        return Hardware()
    return Hardware(size.devices, mig.slices(size, pool.mig_profile) if pool.mig_profile else None)


def devices(there: Hardware) -> int:
    """The GPUs of a node, or the slices of them."""
    return there.gpus * (there.slices.per_gpu if there.slices else 1)


def own_offers(pool: WantedPool) -> Mapping[str, int]:
    """What a node offers by itself: its image, or AKS, has brought it a plugin.

    Of divided GPUs it offers the slices under the one name, as with the strategy "single". That is
    from memory: AKS does not say what its field migStrategy is where a request leaves it out.
    """
    count = devices(hardware(pool)) if pool.brings_plugin else 0
    return {GPU: count} if count else {}


def node_offers(
    pool: WantedPool, node: Json, offers: Sequence[Mapping[str, int]]
) -> NodeOffers | None:
    """What the node is to report of what plugins offer; None if it knows nothing of GPUs."""
    if not nodes.is_ready(node):
        return None
    every = [found for found in (*offers, own_offers(pool)) if found]
    if not every:
        return None
    offered: dict[str, int] = {}
    for found in every:
        for name, count in found.items():
            offered[name] = max(count, offered.get(name, 0))
    return NodeOffers(offered, Counter(name for found in every for name in found))


def status_patch(node: Json, wanted: NodeOffers | None, now: str) -> Json | None:
    """What to change in the node's status; None if it is as it shall be.

    Resources that are offered no more stay at zero, as a kubelet leaves them.
    """
    here = wanted or NOTHING
    before = [node["status"].get(part, {}) for part in ("capacity", "allocatable")]
    reported = {name for part in before for name in part if name.startswith(PREFIX)}
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    for name in reported | here.offered.keys():
        count = here.offered.get(name, 0)
        pair = [str(count), "0" if name in here.contested else str(count)]
        if [part.get(name) for part in before] != pair:
            capacity[name], allocatable[name] = pair
    patch: Json = {"capacity": capacity, "allocatable": allocatable} if capacity else {}
    if bool(here.conflict) != is_true(node, CONFLICT_CONDITION):
        patch["conditions"] = [_conflict(here.conflict, now)]
    return patch or None


def _conflict(message: str, now: str) -> Json:
    return {
        "type": CONFLICT_CONDITION,
        "status": "True" if message else "False",
        "reason": CONFLICT_REASON if message else "OneDevicePluginAtMost",
        "message": message,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
