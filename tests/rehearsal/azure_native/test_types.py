import pytest

from rehearsal.azure_native.projection import project
from rehearsal.azure_native.types import TYPES

POOL = TYPES["azure-native:containerservice:AgentPool"]
GROUP = TYPES["azure-native:resources:ResourceGroup"]
INPUTS = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "agentPoolName": "p",
    "vmSize": "Standard_NC6",
    "type": "VirtualMachineScaleSets",
    "tags": {"a": "b"},
}
ID = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService"
    "/managedClusters/c/agentPools/p"
)
ANSWER = {
    "id": ID,
    "name": "p",
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "properties": {"vmSize": "Standard_NC6", "type": "VirtualMachineScaleSets", "maxPods": 250},
}


def test_an_id_is_made_of_the_names() -> None:
    assert POOL.resource_id("s", INPUTS) == ID


def test_a_body_has_what_is_not_in_the_path_under_properties_or_beside() -> None:
    assert POOL.body(INPUTS) == {
        "properties": {
            "vmSize": "Standard_NC6",
            "type": "VirtualMachineScaleSets",
            "tags": {"a": "b"},
        },
    }
    assert GROUP.body({"resourceGroupName": "g", "location": "eastus", "tags": {"a": "b"}}) == {
        "location": "eastus",
        "tags": {"a": "b"},
    }


def test_outputs_are_flat_and_keep_both_types_apart() -> None:
    outputs = POOL.outputs(ANSWER)

    assert outputs["type"] == "Microsoft.ContainerService/managedClusters/agentPools"
    assert outputs["typePropertiesType"] == "VirtualMachineScaleSets"
    assert outputs["vmSize"] == "Standard_NC6"


def test_the_inputs_of_an_imported_resource_are_its_own_not_the_servers() -> None:
    names = {"resourceGroupName": "g", "resourceName": "c", "agentPoolName": "p"}

    assert POOL.inputs(ID, POOL.outputs(ANSWER)) == names | {
        "vmSize": "Standard_NC6",
        "type": "VirtualMachineScaleSets",
    }
    assert POOL.inputs(ID, POOL.outputs(ANSWER), with_server_filled=True)["maxPods"] == 250


def test_an_id_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="is not of the form"):
        POOL.inputs("/subscriptions/s/resourceGroups/g", {})


@pytest.mark.parametrize(
    ("inputs", "actual", "drifted"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1}),
        ({"a": 1}, {"a": 3}, {"a": 3}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1}),
        ({"a": ["x"]}, {"a": ["y", "x"]}, {"a": ["y", "x"]}),
        (
            {"pools": [{"name": "one", "count": 1}]},
            {"pools": [{"name": "two", "count": 5}, {"name": "one", "count": 2, "mode": "User"}]},
            {"pools": [{"name": "one", "count": 2}]},
        ),
    ],
)
def test_drift_is_what_differs_from_the_inputs(
    inputs: object, actual: object, drifted: object
) -> None:
    assert project(inputs, actual) == drifted
