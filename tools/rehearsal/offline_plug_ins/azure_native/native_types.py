"""The resource types of the offline plug-in: all of azure-native's SDK, with its properties.

made_up.py has what holds for most. A row of native_types.csv has it for one type as it is on Azure:
the API version that the SDK's documentation names, the path (`G` stands for the providers in a
resource group), and what a specification of Azure has otherwise than most: names that are `inside`
its `properties`, objects in lists that have `properties` of their own, and what replaces it.
"""

import csv
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pulumi import _types as sdk_types
from pulumi_azure_native import containerservice, resources

from aks_catalogue import aks_versions
from provider_kit.arm_types import ArmType, flat
from rehearsal.offline_plug_ins.azure_native import made_up
from rehearsal.offline_plug_ins.azure_native.shapes import (
    ListOf,
    Members,
    ObjectOf,
    Shape,
    shape_of,
)

API_VERSION = "azureApiVersion"
# What ARM has beside `properties`, in nearly all types.
OUTSIDE = frozenset(
    ["etag", "extendedLocation", "id", "identity", "kind", "location", "managedBy", "name", "plan"]
    + ["properties", "sku", "tags", "type", "zones"]
)
_STANDALONE = "also available as standalone resources"
# A resource that extends another one has that one's ID in front.
_SCOPE = re.compile(r"/\{(\w+)\}/providers/")
_VERSION = re.compile(r"/v\d{8}\w*:")


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
    # Beside `properties` in ARM, in objects of lists as well.
    envelope: frozenset[str] = frozenset()
    # The objects that have `properties` of their own, by path; `[]` stands for any list item.
    nested: frozenset[str] = frozenset()
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

    @property
    def own_name(self) -> str:
        """The input that names the resource itself; empty if there is one below its parent."""
        return self.path_names[-1] if self.path.endswith("}") else ""

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        if scope := _SCOPE.match(self.path):
            whole = {**inputs, scope[1]: str(inputs[scope[1]]).strip("/")}
            return self.path.format_map(whole)
        return super().resource_id(subscription, inputs)

    def names_in(self, resource_id: str) -> dict[str, str]:
        if scope := _SCOPE.match(self.path):
            above, _, name = resource_id.rpartition("/")
            own = {self.own_name: name} if self.own_name else {}
            return {scope[1]: above.rpartition("/providers/")[0], **own}
        return super().names_in(resource_id)

    def body(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        names = {*self.not_sent, *self.path_names}
        inputs = {name: value for name, value in inputs.items() if name not in names}
        return super().body(_turned(inputs, self.nested, self._into_properties))

    def _into_properties(self, item: Mapping[str, Any], walk: Callable[[Any], Any]) -> Any:
        flat_item = walk(item)
        outside = {name: value for name, value in flat_item.items() if name in OUTSIDE}
        inside = {name: value for name, value in flat_item.items() if name not in OUTSIDE}
        return {**outside, "properties": inside} if inside else outside

    def flattened(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Returns ARM's properties on one level, in objects of lists as well."""
        whole = dict(answer) if "properties" in self.outputs else flat(answer)
        turned: dict[str, Any] = _turned(whole, self.nested, lambda item, walk: walk(flat(item)))
        return turned

    @cached_property
    def standalone(self) -> frozenset[str]:
        """Returns the lists whose items can be resources of their own, as the SDK documents."""
        names = sdk_types.input_type_py_to_pulumi_names(self.args)
        texts = {wire: getattr(self.args, name).__doc__ or "" for name, wire in names.items()}
        return frozenset(name for name, text in texts.items() if _STANDALONE in text)

    @cached_property
    def replacing(self) -> frozenset[str]:
        """Returns the paths whose change replaces the resource; `[]` stands for any list item."""
        forced = (path for name, path in _two_levels(self.inputs) if name in self.force_new)
        return frozenset(self.path_names).union(forced)


def _turned(value: Any, paths: frozenset[str], turn: Callable[..., Any], path: str = "") -> Any:
    """Returns a value in which the objects at some paths are turned, from the outside inwards."""

    def walk(item: Any) -> Any:
        return {
            name: _turned(inner, paths, turn, f"{path}.{name}" if path else name)
            for name, inner in item.items()
        }

    match value:
        case Mapping():
            return turn(value, walk) if path in paths else walk(value)
        case list():
            return [_turned(item, paths, turn, f"{path}[]") for item in value]
    return value


def _two_levels(fields: Mapping[str, Shape]) -> Iterator[tuple[str, str]]:
    """Returns the names with their paths, at the top level and in its objects and lists."""
    for name, shape in fields.items():
        yield name, name
        inside, mark = (shape.item, "[]") if isinstance(shape, ListOf) else (shape, "")
        if isinstance(inside, ObjectOf):
            for inner in inside.fields:
                yield inner, f"{name}{mark}.{inner}"


_CONTAINER_SERVICE = aks_versions.AZURE_NATIVE
_GROUP = "/resourceGroups/{resourceGroupName}"
_CLUSTER = f"{_GROUP}/providers/Microsoft.ContainerService/managedClusters/{{resourceName}}"

_SIMULATED = MappingProxyType(
    {
        "azure-native:resources:ResourceGroup": NativeType(
            name="ResourceGroup",
            args=resources.ResourceGroupArgs,
            resource=resources.ResourceGroup,
            path=_GROUP,
            api_version="2024-03-01",
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


class _Types(Mapping[str, NativeType]):
    """All types by token, with an API version in it or without; those that differ are iterated.

    The SDK's module of a type is imported when it is used.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, str]]) -> None:
        self._rows = rows
        self._made = dict(_SIMULATED)

    def __getitem__(self, token: str) -> NativeType:
        token = without_version(token)
        if token not in self._made:
            resource = made_up.class_of(token)
            if resource is None:
                raise KeyError(token)
            row = self._rows.get(token)
            self._made[token] = _of_row(resource, row) if row else _by_rule(resource)
        return self._made[token]

    def __iter__(self) -> Iterator[str]:
        return iter({**_SIMULATED, **self._rows})

    def __len__(self) -> int:
        return len({**_SIMULATED, **self._rows})

    def __contains__(self, token: object) -> bool:
        known = without_version(str(token))
        return known in _SIMULATED or known in self._rows or made_up.class_of(known) is not None


def without_version(token: str) -> str:
    """Returns the token of a type or function without the API version that old SDKs write."""
    return _VERSION.sub(":", token)


def _args_of(resource: type) -> type:
    module, name = import_module(resource.__module__), resource.__name__
    # The other name is that of an object in a list.
    args: type = getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")
    return args


def _by_rule(resource: type) -> NativeType:
    """Returns a type of which nothing is known but its class: what was sent comes back."""
    args = _args_of(resource)
    row = {
        "path": made_up.path(resource, args),
        "api_version": made_up.api_version(resource),
        **dict.fromkeys(("inside", "nested", "replacing"), ""),
    }
    return _of_row(resource, row)


def _of_row(resource: type, row: Mapping[str, str]) -> NativeType:
    args = _args_of(resource)
    inside, nested, replacing = (
        frozenset(row[column].split()) for column in ("inside", "nested", "replacing")
    )
    path = row["path"]
    native_type = NativeType(
        name=resource.__name__,
        args=args,
        resource=resource,
        path=f"{_GROUP}/providers{path[1:]}" if path.startswith("G/") else path,
        api_version=row["api_version"],
        envelope=OUTSIDE - inside,
        nested=nested,
        force_new=frozenset({"location", *replacing}),
    )
    has_identity = "identity" in native_type.inputs
    lists = frozenset({("identity", "userAssignedIdentities")} if has_identity else ())
    return replace(native_type, id_lists=lists)


def _rows() -> dict[str, Mapping[str, str]]:
    with Path(__file__).with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        return {f"azure-native:{row['type']}": row for row in csv.DictReader(file)}


TYPES: Mapping[str, NativeType] = _Types(_rows())
