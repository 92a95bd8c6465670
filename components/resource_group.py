"""The resource group that everything of a stack lives in: a new one, or one that exists."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import resources

from catalogue.valid_clusters import RESOURCE_GROUP
from components.arguments import check
from components.azure_child import azure_child


@dataclass(frozen=True, kw_only=True)
class ResourceGroupArgs:
    """A resource group to create."""

    resource_group_name: pulumi.Input[str]
    """The group's name in Azure."""
    location: pulumi.Input[str]
    """The Azure region of the group."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The group's tags."""


@dataclass(frozen=True, kw_only=True)
class ExistingResourceGroupArgs:
    """A resource group that exists."""

    resource_group_name: pulumi.Input[str]
    """The group's name in Azure."""


class _Group(pulumi.ComponentResource):
    id: pulumi.Output[str]
    """The group's id in Azure."""
    resource_group_name: pulumi.Output[str]
    """The group's name in Azure."""
    location: pulumi.Output[str]
    """The Azure region of the group."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("aks-gpu:components:ResourceGroup", name, None, opts)

    def _register(
        self, group: resources.ResourceGroup | pulumi.Output[resources.GetResourceGroupResult]
    ) -> None:
        self.id, self.resource_group_name, self.location = group.id, group.name, group.location
        self.register_outputs(
            {
                "id": self.id,
                "resourceGroupName": self.resource_group_name,
                "location": self.location,
            }
        )


class ResourceGroup(_Group):
    """A new resource group."""

    def __init__(
        self, name: str, args: ResourceGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, RESOURCE_GROUP)
        super().__init__(name, opts)
        self.resource_group = azure_child(
            resources.ResourceGroup,
            name,
            resources.ResourceGroupArgs(
                resource_group_name=args.resource_group_name,
                location=args.location,
                tags=args.tags or None,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self._register(self.resource_group)


class ExistingResourceGroup(_Group):
    """A resource group that exists and is only read."""

    def __init__(
        self, name: str, args: ExistingResourceGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, RESOURCE_GROUP)
        super().__init__(name, opts)
        group = resources.get_resource_group_output(
            resource_group_name=args.resource_group_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self._register(group)
