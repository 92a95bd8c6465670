"""The agent pools of a resource, whoever's provider makes them: pools of their own and inline ones.

All of them are read by azure-native's names. A value that is not known yet raises when it is
touched, and the engine then reports that the rule could not run; so nothing is read before a rule
asks for it, not even an inline pool out of its list.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from catalogue.regions import plain
from catalogue.sizes import find, is_gpu_size
from policies.certainty import Certainty
from policies.vocabulary import AZURE_NATIVE, CLASSIC_CLUSTER, CLASSIC_POOL, Renamed, Vocabulary

# Older programs have the API's version in their types, azure-native:containerservice/v20240901:...,
# and programs with an SDK that was generated for one version have it in the package's name.
_AZURE = re.compile(
    r"(azure-native(_containerservice_v\w+)?|aks-preview):containerservice(/v\w+)?:"
    r"(?P<kind>AgentPool|ManagedCluster)"
)
_CLASSIC = re.compile(
    r"azure:containerservice/\w+:(?P<kind>KubernetesClusterNodePool|KubernetesCluster)"
)
# What a pool of its own is called, and how its provider calls its properties.
_POOLS = {"AgentPool": AZURE_NATIVE, "KubernetesClusterNodePool": CLASSIC_POOL}
_SINGLE = "virtualMachinesProfile"

# Of the group, the cluster and the pool, as Azure compares them.
PoolNames = tuple[str, ...]
_NO_NAMES = ("", UNKNOWN_STRING_VALUE)


@dataclass(frozen=True)
class Machines:
    """The machines of one size in a pool; how many there are is read when it is asked for."""

    vm_size: str
    _settings: Any
    _in_autoscale: bool = False

    @property
    def autoscaled(self) -> bool:
        return self._in_autoscale or bool(_inside(self._settings, "enableAutoScaling"))

    @property
    def least(self) -> int | None:
        """The fewest there can be; None where an autoscaled pool does not say."""
        return self._number("minCount")

    @property
    def most(self) -> int | None:
        """The most there can be; None where an autoscaled pool does not say."""
        return self._number("maxCount")

    def _number(self, bound: str) -> int | None:
        said = _inside(self._settings, bound if self.autoscaled else "count")
        if said is not None:
            return int(float(said))
        # AKS makes one where nobody says how many.
        return None if self.autoscaled else 1


@dataclass(frozen=True)
class Pool:
    """One agent pool, with how to name it to a reader."""

    label: str
    vocabulary: Vocabulary
    inline: bool
    # The properties of the resource that it is, or that it is inline in.
    owner: Mapping[str, Any]
    _read: Callable[[], Mapping[str, Any]]

    @property
    def properties(self) -> Mapping[str, Any]:
        """The pool's properties, by azure-native's names."""
        return Renamed(self._read(), self.vocabulary)

    def get(self, name: str) -> str:
        """A text property; empty where the program leaves it to the server."""
        return str(self.properties.get(name) or "")

    def part(self, name: str) -> Mapping[str, Any]:
        """A property that has properties of its own; empty where it was left out."""
        return self.properties.get(name) or {}

    def taints(self) -> list[str]:
        taints = [str(taint) for taint in self.properties.get("nodeTaints") or ()]
        # The classic provider's word for the one taint that its clusters' own pools can have.
        if self.inline and self.properties.get("onlyCriticalAddonsEnabled"):
            taints.append("CriticalAddonsOnly=true:NoSchedule")
        return taints

    def first_taints(self) -> list[str]:
        """Taints that nodes begin with: whoever prepares the nodes may take them away."""
        return [str(taint) for taint in self.properties.get("nodeInitializationTaints") or ()]

    def is_spot(self) -> bool:
        return self.get("scaleSetPriority").lower() == "spot"

    def name_of(self, name: str) -> str:
        """The property's name where the pool is written."""
        return self.vocabulary.written(name, self._read())

    def sizes(self) -> list[str]:
        """The sizes of its machines: one, but of pools that are made of single machines."""
        return [machines.vm_size for machines in self.machines()]

    def gpu_sizes(self) -> list[str]:
        return [machines.vm_size for machines in self.gpu_machines()]

    def machines(self) -> Iterator[Machines]:
        """One entry per VM size: one for a scale set, several for a pool of single machines."""
        if vm_size := self.get("vmSize"):
            yield Machines(vm_size, self.properties)
            return
        scale = _inside(self.properties.get(_SINGLE), "scale")
        for kind in ("manual", "autoscale"):
            for one in _listed(_inside(scale, kind)):
                # One size, or in older versions of the API several to choose from.
                for said in _listed(_inside(one, "sizes")) or _listed(_inside(one, "size")):
                    yield Machines(str(said), one, kind == "autoscale")

    def gpu_machines(self) -> list[Machines]:
        return [machines for machines in self.machines() if is_gpu_size(machines.vm_size)]

    @property
    def scaled_by(self) -> str:
        """What autoscaling is called where the pool is written."""
        if self.get("vmSize"):
            return self.name_of("enableAutoScaling")
        return f"{_SINGLE}.scale.autoscale"


def pools_of(resource_type: str, properties: Mapping[str, Any]) -> Iterator[Pool]:
    """The agent pools that a resource makes."""
    kind = _kind(resource_type)
    if kind in _POOLS:
        yield Pool("This pool", _POOLS[kind], False, properties, lambda: properties)
    elif kind == "ManagedCluster":
        profiles = properties.get("agentPoolProfiles") or ()
        for index in range(len(profiles)):
            label = f"The inline pool agentPoolProfiles[{index}]"
            read = partial(profiles.__getitem__, index)
            yield Pool(label, AZURE_NATIVE, True, properties, read)
    elif kind == "KubernetesCluster" and "defaultNodePool" in properties:
        label = "The inline pool defaultNodePool"
        read = partial(properties.__getitem__, "defaultNodePool")
        yield Pool(label, CLASSIC_CLUSTER, True, properties, read)


def own_pool(resource_type: str, properties: Mapping[str, Any]) -> PoolNames | None:
    """The names of a pool of its own; None of everything else, and where one is not known."""
    if _kind(resource_type) != "AgentPool":
        return None
    return _names(properties, properties, "agentPoolName")


def inline_pool(cluster: Mapping[str, Any], profile: Mapping[str, Any]) -> PoolNames | None:
    """The names of an inline pool. A refresh puts pools of their own into azure-native's list."""
    return _names(cluster, profile, "name")


def _names(cluster: Mapping[str, Any], pool: Mapping[str, Any], own: str) -> PoolNames | None:
    with suppress(UnknownValueError):
        said = [cluster.get("resourceGroupName"), cluster.get("resourceName"), pool.get(own)]
        known = [plain(name) for name in said if isinstance(name, str) and name not in _NO_NAMES]
        if len(known) == len(said):
            return tuple(known)
    return None


def nvidia_gpus(pool: Pool) -> Certainty:
    """Whether its nodes have NVIDIA's GPUs: of a size that is not known, that is possible."""
    sizes = [find(vm_size) for vm_size in pool.gpu_sizes()]
    if any(size and size.is_nvidia for size in sizes):
        return Certainty.CERTAIN
    return Certainty.POSSIBLE if None in sizes else Certainty.NO


def is_cluster(resource_type: str) -> bool:
    return _kind(resource_type) in ("ManagedCluster", "KubernetesCluster")


def is_pool(resource_type: str) -> bool:
    """Whether the resource is a pool of its own."""
    return _kind(resource_type) in _POOLS


def _kind(resource_type: str) -> str:
    match = _AZURE.fullmatch(resource_type) or _CLASSIC.fullmatch(resource_type)
    return match["kind"] if match else ""


def _inside(whole: Any, name: str) -> Any:
    """Returns `whole[name]`; an unknown value stays unknown."""
    return whole.get(name) if isinstance(whole, Mapping) else whole


def _listed(value: Any) -> list[Any]:
    """What a list has in it; one value in its place stands for itself, and none for nothing."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return [value] if value else []
