from components import (
    ExistingResourceGroup,
    ExistingResourceGroupArgs,
    ResourceGroup,
    ResourceGroupArgs,
)
from tests.conftest import Deploy

ARGS = ResourceGroupArgs(resource_group_name="team-group", location="eastus", tags={"team": "a"})


def test_the_group_is_a_child_of_its_component(deploy: Deploy) -> None:
    graph = deploy(lambda: ResourceGroup("group", ARGS))

    component = graph.only("components:ResourceGroup")
    group = graph.only("resources:ResourceGroup")
    assert (component.type, component.name) == ("aks-gpu:components:ResourceGroup", "group")
    assert (group.name, group.parent) == ("group", "group")
    assert group.inputs == {
        "resourceGroupName": "team-group",
        "location": "eastus",
        "tags": {"team": "a"},
    }


def test_an_existing_group_is_only_read(deploy: Deploy) -> None:
    args = ExistingResourceGroupArgs(resource_group_name="theirs")
    graph = deploy(lambda: ExistingResourceGroup("group", args))

    assert [resource.type for resource in graph.registered] == ["aks-gpu:components:ResourceGroup"]
    assert list(graph.outputs.values()) == [
        {"id": "/read/theirs", "resourceGroupName": "theirs", "location": "eastus"}
    ]


def test_a_group_registers_its_outputs(deploy: Deploy) -> None:
    graph = deploy(lambda: ResourceGroup("group", ARGS))

    assert list(graph.outputs.values()) == [
        {
            "id": "/ids/azure-native:resources:ResourceGroup/team-group",
            "resourceGroupName": "team-group",
            "location": "eastus",
        }
    ]
