"""The resource types that the stand-in knows, each in ARM's terms.

To add a type, add a line to TYPES; its properties come from azure-native's own SDK.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from pulumi_azure_native import containerservice, resources

from provider_kit.shapes import ListOf, ObjectOf, Shape
from rehearsal.stand_ins.azure_native.shapes import args_shape

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class ArmType:
    """One type of azure-native, in ARM's terms."""

    args: type
    resource: type
    path: str
    api_version: str
    # What stands beside `properties` in ARM's form; azure-native has all on one level.
    envelope: frozenset[str] = frozenset()
    # The names that azure-native's table of replacements has for the type. They count for
    # properties at the top and one level down, whatever object they stand in.
    force_new: frozenset[str] = frozenset()
    # Where azure-native compares text without case, by path.
    any_case: frozenset[str] = frozenset()
    # Lists of ids that are maps in ARM, as the object and the list in it.
    string_sets: frozenset[tuple[str, str]] = frozenset()
    # Objects whose names ARM writes with dashes.
    dashed: frozenset[str] = frozenset()

    @property
    def path_properties(self) -> tuple[str, ...]:
        return tuple(_PLACEHOLDER.findall(self.path))

    @cached_property
    def replacing(self) -> frozenset[str]:
        """The paths whose change replaces the resource; `[]` stands for any item of a list."""
        paths = _two_levels(args_shape(self.args).fields)
        forced = (path for name, path in paths if name in self.force_new)
        return frozenset(self.path_properties).union(forced)

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        return f"/subscriptions/{subscription}{self.path.format_map(inputs)}"

    def path_values(self, resource_id: str) -> dict[str, str]:
        """The inputs that an id is made of."""
        pattern = _PLACEHOLDER.sub(r"(?P<\1>[^/]+)", self.path)
        match = re.fullmatch(f"/subscriptions/[^/]+{pattern}", resource_id, re.IGNORECASE)
        if match is None:
            raise ValueError(f"{resource_id} is not of the form /subscriptions/ID{self.path}")
        return match.groupdict()


def _two_levels(fields: Mapping[str, Shape]) -> Iterator[tuple[str, str]]:
    """The names at the top, in objects there and in objects of lists there, with their paths."""
    for name, shape in fields.items():
        yield name, name
        inside, mark = (shape.item, "[]") if isinstance(shape, ListOf) else (shape, "")
        if isinstance(inside, ObjectOf):
            for inner in inside.fields:
                yield inner, f"{name}{mark}.{inner}"


_CONTAINER_SERVICE = "2025-09-01"
_GROUP = "/resourceGroups/{resourceGroupName}"
_CLUSTER = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"

TYPES: Mapping[str, ArmType] = MappingProxyType(
    {
        "azure-native:resources:ResourceGroup": ArmType(
            args=resources.ResourceGroupArgs,
            resource=resources.ResourceGroup,
            path=_GROUP,
            api_version="2025-04-01",
            envelope=frozenset({"location", "managedBy", "tags"}),
            force_new=frozenset({"location"}),
        ),
        "azure-native:containerservice:ManagedCluster": ArmType(
            args=containerservice.ManagedClusterArgs,
            resource=containerservice.ManagedCluster,
            path=_CLUSTER,
            api_version=_CONTAINER_SERVICE,
            envelope=frozenset({"extendedLocation", "identity", "kind", "location", "sku", "tags"}),
            force_new=frozenset(
                {
                    "diskEncryptionSetID",
                    "dnsPrefix",
                    "dnsServiceIP",
                    "fqdnSubdomain",
                    "ipFamilies",
                    "linuxProfile",
                    "location",
                    "networkDataplane",
                    "networkMode",
                    "networkPlugin",
                    "networkPluginMode",
                    "networkPolicy",
                    "nodePublicIPTags",
                    "nodeResourceGroup",
                    "outboundType",
                    "podCidr",
                    "podCidrs",
                    "serviceCidr",
                    "serviceCidrs",
                    "windowsProfile",
                }
            ),
            any_case=frozenset({"networkProfile.loadBalancerProfile.backendPoolType"}),
            string_sets=frozenset({("identity", "userAssignedIdentities")}),
            dashed=frozenset({"autoScalerProfile"}),
        ),
        "azure-native:containerservice:AgentPool": ArmType(
            args=containerservice.AgentPoolArgs,
            resource=containerservice.AgentPool,
            path=f"{_CLUSTER}/agentPools/{{agentPoolName}}",
            api_version=_CONTAINER_SERVICE,
            force_new=frozenset({"gpuInstanceProfile", "nodePublicIPTags", "vmSize"}),
        ),
    }
)
