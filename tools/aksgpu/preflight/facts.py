"""What Azure answered: its SDK's models, and of the long lists what the questions need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from aks_catalogue import rotation
from aks_catalogue.regions import plain
from aks_pools.pools import Pool, pools_of
from aksgpu.outcome import Cause

if TYPE_CHECKING:
    from azure.mgmt.containerservice.models import (
        KubernetesVersion,
        ManagedCluster,
        ManagedClusterProperties,
    )


@dataclass(frozen=True)
class Unanswered:
    """A question that Azure did not answer, and why."""

    reason: str
    cause: Cause = Cause.UNANSWERED
    # Azure's answer was 403: a role is missing.
    is_forbidden: bool = False


Fact = TypeVar("Fact")


@dataclass(frozen=True, kw_only=True)
class OfferedSize:
    """A VM size in one region, with the restrictions of this subscription."""

    name: str
    family: str
    vcpus: int
    zones: frozenset[str]
    # Azure's reason code if the subscription cannot use the size; else empty.
    refused: str = ""
    refused_zones: frozenset[str] = frozenset()
    can_be_spot: bool = True

    @property
    def usable_zones(self) -> frozenset[str]:
        return self.zones - self.refused_zones


@dataclass(frozen=True, kw_only=True)
class Quota:
    """One limit of the subscription in a region."""

    name: str
    limit: int
    used: int


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All facts about a stack. A fact that Azure did not return is Unanswered."""

    location: str
    subscription: str
    # Both by their plain names.
    sizes: Mapping[str, OfferedSize] | Unanswered
    quotas: Mapping[str, Quota] | Unanswered
    versions: "Sequence[KubernetesVersion] | Unanswered"
    providers: Mapping[str, str | Unanswered]
    # The states of the features that Azure knows, by plain name.
    features: Mapping[str, str] | Unanswered
    # None if it does not exist.
    group: str | Unanswered | None
    cluster: "ManagedCluster | Unanswered | None"
    # The regions of the capacity reservation groups of pools, by ID in lower case.
    reservation_groups: Mapping[str, str | Unanswered | None] = field(default_factory=dict)
    # Of spot machines, by plain size and zone; the zone is empty for the region.
    scores: Mapping[tuple[str, str], str] | Unanswered = field(default_factory=dict)
    # The ids of the resources in the stack's state; None if the state cannot be read. Reading it
    # takes an engine, so it is read only if a name is taken.
    owned: frozenset[str] | None = frozenset()
    is_rehearsal: bool = False

    @property
    def present(self) -> "ManagedCluster | None":
        """The cluster, if it exists already."""
        return None if isinstance(self.cluster, Unanswered) else self.cluster

    @property
    def live(self) -> "ManagedClusterProperties | None":
        """What the cluster is now, if it exists already."""
        return self.present.properties if self.present else None

    @property
    def are_names_taken(self) -> bool:
        return isinstance(self.group, str) or self.present is not None

    def pool(self, name: str) -> Pool | None:
        """The pool that the cluster has already; of one that rotates, under its name in Azure."""
        profiles = self.live.agent_pool_profiles if self.live else None
        kind = "azure-native:containerservice:ManagedCluster"
        for pool in pools_of(kind, {"agentPoolProfiles": profiles or ()}):
            if rotation.is_name_of(pool.text("name"), name, pool.part("nodeLabels")):
                return pool
        return None

    def has_pool(self, name: str, vm_size: str) -> bool:
        """Whether the cluster already has this pool with this size."""
        pool = self.pool(name)
        return pool is not None and [*map(plain, pool.sizes())] == [plain(vm_size)]

    def size(self, vm_size: str) -> OfferedSize | None:
        return None if isinstance(self.sizes, Unanswered) else self.sizes.get(plain(vm_size))


def sizes(skus: Iterable[Mapping[str, Any]], location: str) -> dict[str, OfferedSize]:
    """The sizes of a region, by their plain names; skus are as Azure's API has them."""
    machines = (sku for sku in skus if sku["resourceType"] == "virtualMachines")
    return {plain(sku["name"]): _size(sku, location) for sku in machines}


def _size(sku: Mapping[str, Any], location: str) -> OfferedSize:
    can = {each["name"]: each["value"] for each in sku.get("capabilities") or ()}
    here = [info for info in sku["locationInfo"] if plain(info["location"]) == location]
    restrictions = [each for each in sku.get("restrictions") or () if _applies(each, location)]
    regional = [each["reasonCode"] for each in restrictions if each["type"] == "Location"]
    zonal = [each["restrictionInfo"] for each in restrictions if each["type"] == "Zone"]
    return OfferedSize(
        name=sku["name"],
        family=sku.get("family") or "",
        vcpus=int(can.get("vCPUs", 0)),
        zones=frozenset(zone for info in here for zone in info.get("zones") or ()),
        refused=next(iter(regional), ""),
        refused_zones=frozenset(zone for info in zonal for zone in info.get("zones") or ()),
        can_be_spot=can.get("LowPriorityCapable", "True") == "True",
    )


def _applies(restriction: Mapping[str, Any], location: str) -> bool:
    info = restriction.get("restrictionInfo") or {}
    return location in map(plain, info.get("locations") or restriction.get("values") or ())
