"""The facts that Azure returned, in the form that the questions need."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from aks_catalogue import rotation
from aks_catalogue.kubernetes import LONG_TERM, OFFICIAL
from aks_catalogue.regions import plain
from aksgpu.outcome import Cause

if TYPE_CHECKING:
    from azure.mgmt.compute.models import CapacityReservation, Usage
    from azure.mgmt.containerservice.models import (
        KubernetesVersion,
        ManagedCluster,
        ManagedClusterAgentPoolProfile,
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
class Version:
    """A minor version of Kubernetes that AKS offers in a region."""

    minor: str
    patches: frozenset[str]
    is_default: bool
    is_preview: bool
    is_official: bool


@dataclass(frozen=True, kw_only=True)
class ExistingPool:
    vm_size: str
    count: int
    spot: bool
    version: str = ""
    # What replaces a pool, by path, as far as a stack file decides about it.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # The pool of a stack file whose present one this is: the label of a pool that rotates.
    rotates_as: str = ""


@dataclass(frozen=True, kw_only=True)
class ExistingCluster:
    id: str
    location: str
    version: str
    # The state in which it accepts no new pools; else empty.
    trouble: str
    pools: Mapping[str, ExistingPool]
    has_system_identity: bool = False
    has_long_term_support: bool = False


@dataclass(frozen=True, kw_only=True)
class ReservationGroup:
    """A capacity reservation group."""

    location: str
    # How many machines it reserves, by plain size and zone; the zone is empty for none.
    machines: Mapping[tuple[str, str], int]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All facts about a stack. A fact that Azure did not return is Unanswered."""

    location: str
    subscription: str
    sizes: Mapping[str, OfferedSize] | Unanswered
    quotas: Mapping[str, Quota] | Unanswered
    versions: Sequence[Version] | Unanswered
    providers: Mapping[str, str | Unanswered]
    # The states of the features that Azure knows, by plain name.
    features: Mapping[str, str] | Unanswered
    # None if it does not exist.
    group: str | Unanswered | None
    cluster: ExistingCluster | Unanswered | None
    # Of the stack's pools, by ID in lower case.
    reservation_groups: Mapping[str, ReservationGroup | Unanswered | None] = field(
        default_factory=dict
    )
    # Of spot machines, by plain size and zone; the zone is empty for the region.
    scores: Mapping[tuple[str, str], str] | Unanswered = field(default_factory=dict)
    # The ids of the resources in the stack's state; None if the state cannot be read. Reading it
    # takes an engine, so it is read only if a name is taken.
    owned: frozenset[str] | None = frozenset()
    is_rehearsal: bool = False

    @property
    def common_failure(self) -> Unanswered | None:
        """Why Azure answered no question, if all failed for want of access; else None."""
        facts = (self.sizes, self.quotas, self.versions, self.group, self.cluster)
        failures = [
            fact for fact in (*facts, *self.providers.values()) if isinstance(fact, Unanswered)
        ]
        causes = {failure.cause for failure in failures}
        is_every_fact = len(failures) == len(facts) + len(self.providers)
        is_access = causes <= {Cause.CREDENTIALS_REFUSED, Cause.AZURE_UNREACHABLE}
        return failures[0] if is_every_fact and is_access and len(causes) == 1 else None

    @property
    def are_names_taken(self) -> bool:
        return isinstance(self.group, str) or isinstance(self.cluster, ExistingCluster)

    def pool(self, name: str) -> ExistingPool | None:
        """The pool that the cluster has already; of one that rotates, under its name in Azure."""
        pools = self.cluster.pools if isinstance(self.cluster, ExistingCluster) else {}
        rotating = (pool for pool in pools.values() if pool.rotates_as == name)
        return pools.get(name) or next(rotating, None)

    def has_pool(self, name: str, vm_size: str) -> bool:
        """Whether the cluster already has this pool with this size."""
        pool = self.pool(name)
        return pool is not None and plain(pool.vm_size) == plain(vm_size)

    def size(self, vm_size: str) -> OfferedSize | None:
        return None if isinstance(self.sizes, Unanswered) else self.sizes.get(plain(vm_size))


def sizes(skus: Iterable[Mapping[str, Any]], location: str) -> dict[str, OfferedSize]:
    """The sizes of a region, by their plain names; skus are as Azure's API has them."""
    machines = (sku for sku in skus if sku.get("resourceType") == "virtualMachines")
    return {plain(str(sku["name"])): _size(sku, location) for sku in machines if sku.get("name")}


def _size(sku: Mapping[str, Any], location: str) -> OfferedSize:
    can = {each.get("name"): str(each.get("value")) for each in sku.get("capabilities") or ()}
    places = sku.get("locationInfo") or ()
    here = [info for info in places if plain(str(info.get("location"))) == location]
    restrictions = [each for each in sku.get("restrictions") or () if _applies(each, location)]
    regional = next((each for each in restrictions if each.get("type") == "Location"), None)
    zonal = [each.get("restrictionInfo") for each in restrictions if each.get("type") == "Zone"]
    return OfferedSize(
        name=str(sku["name"]),
        family=str(sku.get("family") or ""),
        vcpus=int(can.get("vCPUs", 0)),
        zones=frozenset(zone for info in here for zone in _texts(info.get("zones"))),
        refused=str(regional.get("reasonCode") or "") if regional else "",
        refused_zones=frozenset(
            zone for info in zonal if info for zone in _texts(info.get("zones"))
        ),
        can_be_spot=can.get("LowPriorityCapable", "True") == "True",
    )


def _applies(restriction: Mapping[str, Any], location: str) -> bool:
    info = restriction.get("restrictionInfo") or {}
    return location in map(plain, info.get("locations") or restriction.get("values") or ())


def quotas(usages: Iterable["Usage"]) -> dict[str, Quota]:
    """The quotas of a region, by their plain names."""
    named = ((str(usage.name.value), usage) for usage in usages)
    return {
        plain(name): Quota(name=name, limit=int(usage.limit), used=int(usage.current_value))
        for name, usage in named
    }


def version(offered: "KubernetesVersion") -> Version:
    plans = (offered.capabilities.support_plan if offered.capabilities else None) or ()
    return Version(
        minor=str(offered.version),
        patches=frozenset(_texts(list(offered.patch_versions or ()))),
        is_default=bool(offered.is_default),
        is_preview=bool(offered.is_preview),
        is_official=OFFICIAL in map(_text, plans),
    )


def cluster(managed: "ManagedCluster") -> ExistingCluster:
    properties: Any = managed.properties
    pools = (properties.agent_pool_profiles if properties else None) or ()
    return ExistingCluster(
        id=str(managed.id),
        location=plain(str(managed.location)),
        version=str(properties.current_kubernetes_version or properties.kubernetes_version or ""),
        trouble=_trouble(properties),
        pools={str(pool.name): _pool(pool) for pool in pools},
        has_system_identity=managed.identity is not None
        and _text(managed.identity.type) == "SystemAssigned",
        has_long_term_support=_text(properties.support_plan) == LONG_TERM,
    )


def reservation_group(location: str, inside: Iterable["CapacityReservation"]) -> ReservationGroup:
    machines: Counter[tuple[str, str]] = Counter()
    for item in inside:
        for zone in _texts(item.zones) or [""]:
            machines[plain(str(item.sku.name)), zone] += int(item.sku.capacity or 0)
    return ReservationGroup(location=plain(location), machines=machines)


def _trouble(properties: Any) -> str:
    power = properties.power_state
    if power and _text(power.code) == "Stopped":
        return "Stopped"
    state = str(properties.provisioning_state or "")
    return state if state in ("Deleting", "Failed") else ""


def _pool(profile: "ManagedClusterAgentPoolProfile") -> ExistingPool:
    return ExistingPool(
        vm_size=str(profile.vm_size or ""),
        count=int(profile.count or 0),
        spot=_text(profile.scale_set_priority) == "Spot",
        version=str(profile.current_orchestrator_version or profile.orchestrator_version or ""),
        fixed={
            "vmSize": plain(str(profile.vm_size or "")),
            "scaleSetPriority": _text(profile.scale_set_priority) or "Regular",
            "gpuInstanceProfile": _text(profile.gpu_instance_profile),
            "gpuProfile.driver": (
                _text(profile.gpu_profile.driver if profile.gpu_profile else None) or "Install"
            ),
            "availabilityZones": sorted(_texts(profile.availability_zones)),
            "osDiskSizeGB": profile.os_disk_size_gb,
            "osDiskType": _text(profile.os_disk_type),
            "enableEncryptionAtHost": bool(profile.enable_encryption_at_host),
        },
        rotates_as=str((profile.node_labels or {}).get(rotation.LABEL, "")),
    )


def _texts(values: object) -> list[str]:
    """A list of strings. Raises TypeError for any other value."""
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(values)
    return values


def _text(value: object) -> str:
    """The value of a member of an SDK enumeration, or a string that the SDK does not know."""
    return str(getattr(value, "value", value) or "")
