"""The resource types of the stand-in.

To add a type, add an entry to TYPES; its properties come from azure-native's own SDK.
"""

import inspect
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from pulumi import _types as sdk_types
from pulumi_azure_native import containerservice, resources

from provider_kit.arm_types import ArmType
from provider_kit.shapes import ListOf, Members, ObjectOf, Shape, shape_of

API_VERSION = "azureApiVersion"


def _members_of(hint: Any) -> Members:
    """Returns the members of an SDK class by their wire names."""
    if sdk_types.is_input_type(hint):
        return sdk_types.input_type_types(hint), _required(hint)
    if sdk_types.is_output_type(hint):
        return sdk_types.output_type_types(hint), frozenset()
    return None


def _required(args: type) -> frozenset[str]:
    names = sdk_types.input_type_py_to_pulumi_names(args)
    parameters = inspect.signature(args.__init__).parameters.values()  # type: ignore[misc]
    return frozenset(
        names[parameter.name]
        for parameter in parameters
        if parameter.name in names and parameter.default is inspect.Parameter.empty
    )


@cache
def args_shape(args: type) -> ObjectOf:
    """Returns the shape of an argument class."""
    shape = shape_of(args, _members_of)
    assert isinstance(shape, ObjectOf)  # noqa: S101 (an argument class is an object)
    return shape


@dataclass(frozen=True, kw_only=True)
class NativeType(ArmType):
    """One type of azure-native."""

    not_sent: frozenset[str] = frozenset({API_VERSION})
    args: type
    resource: type
    api_version: str
    envelope: Collection[str] = ()
    # The names in azure-native's table of replacements for the type. They apply to properties at
    # the top level and one level below, in any object.
    force_new: frozenset[str] = frozenset()
    # The paths at which azure-native compares text without case.
    any_case: frozenset[str] = frozenset()
    # Objects whose field names have dashes in ARM.
    dashed: frozenset[str] = frozenset()

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return args_shape(self.args).fields

    @cached_property
    def outputs(self) -> Mapping[str, Shape]:
        hints = sdk_types.resource_types(self.resource)
        return {name: shape_of(hint, _members_of) for name, hint in hints.items()}

    @cached_property
    def replacing(self) -> frozenset[str]:
        """Returns the paths whose change replaces the resource; `[]` stands for any list item."""
        forced = (path for name, path in _two_levels(self.inputs) if name in self.force_new)
        return frozenset(self.path_names).union(forced)


def _two_levels(fields: Mapping[str, Shape]) -> Iterator[tuple[str, str]]:
    """Returns the names with their paths, at the top level and in its objects and lists."""
    for name, shape in fields.items():
        yield name, name
        inside, mark = (shape.item, "[]") if isinstance(shape, ListOf) else (shape, "")
        if isinstance(inside, ObjectOf):
            for inner in inside.fields:
                yield inner, f"{name}{mark}.{inner}"


_CONTAINER_SERVICE = "2025-09-01"
_GROUP = "/resourceGroups/{resourceGroupName}"
_CLUSTER = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"

TYPES: Mapping[str, NativeType] = MappingProxyType(
    {
        "azure-native:resources:ResourceGroup": NativeType(
            name="ResourceGroup",
            args=resources.ResourceGroupArgs,
            resource=resources.ResourceGroup,
            path=_GROUP,
            api_version="2025-04-01",
            envelope=frozenset({"location", "managedBy", "tags"}),
            force_new=frozenset({"location"}),
        ),
        "azure-native:containerservice:ManagedCluster": NativeType(
            name="ManagedCluster",
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
            id_lists=frozenset({("identity", "userAssignedIdentities")}),
            dashed=frozenset({"autoScalerProfile"}),
        ),
        "azure-native:containerservice:AgentPool": NativeType(
            name="AgentPool",
            args=containerservice.AgentPoolArgs,
            resource=containerservice.AgentPool,
            path=f"{_CLUSTER}/agentPools/{{agentPoolName}}",
            api_version=_CONTAINER_SERVICE,
            force_new=frozenset({"gpuInstanceProfile", "nodePublicIPTags", "vmSize"}),
        ),
    }
)
