"""The resource types AgentPool and ManagedCluster: their paths, and the places of their properties.

The names are azure-native's: all properties are on one level, where ARM has most of them inside
`properties`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from aks_catalogue.aks_properties import CLUSTER, POOL, Properties
from aks_catalogue.shapes import mapping
from aks_preview.configuration import PACKAGE
from provider_kit.arm_types import ArmType, flat

HEADERS: Final = "customHeaders"
REPLACE_ON_HEADERS: Final = "replaceOnHeaderChange"
# Inputs that Azure never returns, so that only the state has them.
_OURS = (HEADERS, REPLACE_ON_HEADERS)
# azure-native's name for the property `type`: the output `type` is the ARM resource type.
_TYPE_OUTPUT = "typePropertiesType"
_VERSION_OUTPUT = "azureApiVersion"
# What ARM returns of each resource, and no program sets.
_OF_ARM = frozenset({"id", "name", "systemData", "type", _VERSION_OUTPUT})
_POOLS = "agentPoolProfiles"


@dataclass(frozen=True, kw_only=True)
class AksType(ArmType):
    """A resource type of AKS."""

    not_sent: frozenset[str] = frozenset(_OURS)
    # What AKS does with the properties.
    known: Properties

    @property
    def token(self) -> str:
        return f"{PACKAGE}:containerservice:{self.name}"

    def outputs_of(self, answer: Mapping[str, Any], api_version: str) -> dict[str, Any]:
        """Returns the outputs in ARM's response, without those that only the inputs have."""
        outputs = flat(answer) | self.names_in(answer["id"]) | {_VERSION_OUTPUT: api_version}
        outputs.pop("systemData", None)
        if "type" in (answer.get("properties") or {}):
            outputs[_TYPE_OUTPUT] = answer["properties"]["type"]
        for owner, name in self.id_lists:
            members = mapping(outputs.get(owner))
            if isinstance(ids := members.get(name), Mapping):
                outputs[owner] = {**members, name: list(ids)}
        return outputs

    def inputs_of(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the outputs in the form of inputs, without what the server sets."""
        omitted = {*_OURS, *_OF_ARM, *self.known.by_server, _TYPE_OUTPUT}
        inputs = {name: value for name, value in outputs.items() if name not in omitted}
        if isinstance(pools := inputs.get(_POOLS), list):
            read_only = {*POOL.by_server, "powerState"}
            inputs[_POOLS] = [
                {name: value for name, value in pool.items() if name not in read_only}
                for pool in pools
            ]
        return inputs | ({"type": outputs[_TYPE_OUTPUT]} if _TYPE_OUTPUT in outputs else {})


def is_anothers(aks_type: AksType, state: Mapping[str, Any]) -> bool:
    """Whether another provider wrote a state. This one stores the names in the resource path."""
    return bool(state) and not state.keys() >= set(aks_type.path_names)


def input_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the inputs that Azure never returns, so that the state keeps them."""
    return {name: values[name] for name in _OURS if name in values}


_CLUSTER_PATH = (
    "/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService"
    "/managedClusters/{resourceName}"
)
AGENT_POOL = AksType(
    name="AgentPool", path=f"{_CLUSTER_PATH}/agentPools/{{agentPoolName}}", known=POOL
)
MANAGED_CLUSTER = AksType(
    name="ManagedCluster",
    path=_CLUSTER_PATH,
    envelope=frozenset({"extendedLocation", "identity", "kind", "location", "sku", "tags"}),
    # As in azure-native, a list of the identities' IDs.
    id_lists=frozenset({("identity", "userAssignedIdentities")}),
    known=CLUSTER,
)
AKS_TYPES: Mapping[str, AksType] = MappingProxyType(
    {aks_type.token: aks_type for aks_type in (AGENT_POOL, MANAGED_CLUSTER)}
)
