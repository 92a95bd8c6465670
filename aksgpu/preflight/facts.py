"""What Azure answers, in the words that the questions need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from aksgpu.outcome import Cause
from catalogue.regions import plain

if TYPE_CHECKING:
    from azure.mgmt.compute.models import ResourceSku, ResourceSkuRestrictions, Usage
    from azure.mgmt.containerservice.models import (
        KubernetesVersion,
        ManagedCluster,
        ManagedClusterAgentPoolProfile,
    )

_OFFICIAL = "KubernetesOfficial"


@dataclass(frozen=True)
class Unanswered:
    """A question that Azure did not answer, and why."""

    reason: str
    cause: Cause = Cause.UNANSWERED


Fact = TypeVar("Fact")


@dataclass(frozen=True, kw_only=True)
class OfferedSize:
    """A size in one region, and what of it this subscription may have."""

    name: str
    family: str
    vcpus: int
    memory_gib: float
    zones: frozenset[str]
    # Why it may not be had at all, by Azure's code; empty where it may.
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


@dataclass(frozen=True, kw_only=True)
class ExistingCluster:
    id: str
    location: str
    version: str
    # How it is, where it takes no new pools; else empty.
    trouble: str
    pools: Mapping[str, ExistingPool]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that was asked. What was not answered says so in its place."""

    location: str
    subscription: str
    sizes: Mapping[str, OfferedSize] | Unanswered
    quotas: Mapping[str, Quota] | Unanswered
    versions: Sequence[Version] | Unanswered
    providers: Mapping[str, str | Unanswered]
    # Of the features that are needed those that Azure knows, by plain name, with their states.
    features: Mapping[str, str] | Unanswered
    # The ids of what there is already; None for what there is not.
    group: str | Unanswered | None
    cluster: ExistingCluster | Unanswered | None
    # The ids of all that the stack's own state has; None where the state cannot be read. To read
    # it takes an engine, so it is read only where names are taken.
    owned: frozenset[str] | None = frozenset()
    is_rehearsal: bool = False

    @property
    def lost(self) -> Unanswered | None:
        """Why not a single question was answered, where that is one and the same."""
        asked = (self.sizes, self.quotas, self.versions, self.group, self.cluster)
        answers = [*asked, *self.providers.values()]
        causes = {answer.cause for answer in answers if isinstance(answer, Unanswered)}
        all_lost = len(causes) == 1 and all(isinstance(answer, Unanswered) for answer in answers)
        found = next(answer for answer in answers) if all_lost else None
        is_way_in = causes <= {Cause.CREDENTIALS_REFUSED, Cause.AZURE_UNREACHABLE}
        return found if isinstance(found, Unanswered) and is_way_in else None

    @property
    def are_names_taken(self) -> bool:
        return isinstance(self.group, str) or isinstance(self.cluster, ExistingCluster)

    def has_pool(self, name: str, vm_size: str) -> bool:
        """Whether the cluster has this pool already, of this size."""
        pools = self.cluster.pools if isinstance(self.cluster, ExistingCluster) else {}
        return name in pools and plain(pools[name].vm_size) == plain(vm_size)

    def size(self, vm_size: str) -> OfferedSize | None:
        return None if isinstance(self.sizes, Unanswered) else self.sizes.get(plain(vm_size))


def sizes(skus: Iterable["ResourceSku"], location: str) -> dict[str, OfferedSize]:
    """The sizes of a region, by their plain names."""
    machines = (sku for sku in skus if sku.resource_type == "virtualMachines" and sku.name)
    return {plain(str(sku.name)): _size(sku, location) for sku in machines}


def _size(sku: "ResourceSku", location: str) -> OfferedSize:
    can = {str(one.name): str(one.value) for one in sku.capabilities or ()}
    here = [info for info in sku.location_info or () if plain(str(info.location)) == location]
    refusals = [refusal for refusal in sku.restrictions or () if _is_meant(refusal, location)]
    whole = next((refusal for refusal in refusals if refusal.type == "Location"), None)
    zonal = [refusal.restriction_info for refusal in refusals if refusal.type == "Zone"]
    return OfferedSize(
        name=str(sku.name),
        family=str(sku.family or ""),
        vcpus=int(can.get("vCPUs", 0)),
        memory_gib=float(can.get("MemoryGB", 0)),
        zones=frozenset(zone for info in here for zone in _texts(info.zones)),
        refused=_text(whole.reason_code) if whole else "",
        refused_zones=frozenset(zone for info in zonal if info for zone in _texts(info.zones)),
        can_be_spot=can.get("LowPriorityCapable", "True") == "True",
    )


def _is_meant(refusal: "ResourceSkuRestrictions", location: str) -> bool:
    info = refusal.restriction_info
    places = (info.locations if info else None) or refusal.values_property or ()
    return location in map(plain, places)


def quotas(usages: Iterable["Usage"]) -> dict[str, Quota]:
    """The quotas of a region, by their plain names."""
    named = ((str(usage.name.value), usage) for usage in usages)
    return {
        plain(name): Quota(name=name, limit=int(usage.limit), used=int(usage.current_value))
        for name, usage in named
    }


def version(said: "KubernetesVersion") -> Version:
    plans = (said.capabilities.support_plan if said.capabilities else None) or ()
    return Version(
        minor=str(said.version),
        patches=frozenset(_texts(list(said.patch_versions or ()))),
        is_default=bool(said.is_default),
        is_preview=bool(said.is_preview),
        is_official=_OFFICIAL in map(_text, plans),
    )


def cluster(said: "ManagedCluster") -> ExistingCluster:
    properties: Any = said.properties
    pools = (properties.agent_pool_profiles if properties else None) or ()
    return ExistingCluster(
        id=str(said.id),
        location=plain(str(said.location)),
        version=str(properties.current_kubernetes_version or properties.kubernetes_version or ""),
        trouble=_trouble(properties),
        pools={str(pool.name): _pool(pool) for pool in pools},
    )


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
    )


def _texts(values: object) -> list[str]:
    """A list of texts. Raises TypeError where it is something else."""
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(values)
    return values


def _text(value: object) -> str:
    """A member of one of the SDK's enumerations, or the text that it does not know."""
    return str(getattr(value, "value", value) or "")
