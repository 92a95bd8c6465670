"""Images from a registry: the role of the nodes on one that exists, or on a new one."""

from typing import Any

import pulumi
import pytest

from components import RegistryAccess, RegistryAccessArgs
from components.arguments import ArgumentsError
from tests.conftest import Deploy, Graph

OURS = "/subscriptions/s1/resourceGroups/hub/providers/Microsoft.ContainerRegistry/registries/ours"
NEW = {"registry_name": "images", "resource_group_name": "g", "location": "westeurope"}


def deployed(deploy: Deploy, **args: Any) -> Graph:
    kubelet = pulumi.Output.from_input("object")
    arguments = RegistryAccessArgs(kubelet_object_id=kubelet, **args)
    return deploy(lambda: RegistryAccess("registry", arguments))


def test_the_nodes_may_pull_from_one_that_exists(deploy: Deploy) -> None:
    graph = deployed(deploy, registry_id=OURS)
    assert graph.all("Registry") == []
    assert graph.only("RoleAssignment").inputs == {
        "scope": OURS,
        # AcrPull, in the subscription of the registry.
        "roleDefinitionId": "/subscriptions/s1/providers/Microsoft.Authorization/roleDefinitions/"
        "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        "principalId": "object",
        "principalType": "ServicePrincipal",
    }


def test_a_new_one_has_no_administrator(deploy: Deploy) -> None:
    graph = deployed(deploy, **NEW)
    registry = graph.only("Registry")
    assert registry.inputs.items() >= {
        "registryName": "images",
        "adminUserEnabled": False,
        "sku": {"name": "Standard"},
    }.items()  # fmt: skip
    assert registry.parent == graph.only("RoleAssignment").parent == "registry"


@pytest.mark.parametrize(
    "args",
    [{}, {**NEW, "registry_id": OURS}, {"registry_name": "images"}, {"registry_id": "ours"}],
)
def test_it_is_one_of_both(deploy: Deploy, args: dict[str, Any]) -> None:
    with pytest.raises(ArgumentsError, match="registryId: "):
        deployed(deploy, **args)
