"""The GPUs of a node: its hardware, what device plugins offer, and its status."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aks_catalogue import mig
from aks_catalogue.device_plugin import CONFLICT_CONDITION, GPU, PREFIX
from aks_catalogue.sizes import find
from kube_client.objects import is_true
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]

CONFLICT_REASON = "TwoDevicePlugins"
CONFLICT_MESSAGE = (
    "{count} device plugins on this node offer {resource}. The kubelet takes the one that "
    "registered last and finds the devices of the others unhealthy: none can be allocated."
)


@dataclass(frozen=True)
class Hardware:
    """The GPU hardware that a device plugin finds on a node."""

    # The NVIDIA GPUs with a driver, and the MIG slices of each of them.
    gpus: int = 0
    slices: mig.Slices | None = None


@dataclass(frozen=True)
class NodeOffers:
    """What device plugins offer on a node: how many of each resource, and by how many plugins.

    A resource that several plugins offer cannot be allocated.
    """

    offered: Mapping[str, int]
    plugins: Mapping[str, int]

    @property
    def contested(self) -> Mapping[str, int]:
        return {name: count for name, count in self.plugins.items() if count > 1}

    @property
    def conflict(self) -> str:
        """Returns a message if several plugins offer one resource; otherwise an empty text."""
        return " ".join(
            CONFLICT_MESSAGE.format(count=count, resource=name)
            for name, count in sorted(self.contested.items())
        )


NOTHING = NodeOffers({}, {})


def hardware(pool: DesiredPool) -> Hardware:
    """Returns the GPU hardware of a pool's nodes, as a device plugin finds it."""
    size = find(pool.vm_size)
    # To a plugin, a node without a driver looks like one without GPUs.
    if size is None or not size.is_nvidia or not pool.has_driver:
        return Hardware()
    return Hardware(size.devices, mig.slices(size, pool.mig_profile) if pool.mig_profile else None)


def devices(there: Hardware) -> int:
    """Returns the GPUs of a node, or their slices."""
    return there.gpus * (there.slices.per_gpu if there.slices else 1)


def own_offers(pool: DesiredPool) -> Mapping[str, int]:
    """Returns the offer of a plugin that AKS or the node image brings.

    GPUs are not divided: AKS's default of migStrategy is None, and stable versions of its API do
    not have the property.
    """
    count = hardware(pool).gpus if pool.brings_plugin else 0
    return {GPU: count} if count else {}


def node_offers(
    pool: DesiredPool, node: Json, offers: Sequence[Mapping[str, int]]
) -> NodeOffers | None:
    """Returns the offers that a node reports; None if it never had a device plugin."""
    if not nodes.is_ready(node):
        return None
    every = [offer for offer in (*offers, own_offers(pool)) if offer]
    if not every:
        return None
    offered: dict[str, int] = {}
    for offer in every:
        for name, count in offer.items():
            offered[name] = max(count, offered.get(name, 0))
    return NodeOffers(offered, Counter(name for offer in every for name in offer))


def status_patch(node: Json, offers: NodeOffers | None, now: str) -> Json | None:
    """Returns the patch of the node's status; None if there is nothing to change.

    Resources that are no longer offered stay at zero, as a kubelet leaves them.
    """
    here = offers or NOTHING
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
    reason = CONFLICT_REASON if message else "OneDevicePluginAtMost"
    return nodes.new_condition(CONFLICT_CONDITION, reason, message, now, holds=bool(message))
