"""The resource types AgentPool and ManagedCluster: their paths, and the places of their properties.

The names are azure-native's: all properties are on one level, where ARM has most of them inside
`properties`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from aks_catalogue.aks_properties import CLUSTER, POOL, Properties
from aks_catalogue.mistakes import Mistake
from aks_catalogue.shapes import mapping
from aks_preview.configuration import PACKAGE
from provider_kit.serving import ProviderError

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
_IDENTITIES = "userAssignedIdentities"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class AksType:
    """A resource type of AKS."""

    name: str
    path: str
    # The properties outside ARM's `properties`.
    envelope: Collection[str] = ()
    # What AKS does with the properties.
    known: Properties

    @property
    def token(self) -> str:
        return f"{PACKAGE}:containerservice:{self.name}"

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        """The names of the inputs in the resource ID."""
        return tuple(_PLACEHOLDER.findall(self.path))

    @cached_property
    def replaces(self) -> Mapping[str, str]:
        """The properties that cannot change, by path, with the reason."""
        return {**dict.fromkeys(self.path_names, "names the resource"), **self.known.fixed}

    def name_mistakes(self, inputs: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yields the names that are missing, or with which the path would be another resource's."""
        for name in self.path_names:
            value = inputs.get(name)
            if value is None:
                yield Mistake(name, "is required")
            elif isinstance(value, str) and (value.strip() in ("", ".", "..") or "/" in value):
                yield Mistake(name, "must be a name: not empty, not `.` or `..`, and without `/`")

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        return f"/subscriptions/{subscription}{self.path.format_map(inputs)}"

    def names_in(self, resource_id: str) -> dict[str, str]:
        """Returns the inputs in a resource ID."""
        pattern = _PLACEHOLDER.sub(r"(?P<\1>[^/]+)", self.path)
        match = re.fullmatch(f"/subscriptions/[^/]+{pattern}", resource_id, re.IGNORECASE)
        if match is None:
            raise ProviderError(
                f"{resource_id} is not the ID of a {self.name}: use the form "
                f"/subscriptions/SUBSCRIPTION{self.path}"
            )
        return match.groupdict()

    def body(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the body of the PUT request for the inputs."""
        omitted = {*_OURS, *self.path_names}
        sent = {name: value for name, value in inputs.items() if name not in omitted}
        ids = mapping(sent.get("identity")).get(_IDENTITIES)
        if isinstance(ids, list):
            sent["identity"] = {**sent["identity"], _IDENTITIES: {each: {} for each in ids}}
        outside = {name: value for name, value in sent.items() if name in self.envelope}
        inside = {name: value for name, value in sent.items() if name not in self.envelope}
        return outside | {"properties": inside} if inside else outside

    def outputs_of(self, answer: Mapping[str, Any], api_version: str) -> dict[str, Any]:
        """Returns the outputs in ARM's response, without those that only the inputs have."""
        inside = answer.get("properties") or {}
        outside = {name: value for name, value in answer.items() if name != "properties"}
        outputs = {**inside, **outside, **self.names_in(answer["id"]), _VERSION_OUTPUT: api_version}
        outputs.pop("systemData", None)
        if "type" in inside:
            outputs[_TYPE_OUTPUT] = inside["type"]
        ids = mapping(outputs.get("identity")).get(_IDENTITIES)
        if isinstance(ids, Mapping):
            outputs["identity"] = {**outputs["identity"], _IDENTITIES: list(ids)}
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
    known=CLUSTER,
)
AKS_TYPES: Mapping[str, AksType] = MappingProxyType(
    {aks_type.token: aks_type for aks_type in (AGENT_POOL, MANAGED_CLUSTER)}
)
