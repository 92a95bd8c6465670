"""The resource group of the cluster: a new one or an existing one."""

from collections.abc import Mapping

import pulumi
from pulumi_azure_native import resources

from aks_catalogue import valid_clusters as valid
from components.arguments import check
from components.declared import arguments, checked
from components.unaliased_resource import unaliased_resource


@arguments
class ResourceGroupArgs:
    """The inputs of a new resource group."""

    resource_group_name: pulumi.Input[str] = checked(valid.GROUP_NAME)
    """The name of the resource group in Azure, up to 90 characters. Another name replaces it."""
    location: pulumi.Input[str] = checked(valid.check_region)
    """The Azure region of the resource group. Another region replaces it."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The Azure tags of the resource group. Default: none."""


@arguments
class ExistingResourceGroupArgs:
    """The inputs to look up an existing resource group."""

    resource_group_name: pulumi.Input[str] = checked(valid.GROUP_NAME)
    """The name of the resource group in Azure."""


class _Group(pulumi.ComponentResource):
    id: pulumi.Output[str]
    """The resource ID of the resource group in Azure."""
    resource_group_name: pulumi.Output[str]
    """The name of the resource group in Azure."""
    location: pulumi.Output[str]
    """The Azure region of the resource group."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("aks-gpu:components:ResourceGroup", name, None, opts)

    def _register(
        self, group: "resources.ResourceGroup | pulumi.Output[resources.GetResourceGroupResult]"
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
        check(name, args)
        super().__init__(name, opts)
        self.resource_group = unaliased_resource(
            resources.ResourceGroup,
            resources.ResourceGroupArgs,
            name,
            {
                "resourceGroupName": args.resource_group_name,
                "location": args.location,
                "tags": args.tags or None,
            },
            pulumi.ResourceOptions(parent=self),
        )
        self._register(self.resource_group)


class ExistingResourceGroup(_Group):
    """An existing resource group, which Pulumi reads and never changes."""

    def __init__(
        self, name: str, args: ExistingResourceGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__(name, opts)
        group = resources.get_resource_group_output(
            resource_group_name=args.resource_group_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self._register(group)
