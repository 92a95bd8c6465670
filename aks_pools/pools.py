"""The agent pools of a resource, as resources of their own and inside a cluster, of any provider.

A pool is read by azure-native's names, and each value only when somebody asks for it: before an
update some are not known. A mapping may raise NotKnownError for these.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from aks_catalogue.regions import plain
from aks_catalogue.sizes import is_gpu_size
from aks_pools import values
from aks_pools.vocabulary import AZURE_NATIVE, CLASSIC_CLUSTER, CLASSIC_POOL, Renamed, Vocabulary

# A type can contain the API version, as in azure-native:containerservice/v20240901:AgentPool. With
# an SDK that is generated for one version, the name of the package contains it.
_TYPE = re.compile(
    r"(azure-native(_containerservice_v\w+)?|aks-preview):containerservice(/v\w+)?:"
    r"(AgentPool|ManagedCluster)"
    r"|azure:containerservice/\w+:(KubernetesClusterNodePool|KubernetesCluster)"
)
# The resources that are pools, and the names of their properties.
_POOLS = {"AgentPool": AZURE_NATIVE, "KubernetesClusterNodePool": CLASSIC_POOL}
_SINGLE = "virtualMachinesProfile"

# The names of the resource group, the cluster and the pool, normalized as Azure compares them.
PoolNames = tuple[str, ...]


@dataclass(frozen=True)
class Machines:
    """The VMs of one size in a pool, and how many there can be."""

    vm_size: str
    _settings: Any
    _in_autoscale: bool = False

    @property
    def autoscaled(self) -> bool:
        written = _inside(self._settings, "enableAutoScaling")
        return self._in_autoscale or values.flag(written, "enableAutoScaling")

    @property
    def least(self) -> int | None:
        """The smallest number of VMs; None if an autoscaled pool does not set it."""
        return self._number("minCount" if self.autoscaled else "count")

    @property
    def most(self) -> int | None:
        """The largest number of VMs; None if an autoscaled pool does not set it."""
        return self._number("maxCount" if self.autoscaled else "count")

    @property
    def initial(self) -> int | None:
        """The number of VMs at first; None if an autoscaled pool does not set it."""
        return self._number("count")

    def _number(self, name: str) -> int | None:
        number = values.number(_inside(self._settings, name), name)
        # AKS creates one VM by default.
        return 1 if number is None and not self.autoscaled else number


@dataclass(frozen=True)
class Pool:
    """One agent pool."""

    vocabulary: Vocabulary
    # The properties of the resource: of the pool itself, or of the cluster of an inline pool.
    owner: Mapping[str, Any]
    _read: Callable[[], Mapping[str, Any]]
    # Where an inline pool is in its cluster.
    place: str = ""

    @property
    def inline(self) -> bool:
        return bool(self.place)

    @property
    def label(self) -> str:
        """Its name in messages; in a list made by a loop, nobody knows a pool by its place."""
        with suppress(values.NotKnownError, values.OddValueError):
            if self.inline and (name := self.text("name")):
                return f"The inline pool {name} ({self.place})"
        return f"The inline pool {self.place}" if self.inline else "This pool"

    @property
    def properties(self) -> Renamed:
        """The pool's properties, by azure-native's names."""
        read = self._read()
        return Renamed(read if isinstance(read, Mapping) else {}, self.vocabulary)

    def text(self, name: str) -> str:
        """Returns a string property; empty if it is not set."""
        return values.text(*self._value(name))

    def flag(self, name: str) -> bool:
        """Returns a boolean property; false if it is not set."""
        return values.flag(*self._value(name))

    def texts(self, name: str) -> list[str]:
        """Returns a list of strings; empty if it is not set."""
        return values.texts(*self._value(name))

    def part(self, name: str) -> Mapping[str, Any]:
        """Returns an object property; empty if it is not set."""
        return values.part(*self._value(name))

    def _value(self, name: str) -> tuple[Any, str]:
        return self.properties.get(name), self.name_of(name)

    def name_of(self, name: str) -> str:
        """Returns the property's name in the program."""
        return self.properties.written(name)

    def taints(self) -> list[str]:
        # The only taint that the default pool of the classic provider can have.
        has_one = self.inline and self.flag("onlyCriticalAddonsEnabled")
        return [*self.texts("nodeTaints"), *["CriticalAddonsOnly=true:NoSchedule"] * has_one]

    def is_spot(self) -> bool:
        return self.text("scaleSetPriority").lower() == "spot"

    def runs_linux(self) -> bool:
        return (self.text("osType") or "Linux").lower() == "linux"

    def machines(self) -> Iterator[Machines]:
        """Yields the VMs by size: one size for a scale set, several for a Virtual Machines pool."""
        if vm_size := self.text("vmSize"):
            yield Machines(vm_size, self.properties)
            return
        scale = _inside(self.properties.get(_SINGLE), "scale")
        for kind in ("manual", "autoscale"):
            for profile in values.listed(_inside(scale, kind)):
                # One size, or in older versions of the API a list of alternatives.
                sizes = values.listed(_inside(profile, "sizes"))
                for size in sizes or values.listed(_inside(profile, "size")):
                    yield Machines(values.text(size, _SINGLE), profile, kind == "autoscale")

    def gpu_machines(self) -> list[Machines]:
        return [machines for machines in self.machines() if is_gpu_size(machines.vm_size)]

    def sizes(self) -> list[str]:
        return [machines.vm_size for machines in self.machines()]

    def gpu_sizes(self) -> list[str]:
        return [machines.vm_size for machines in self.gpu_machines()]

    @property
    def scaled_by(self) -> str:
        """The name of the autoscaling property in the program."""
        is_scale_set = bool(self.text("vmSize"))
        return self.name_of("enableAutoScaling") if is_scale_set else f"{_SINGLE}.scale.autoscale"


def pools_of(resource_type: str, properties: Mapping[str, Any]) -> Iterator[Pool]:
    """Yields the agent pools of a resource."""
    kind = _kind(resource_type)
    if kind in _POOLS:
        yield Pool(_POOLS[kind], properties, lambda: properties)
    elif kind == "ManagedCluster":
        profiles = values.listed(properties.get("agentPoolProfiles"))
        for index in range(len(profiles)):
            read = partial(profiles.__getitem__, index)
            yield Pool(AZURE_NATIVE, properties, read, f"agentPoolProfiles[{index}]")
    elif kind == "KubernetesCluster" and "defaultNodePool" in properties:
        read = partial(properties.__getitem__, "defaultNodePool")
        yield Pool(CLASSIC_CLUSTER, properties, read, "defaultNodePool")


def standalone_pool_names(resource_type: str, properties: Mapping[str, Any]) -> PoolNames | None:
    """Returns the names of a standalone pool; None for other resources and unknown names."""
    is_one = _kind(resource_type) == "AgentPool"
    return _names(properties, properties, "agentPoolName") if is_one else None


def inline_pool_names(cluster: Mapping[str, Any], profile: Mapping[str, Any]) -> PoolNames | None:
    """Returns the names of an inline pool. A refresh adds standalone pools to the inline list."""
    return _names(cluster, profile, "name")


def _names(cluster: Mapping[str, Any], pool: Mapping[str, Any], key: str) -> PoolNames | None:
    with suppress(values.NotKnownError):
        names = [cluster.get("resourceGroupName"), cluster.get("resourceName"), pool.get(key)]
        if all(isinstance(name, str) and name not in ("", values.UNKNOWN) for name in names):
            return tuple(map(plain, map(str, names)))
    return None


def is_cluster(resource_type: str) -> bool:
    return _kind(resource_type) in ("ManagedCluster", "KubernetesCluster")


def is_pool(resource_type: str) -> bool:
    """Whether the resource is a standalone pool."""
    return _kind(resource_type) in _POOLS


def _kind(resource_type: str) -> str:
    return resource_type.rpartition(":")[2] if _TYPE.fullmatch(resource_type) else ""


def _inside(whole: Any, name: str) -> Any:
    """Returns `whole[name]`; an unknown value stays unknown."""
    return whole.get(name) if isinstance(whole, Mapping) else whole
