"""The resource group that everything of a stack lives in."""

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import resources


@dataclass(frozen=True, kw_only=True)
class ResourceGroupArgs:
    resource_group_name: pulumi.Input[str]
    location: pulumi.Input[str]


class ResourceGroup(pulumi.ComponentResource):
    """A resource group."""

    id: pulumi.Output[str]
    resource_group_name: pulumi.Output[str]
    location: pulumi.Output[str]

    def __init__(
        self, name: str, args: ResourceGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:ResourceGroup", name, None, opts)
        group = resources.ResourceGroup(
            name,
            resource_group_name=args.resource_group_name,
            location=args.location,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.id = group.id
        self.resource_group_name = group.name
        self.location = group.location
        self.register_outputs(
            {
                "id": self.id,
                "resourceGroupName": self.resource_group_name,
                "location": self.location,
            }
        )
