"""The resource group that everything of a stack lives in."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import resources

from components.azure_child import azure_child


@dataclass(frozen=True, kw_only=True)
class ResourceGroupArgs:
    resource_group_name: pulumi.Input[str]
    location: pulumi.Input[str]
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None


@dataclass(frozen=True, kw_only=True)
class ExistingResourceGroupArgs:
    resource_group_name: pulumi.Input[str]


class ResourceGroup(pulumi.ComponentResource):
    """A resource group: a new one, or with `ResourceGroup.existing` one that is only read."""

    id: pulumi.Output[str]
    resource_group_name: pulumi.Output[str]
    location: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ResourceGroupArgs | ExistingResourceGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("aks-gpu:components:ResourceGroup", name, None, opts)
        group = self._made(name, args) if isinstance(args, ResourceGroupArgs) else self._read(args)
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

    @classmethod
    def existing(
        cls, name: str, args: ExistingResourceGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> "ResourceGroup":
        """A group that is there already and is left as it is."""
        return cls(name, args, opts)

    def _made(self, name: str, args: ResourceGroupArgs) -> resources.ResourceGroup:
        return azure_child(
            resources.ResourceGroup,
            name,
            resources.ResourceGroupArgs(
                resource_group_name=args.resource_group_name,
                location=args.location,
                tags=args.tags or None,
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _read(
        self, args: ExistingResourceGroupArgs
    ) -> pulumi.Output[resources.GetResourceGroupResult]:
        return resources.get_resource_group_output(
            resource_group_name=args.resource_group_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
