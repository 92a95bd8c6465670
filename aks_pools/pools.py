"""The agent pools of a resource, standalone and inline, of any provider.

Rules read them by azure-native's names. Reading an unknown value raises an error, and the engine
then reports that the rule could not run. So every value is read only when a rule uses it, even an
inline pool in its list.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from aks_catalogue.regions import plain
from aks_catalogue.sizes import find, is_gpu_size
from aks_pools.vocabulary import AZURE_NATIVE, CLASSIC_CLUSTER, CLASSIC_POOL, Renamed, Vocabulary
from policies.certainty import Certainty

# A type can contain the API version, as in azure-native:containerservice/v20240901:AgentPool. With
# an SDK that is generated for one version, the name of the package contains it.
_AZURE = re.compile(
    r"(azure-native(_containerservice_v\w+)?|aks-preview):containerservice(/v\w+)?:"
    r"(?P<kind>AgentPool|ManagedCluster)"
)
_CLASSIC = re.compile(
    r"azure:containerservice/\w+:(?P<kind>KubernetesClusterNodePool|KubernetesCluster)"
)
# The resources that are standalone pools, and the names of their properties.
_POOLS = {"AgentPool": AZURE_NATIVE, "KubernetesClusterNodePool": CLASSIC_POOL}
_SINGLE = "virtualMachinesProfile"

# The names of the resource group, the cluster and the pool, normalized as Azure compares them.
PoolNames = tuple[str, ...]
_NO_NAMES = ("", UNKNOWN_STRING_VALUE)


@dataclass(frozen=True)
class Machines:
    """The VMs of one size in a pool. The number is read only when a rule uses it."""

    vm_size: str
    _settings: Any
    _in_autoscale: bool = False

    @property
    def autoscaled(self) -> bool:
        return self._in_autoscale or bool(_inside(self._settings, "enableAutoScaling"))

    @property
    def least(self) -> int | None:
        """The smallest number of VMs; None if an autoscaled pool does not set it."""
        return self._number("minCount")

    @property
    def most(self) -> int | None:
        """The largest number of VMs; None if an autoscaled pool does not set it."""
        return self._number("maxCount")

    @property
    def initial(self) -> int | None:
        """The number of VMs at first; None if an autoscaled pool does not set it."""
        return self._number("count")

    def _number(self, bound: str) -> int | None:
        count = _inside(self._settings, bound if self.autoscaled else "count")
        if count is not None:
            return int(float(count))
        # AKS creates one VM by default.
        return None if self.autoscaled else 1


@dataclass(frozen=True)
class Pool:
    """One agent pool."""

    # Its name in messages.
    label: str
    vocabulary: Vocabulary
    inline: bool
    # The properties of the resource: of the pool itself, or of the cluster of an inline pool.
    owner: Mapping[str, Any]
    _read: Callable[[], Mapping[str, Any]]

    @property
    def properties(self) -> Mapping[str, Any]:
        """The pool's properties, by azure-native's names."""
        return Renamed(self._read(), self.vocabulary)

    def get(self, name: str) -> str:
        """Returns a string property; empty if it is not set."""
        return str(self.properties.get(name) or "")

    def part(self, name: str) -> Mapping[str, Any]:
        """Returns an object property; empty if it is not set."""
        return self.properties.get(name) or {}

    def taints(self) -> list[str]:
        taints = [str(taint) for taint in self.properties.get("nodeTaints") or ()]
        # The only taint that the default pool of the classic provider can have.
        if self.inline and self.properties.get("onlyCriticalAddonsEnabled"):
            taints.append("CriticalAddonsOnly=true:NoSchedule")
        return taints

    def first_taints(self) -> list[str]:
        """Returns taints of new nodes, which software on the cluster may remove."""
        return [str(taint) for taint in self.properties.get("nodeInitializationTaints") or ()]

    def is_spot(self) -> bool:
        return self.get("scaleSetPriority").lower() == "spot"

    def name_of(self, name: str) -> str:
        """Returns the property's name in the program."""
        return self.vocabulary.written(name, self._read())

    def sizes(self) -> list[str]:
        """Returns the VM sizes: one for a scale set, several for a Virtual Machines pool."""
        return [machines.vm_size for machines in self.machines()]

    def gpu_sizes(self) -> list[str]:
        return [machines.vm_size for machines in self.gpu_machines()]

    def machines(self) -> Iterator[Machines]:
        """Yields the VMs by size: one size for a scale set, several for a Virtual Machines pool."""
        if vm_size := self.get("vmSize"):
            yield Machines(vm_size, self.properties)
            return
        scale = _inside(self.properties.get(_SINGLE), "scale")
        for kind in ("manual", "autoscale"):
            for profile in _listed(_inside(scale, kind)):
                # One size, or in older versions of the API a list of alternatives.
                for size in _listed(_inside(profile, "sizes")) or _listed(_inside(profile, "size")):
                    yield Machines(str(size), profile, kind == "autoscale")

    def gpu_machines(self) -> list[Machines]:
        return [machines for machines in self.machines() if is_gpu_size(machines.vm_size)]

    @property
    def scaled_by(self) -> str:
        """The name of the autoscaling property in the program."""
        if self.get("vmSize"):
            return self.name_of("enableAutoScaling")
        return f"{_SINGLE}.scale.autoscale"


def pools_of(resource_type: str, properties: Mapping[str, Any]) -> Iterator[Pool]:
    """Yields the agent pools of a resource."""
    kind = _kind(resource_type)
    if kind in _POOLS:
        yield Pool("This pool", _POOLS[kind], False, properties, lambda: properties)
    elif kind == "ManagedCluster":
        profiles = properties.get("agentPoolProfiles") or ()
        for index in range(len(profiles)):
            read = partial(profiles.__getitem__, index)
            label = _inline_label(f"agentPoolProfiles[{index}]", read)
            yield Pool(label, AZURE_NATIVE, True, properties, read)
    elif kind == "KubernetesCluster" and "defaultNodePool" in properties:
        read = partial(properties.__getitem__, "defaultNodePool")
        label = _inline_label("defaultNodePool", read)
        yield Pool(label, CLASSIC_CLUSTER, True, properties, read)


def _inline_label(place: str, read: Callable[[], Mapping[str, Any]]) -> str:
    """Returns a pool's name and place; in a list made by a loop, nobody knows it by its place."""
    with suppress(UnknownValueError):
        if name := read().get("name"):
            return f"The inline pool {name} ({place})"
    return f"The inline pool {place}"


def standalone_pool_names(resource_type: str, properties: Mapping[str, Any]) -> PoolNames | None:
    """Returns the names of a standalone pool; None for other resources and unknown names."""
    if _kind(resource_type) != "AgentPool":
        return None
    return _names(properties, properties, "agentPoolName")


def inline_pool_names(cluster: Mapping[str, Any], profile: Mapping[str, Any]) -> PoolNames | None:
    """Returns the names of an inline pool. A refresh adds standalone pools to the inline list."""
    return _names(cluster, profile, "name")


def _names(cluster: Mapping[str, Any], pool: Mapping[str, Any], key: str) -> PoolNames | None:
    with suppress(UnknownValueError):
        names = [cluster.get("resourceGroupName"), cluster.get("resourceName"), pool.get(key)]
        known = [plain(name) for name in names if isinstance(name, str) and name not in _NO_NAMES]
        if len(known) == len(names):
            return tuple(known)
    return None


def nvidia_gpus(pool: Pool) -> Certainty:
    """Whether the pool has NVIDIA GPUs; possible if its size is not in the catalogue."""
    sizes = [find(vm_size) for vm_size in pool.gpu_sizes()]
    if any(size and size.is_nvidia for size in sizes):
        return Certainty.CERTAIN
    return Certainty.POSSIBLE if None in sizes else Certainty.NO


def is_cluster(resource_type: str) -> bool:
    return _kind(resource_type) in ("ManagedCluster", "KubernetesCluster")


def is_pool(resource_type: str) -> bool:
    """Whether the resource is a standalone pool."""
    return _kind(resource_type) in _POOLS


def _kind(resource_type: str) -> str:
    match = _AZURE.fullmatch(resource_type) or _CLASSIC.fullmatch(resource_type)
    return match["kind"] if match else ""


def _inside(whole: Any, name: str) -> Any:
    """Returns `whole[name]`; an unknown value stays unknown."""
    return whole.get(name) if isinstance(whole, Mapping) else whole


def _listed(value: Any) -> list[Any]:
    """Returns a list as it is, a single value as a list of one, and no value as an empty list."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return [value] if value else []
