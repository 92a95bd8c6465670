"""The resource types that the stand-in knows: how each is told to ARM.

To add a type, add a line to TYPES; its properties come from azure-native's own SDK.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pulumi_azure_native import containerservice, resources

from rehearsal.azure_native.shapes import args_shape

# Stands for whatever value the server chooses.
_ANY = object()
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class ArmType:
    """One type of azure-native, in ARM's terms."""

    args: type
    path: str
    api_version: str
    # What stands beside `properties` in ARM's form; azure-native has all on one level.
    envelope: frozenset[str] = frozenset()
    # What azure-native replaces, beside the names and places that the path is made of.
    replaces: frozenset[str] = frozenset()
    # What the server fills in where a program leaves it out, and with which value: no input of an
    # imported resource.
    server_filled: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    # Properties that would collide with ARM's own, by their names in azure-native's outputs.
    renamed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def path_properties(self) -> tuple[str, ...]:
        return tuple(_PLACEHOLDER.findall(self.path))

    @property
    def replacing(self) -> frozenset[str]:
        return self.replaces.union(self.path_properties)

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        return f"/subscriptions/{subscription}{self.path.format_map(inputs)}"

    def body(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a PUT."""
        said = {key: value for key, value in inputs.items() if key not in self.path_properties}
        body = {key: value for key, value in said.items() if key in self.envelope}
        properties = {key: value for key, value in said.items() if key not in self.envelope}
        return body | {"properties": properties} if properties else body

    def outputs(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What azure-native's state has of ARM's answer."""
        properties = {
            self.renamed.get(key, key): value for key, value in answer.get("properties", {}).items()
        }
        rest = {key: value for key, value in answer.items() if key != "properties"}
        return {**properties, **rest, "azureApiVersion": self.api_version}

    def inputs(
        self, resource_id: str, outputs: Mapping[str, Any], *, with_server_filled: bool = False
    ) -> dict[str, Any]:
        """The inputs that would make a resource as it is."""
        said = {name: self.renamed.get(name, name) for name in args_shape(self.args).fields}
        written = {
            name: outputs[output]
            for name, output in said.items()
            if output in outputs
            and (with_server_filled or not self._is_filled(name, outputs[output]))
        }
        return written | self._path_values(resource_id)

    def _is_filled(self, name: str, value: Any) -> bool:
        return name in self.server_filled and self.server_filled[name] in (_ANY, value)

    def _path_values(self, resource_id: str) -> dict[str, str]:
        pattern = _PLACEHOLDER.sub(r"(?P<\1>[^/]+)", self.path)
        match = re.fullmatch(f"/subscriptions/[^/]+{pattern}", resource_id, re.IGNORECASE)
        if match is None:
            raise ValueError(f"{resource_id} is not of the form /subscriptions/ID{self.path}")
        return match.groupdict()


_CONTAINER_SERVICE = "2025-09-01"
_GROUP = "/resourceGroups/{resourceGroupName}"
_CLUSTER = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"

TYPES: Mapping[str, ArmType] = MappingProxyType(
    {
        "azure-native:resources:ResourceGroup": ArmType(
            args=resources.ResourceGroupArgs,
            path=_GROUP,
            api_version="2025-04-01",
            envelope=frozenset({"location", "managedBy", "tags"}),
            replaces=frozenset({"location"}),
        ),
        "azure-native:containerservice:ManagedCluster": ArmType(
            args=containerservice.ManagedClusterArgs,
            path=_CLUSTER,
            api_version=_CONTAINER_SERVICE,
            envelope=frozenset({"extendedLocation", "identity", "kind", "location", "sku", "tags"}),
            replaces=frozenset({"location"}),
            server_filled=MappingProxyType(
                {
                    "addonProfiles": _ANY,
                    "agentPoolProfiles": _ANY,
                    "autoUpgradeProfile": _ANY,
                    "enableRBAC": _ANY,
                    "identityProfile": _ANY,
                    "metricsProfile": _ANY,
                    "networkProfile": _ANY,
                    "nodeProvisioningProfile": _ANY,
                    "nodeResourceGroup": _ANY,
                    "oidcIssuerProfile": _ANY,
                    "securityProfile": _ANY,
                    "servicePrincipalProfile": _ANY,
                    "storageProfile": _ANY,
                    "supportPlan": _ANY,
                    "windowsProfile": _ANY,
                    "workloadAutoScalerProfile": _ANY,
                }
            ),
        ),
        "azure-native:containerservice:AgentPool": ArmType(
            args=containerservice.AgentPoolArgs,
            path=f"{_CLUSTER}/agentPools/{{agentPoolName}}",
            api_version=_CONTAINER_SERVICE,
            replaces=frozenset({"gpuInstanceProfile", "nodePublicIPTags", "vmSize"}),
            server_filled=MappingProxyType(
                {
                    "enableAutoScaling": False,
                    "enableEncryptionAtHost": False,
                    "enableFIPS": False,
                    "enableNodePublicIP": False,
                    "enableUltraSSD": False,
                    "kubeletDiskType": _ANY,
                    "maxPods": _ANY,
                    "orchestratorVersion": _ANY,
                    "osDiskSizeGB": _ANY,
                    "osDiskType": _ANY,
                    "osSKU": _ANY,
                    "powerState": _ANY,
                    "scaleDownMode": _ANY,
                    "securityProfile": _ANY,
                    "upgradeSettings": _ANY,
                }
            ),
            renamed=MappingProxyType({"type": "typePropertiesType"}),
        ),
    }
)
