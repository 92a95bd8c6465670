"""The resource types AgentPool and ManagedCluster: their properties, and which changes replace.

The names are azure-native's: all properties are on one level, where ARM has most of them inside
`properties`. The shapes of properties come from the Azure SDK.
"""

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final

from azure.mgmt.containerservice import models
from azure.mgmt.containerservice import types as wire

from aks_catalogue.aks_properties import CLUSTER, POOL, Properties
from aks_catalogue.shapes import mapping
from aks_preview.configuration import PACKAGE
from provider_kit.arm_types import ArmType, flat
from provider_kit.shapes import (
    BOOLEAN,
    STRING,
    STRING_MAP,
    STRINGS,
    Members,
    ObjectOf,
    Shape,
    shape_of,
)

# Any value that Azure chooses.
ANY_VALUE: Final = object()
HEADERS: Final = "customHeaders"
REPLACE_ON_HEADERS: Final = "replaceOnHeaderChange"
# Properties of this provider only. Azure does not return them.
_OURS: Mapping[str, Shape] = MappingProxyType({HEADERS: STRING_MAP, REPLACE_ON_HEADERS: BOOLEAN})
# azure-native's name for the property `type`: the output `type` is the ARM resource type.
_TYPE_OUTPUT = "typePropertiesType"
# Types that contain themselves. They are only read from Azure.
_RECURSIVE = frozenset({"ErrorDetail", "ManagedClusterPodIdentityProvisioningErrorBody"})
# The SDK's type hints name the enumerations without their module.
_NAMES = {**vars(models), **{name: value for name, value in vars(wire).items() if name[0] != "_"}}


def _members_of(hint: Any) -> Members:
    if getattr(hint, "__module__", None) != wire.__name__ or hint.__name__ in _RECURSIVE:
        return None
    return typing.get_type_hints(hint, localns=_NAMES), hint.__required_keys__


@cache
def object_shape(name: str) -> ObjectOf:
    """Returns the shape of a request type in the SDK, by its name."""
    shape = shape_of(getattr(wire, name), _members_of)
    assert isinstance(shape, ObjectOf)  # noqa: S101 (each request type is an object)
    return shape


@dataclass(frozen=True, kw_only=True)
class AksType(ArmType):
    """A resource type of AKS: its path, its properties, and which of them cannot change."""

    not_sent: frozenset[str] = frozenset(_OURS)
    description: str
    # The SDK's type of ARM's `properties`.
    properties: str
    # The properties outside `properties`, with their shapes.
    envelope: Mapping[str, Shape]
    required: frozenset[str]
    # What AKS does with the properties.
    known: Properties
    # The properties of this provider only.
    ours: frozenset[str]
    # The values that AKS sets by default. They are not inputs of an imported resource.
    filled_in: Mapping[str, Any]

    @property
    def token(self) -> str:
        return f"{PACKAGE}:containerservice:{self.name}"

    @cached_property
    def replaces(self) -> Mapping[str, str]:
        """The properties that cannot change, by path, with the reason."""
        return {**dict.fromkeys(self.path_names, "names the resource"), **self.known.fixed}

    @cached_property
    def inputs(self) -> ObjectOf:
        properties = object_shape(self.properties).fields
        fields = {
            **dict.fromkeys(self.path_names, STRING),
            **{
                name: shape
                for name, shape in properties.items()
                if name not in self.known.by_server
            },
            **self.envelope,
            **{name: _OURS[name] for name in self.ours},
        }
        required = self.required.union(self.path_names)
        return ObjectOf(self.name, MappingProxyType(fields), required)

    @cached_property
    def outputs(self) -> Mapping[str, Shape]:
        """The outputs that are not inputs."""
        properties = object_shape(self.properties).fields
        return {
            name: properties[name] for name in sorted(properties.keys() & self.known.by_server)
        } | {
            "name": STRING,
            "azureApiVersion": STRING,
        }

    def is_filled_in(self, name: str, value: Any) -> bool:
        """Whether AKS sets this value by default."""
        return name in self.filled_in and self.filled_in[name] in (ANY_VALUE, value)

    def outputs_of(self, answer: Mapping[str, Any], api_version: str) -> dict[str, Any]:
        """Returns the outputs in ARM's response, without those that only the inputs have."""
        outputs = flat(answer) | self.names_in(answer["id"]) | {"azureApiVersion": api_version}
        outputs.pop("systemData", None)
        if "type" in (answer.get("properties") or {}):
            outputs[_TYPE_OUTPUT] = answer["properties"]["type"]
        for owner, name in self.id_lists:
            members = dict(mapping(outputs.get(owner)))
            if name in members:
                ids = members.pop(name)
                outputs[owner] = members | ({name: list(ids)} if isinstance(ids, Mapping) else {})
        return outputs

    def inputs_of(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the inputs that would create a resource with these outputs."""
        names = {name: _TYPE_OUTPUT if name == "type" else name for name in self.inputs.fields}
        return {
            name: outputs[output]
            for name, output in names.items()
            if output in outputs and name not in self.not_sent
        }


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
    name="AgentPool",
    description="A node pool of an AKS cluster, created with custom HTTP headers.",
    path=f"{_CLUSTER_PATH}/agentPools/{{agentPoolName}}",
    properties="ManagedClusterAgentPoolProfileProperties",
    envelope=MappingProxyType({}),
    required=frozenset(),
    known=POOL,
    ours=frozenset(_OURS),
    filled_in=MappingProxyType(
        {
            "enableAutoScaling": False,
            "enableEncryptionAtHost": False,
            "enableFIPS": False,
            "enableNodePublicIP": False,
            "enableUltraSSD": False,
            "gpuProfile": {"driver": "Install"},
            "kubeletDiskType": ANY_VALUE,
            "maxPods": ANY_VALUE,
            "mode": "User",
            "networkProfile": {},
            "orchestratorVersion": ANY_VALUE,
            "osDiskSizeGB": ANY_VALUE,
            "osDiskType": ANY_VALUE,
            "osSKU": ANY_VALUE,
            "osType": "Linux",
            "powerState": ANY_VALUE,
            "scaleDownMode": "Delete",
            "scaleSetPriority": "Regular",
            "securityProfile": ANY_VALUE,
            "type": "VirtualMachineScaleSets",
            "upgradeSettings": ANY_VALUE,
            "virtualMachineNodesStatus": ANY_VALUE,
            "workloadRuntime": "OCIContainer",
        }
    ),
)

MANAGED_CLUSTER = AksType(
    name="ManagedCluster",
    description="An AKS cluster, created with custom HTTP headers.",
    path=_CLUSTER_PATH,
    properties="ManagedClusterProperties",
    envelope=MappingProxyType(
        {
            "extendedLocation": object_shape("ExtendedLocation"),
            # As in azure-native, a list of the identities' IDs; ARM has a map.
            "identity": ObjectOf(
                "ManagedClusterIdentity",
                MappingProxyType(
                    dict(object_shape("ManagedClusterIdentity").fields)
                    | {"userAssignedIdentities": STRINGS}
                ),
            ),
            "kind": STRING,
            "location": STRING,
            "sku": object_shape("ManagedClusterSKU"),
            "tags": STRING_MAP,
        }
    ),
    id_lists=frozenset({("identity", "userAssignedIdentities")}),
    required=frozenset({"location"}),
    known=CLUSTER,
    ours=frozenset({HEADERS}),
    filled_in=MappingProxyType(
        dict.fromkeys(
            (
                "addonProfiles",
                "agentPoolProfiles",
                "autoUpgradeProfile",
                "bootstrapProfile",
                "enableRBAC",
                "identityProfile",
                "kind",
                "metricsProfile",
                "networkProfile",
                "nodeProvisioningProfile",
                "nodeResourceGroup",
                "oidcIssuerProfile",
                "privateLinkResources",
                "securityProfile",
                "servicePrincipalProfile",
                "sku",
                "storageProfile",
                "supportPlan",
                "windowsProfile",
                "workloadAutoScalerProfile",
            ),
            ANY_VALUE,
        )
        | {"disableLocalAccounts": False}
    ),
)

AKS_TYPES: Mapping[str, AksType] = MappingProxyType(
    {aks_type.token: aks_type for aks_type in (AGENT_POOL, MANAGED_CLUSTER)}
)
