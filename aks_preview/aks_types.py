"""AKS's two resources as this provider has them: their properties, and what a change of each does.

The names are azure-native's: all on one level, where ARM has some beside `properties` and some in
it. What a property may look like comes from Azure's own SDK.
"""

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final

from azure.mgmt.containerservice import models
from azure.mgmt.containerservice import types as wire

from aks_preview.configuration import PACKAGE
from catalogue import fixed, kept
from catalogue.shapes import mapping
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

# Stands for whatever value Azure chooses.
ANY_VALUE: Final = object()
HEADERS: Final = "customHeaders"
REPLACE_ON_HEADERS: Final = "replaceOnHeaderChange"
# How the headers are sent is ours: Azure has no property for it, and gives nothing back.
_OURS: Mapping[str, Shape] = MappingProxyType({HEADERS: STRING_MAP, REPLACE_ON_HEADERS: BOOLEAN})
# ARM's own `type` takes the name in the outputs; azure-native calls the other one so.
_TYPE_OUTPUT = "typePropertiesType"
# Error reports, with others like themselves inside: read from Azure, never written.
_RECURSIVE = frozenset({"ErrorDetail", "ManagedClusterPodIdentityProvisioningErrorBody"})
# The enumerations are known to the SDK's types under their bare names only.
_NAMES = {**vars(models), **{name: value for name, value in vars(wire).items() if name[0] != "_"}}


def _members_of(hint: Any) -> Members:
    if getattr(hint, "__module__", None) != wire.__name__ or hint.__name__ in _RECURSIVE:
        return None
    return typing.get_type_hints(hint, localns=_NAMES), hint.__required_keys__


@cache
def object_shape(name: str) -> ObjectOf:
    """The shape of one of the SDK's types of requests, by its name."""
    shape = shape_of(getattr(wire, name), _members_of)
    assert isinstance(shape, ObjectOf)  # noqa: S101 (each type of requests is an object)
    return shape


@dataclass(frozen=True, kw_only=True)
class AksType(ArmType):
    """One of AKS's types: where ARM has it, what it takes, and what AKS does not let change."""

    not_sent: frozenset[str] = frozenset(_OURS)
    description: str
    # The name of what stands in ARM's `properties`, in the SDK.
    properties: str
    # What stands beside `properties`, with its shape.
    envelope: Mapping[str, Shape]
    required: frozenset[str]
    # Of the SDK's properties, those that Azure alone writes.
    read_only: frozenset[str]
    # What cannot change, by its path, and why: a change of it replaces the resource.
    replaces: Mapping[str, str]
    # Of our own properties, those that it has.
    own: frozenset[str]
    # What takes a property out, which AKS would keep, left out.
    empty: Mapping[str, Any]
    # What AKS fills in by itself, and with which value: no input of an imported resource.
    filled_in: Mapping[str, Any]

    @property
    def token(self) -> str:
        return f"{PACKAGE}:containerservice:{self.name}"

    @cached_property
    def inputs(self) -> ObjectOf:
        own = object_shape(self.properties).fields
        fields = {
            **dict.fromkeys(self.path_names, STRING),
            **{name: shape for name, shape in own.items() if name not in self.read_only},
            **self.envelope,
            **{name: _OURS[name] for name in self.own},
        }
        required = self.required.union(self.path_names)
        return ObjectOf(self.name, MappingProxyType(fields), required)

    @cached_property
    def outputs(self) -> Mapping[str, Shape]:
        """What Azure tells of the resource, beside its inputs."""
        own = object_shape(self.properties).fields
        return {name: own[name] for name in sorted(self.read_only & own.keys())} | {
            "name": STRING,
            "azureApiVersion": STRING,
        }

    def is_filled_in(self, name: str, value: Any) -> bool:
        """Whether AKS has this value unasked."""
        return name in self.filled_in and self.filled_in[name] in (ANY_VALUE, value)

    def outputs_of(self, answer: Mapping[str, Any], api_version: str) -> dict[str, Any]:
        """What a state has of ARM's answer, beside what only the inputs know."""
        outputs = flat(answer) | self.names_in(answer["id"]) | {"azureApiVersion": api_version}
        outputs.pop("systemData", None)
        if "type" in (answer.get("properties") or {}):
            outputs[_TYPE_OUTPUT] = answer["properties"]["type"]
        for owner, name in self.id_lists:
            held = dict(mapping(outputs.get(owner)))
            if name in held:
                ids = held.pop(name)
                outputs[owner] = held | ({name: list(ids)} if isinstance(ids, Mapping) else {})
        return outputs

    def inputs_of(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs that would make a resource as a state has it."""
        named = {name: _TYPE_OUTPUT if name == "type" else name for name in self.inputs.fields}
        return {
            name: outputs[output]
            for name, output in named.items()
            if output in outputs and name not in self.not_sent
        }


def is_anothers(aks_type: AksType, state: Mapping[str, Any]) -> bool:
    """Whether another provider wrote a state: ours has the names in the resource's path."""
    return bool(state) and not state.keys() >= set(aks_type.path_names)


def of_inputs_alone(values: Mapping[str, Any]) -> dict[str, Any]:
    """What Azure never gives back: only the inputs know it, and the state from then on."""
    return {name: values[name] for name in _OURS if name in values}


_CLUSTER_PATH = (
    "/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService"
    "/managedClusters/{resourceName}"
)

AGENT_POOL = AksType(
    name="AgentPool",
    description="A node pool of an AKS cluster, made with HTTP headers of one's choice.",
    path=f"{_CLUSTER_PATH}/agentPools/{{agentPoolName}}",
    properties="ManagedClusterAgentPoolProfileProperties",
    envelope=MappingProxyType({}),
    required=frozenset(),
    read_only=frozenset(
        {
            "currentOrchestratorVersion",
            "eTag",
            "nodeImageVersion",
            "provisioningState",
            "status",
        }
    ),
    replaces=MappingProxyType(
        {
            **fixed.POOL_NAMES,
            **fixed.POOL,
        }
    ),
    own=frozenset(_OURS),
    empty=kept.EMPTY_POOL,
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
    description="An AKS cluster, made with HTTP headers of one's choice.",
    path=_CLUSTER_PATH,
    properties="ManagedClusterProperties",
    envelope=MappingProxyType(
        {
            "extendedLocation": object_shape("ExtendedLocation"),
            # As azure-native has it: the ids of the identities as a list, where ARM has a map.
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
    read_only=frozenset(
        {
            "azurePortalFQDN",
            "currentKubernetesVersion",
            "fqdn",
            "maxAgentPools",
            "powerState",
            "privateFQDN",
            "provisioningState",
            "resourceUID",
            "status",
        }
    ),
    replaces=MappingProxyType(
        {
            **fixed.CLUSTER_NAMES,
            **fixed.CLUSTER,
        }
    ),
    own=frozenset({HEADERS}),
    empty=kept.EMPTY_CLUSTER,
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
