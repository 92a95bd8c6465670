"""Nodes that may pull images from an Azure Container Registry, one that exists or a new one."""

import re
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_azure_native import authorization, containerregistry

from aks_catalogue import valid_clusters as valid
from aks_catalogue.valid import one_of, resource_id
from components.arguments import check
from components.declared import arguments, checked
from components.unaliased_resource import unaliased_resource

# Azure's built-in role AcrPull.
_ACR_PULL = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
_SUBSCRIPTION = re.compile("/subscriptions/[^/]+", re.IGNORECASE)


@arguments
class RegistryAccessArgs:
    """The inputs of the access to a registry."""

    kubelet_object_id: pulumi.Input[str]
    """The object ID of the identity with which nodes pull images: `objectId` of the cluster's
    `kubelet_identity`."""
    registry_id: pulumi.Input[str] | None = checked(
        resource_id("registries", "a registry"), valid.ONE_REGISTRY, default=None
    )
    """The resource ID of a registry that exists. Default: none."""
    registry_name: pulumi.Input[str] | None = checked(valid.REGISTRY_NAME, default=None)
    """The name of a new registry: 5 to 50 letters and digits, which nobody else has in Azure."""
    resource_group_name: pulumi.Input[str] | None = None
    """The name of the resource group of a new registry."""
    location: pulumi.Input[str] | None = checked(valid.check_optional_region, default=None)
    """The Azure region of a new registry. Default: that of its resource group."""
    sku: pulumi.Input[str] = checked(one_of("Basic", "Standard", "Premium"), default="Standard")
    """The tier of a new registry: `Basic`, `Standard` or `Premium`."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The Azure tags of a new registry. Default: none."""


class RegistryAccess(pulumi.ComponentResource):
    """The role AcrPull of a cluster's nodes on a registry.

    Whoever runs the program needs the right to assign roles on the registry, such as the role
    Role Based Access Control Administrator.
    """

    registry_id: pulumi.Output[str]
    """The resource ID of the registry."""
    login_server: pulumi.Output[str | None]
    """The host name of a new registry, such as `mine.azurecr.io`."""

    def __init__(
        self, name: str, args: RegistryAccessArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:RegistryAccess", name, None, opts)
        self.registry_id = pulumi.Output.from_input(args.registry_id or "")
        self.login_server = pulumi.Output.from_input(None)
        if args.registry_id is None:
            registry = self._registry(name, args)
            self.registry_id, self.login_server = registry.id, registry.login_server
        role = {
            "scope": self.registry_id,
            "roleDefinitionId": self.registry_id.apply(_role),
            "principalId": args.kubelet_object_id,
            "principalType": "ServicePrincipal",
        }
        kind, of = authorization.RoleAssignment, authorization.RoleAssignmentArgs
        opts = pulumi.ResourceOptions(parent=self, protect=False)
        unaliased_resource(kind, of, name, role, opts)
        self.register_outputs({"registryId": self.registry_id, "loginServer": self.login_server})

    def _registry(self, name: str, args: RegistryAccessArgs) -> "containerregistry.Registry":
        inputs: dict[str, Any] = {
            "registryName": args.registry_name,
            "resourceGroupName": args.resource_group_name,
            "location": args.location,
            "sku": {"name": args.sku},
            "adminUserEnabled": False,
            "tags": args.tags or {},
        }
        kind, of = containerregistry.Registry, containerregistry.RegistryArgs
        return unaliased_resource(kind, of, name, inputs, pulumi.ResourceOptions(parent=self))


def _role(registry_id: str) -> str:
    match = _SUBSCRIPTION.match(registry_id)
    subscription = match[0] if match else ""
    return f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{_ACR_PULL}"
