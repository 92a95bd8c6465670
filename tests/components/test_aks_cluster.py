import pulumi
import pytest

from components import AksCluster, AksClusterArgs, SystemPoolArgs
from tests.conftest import Deploy

ARGS = AksClusterArgs(
    resource_group_name="myResourceGroup",
    location="eastus",
    cluster_name="myAKSCluster",
    system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5", count=2),
)


@pytest.mark.parametrize("preview", [True, False])
def test_has_the_system_pool_inline_and_nothing_else(deploy: Deploy, preview: bool) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS), preview=preview)

    cluster = graph.only("ManagedCluster")
    assert (cluster.name, cluster.parent) == ("cluster", "cluster")
    assert cluster.inputs == {
        "resourceGroupName": "myResourceGroup",
        "resourceName": "myAKSCluster",
        "location": "eastus",
        "dnsPrefix": "myAKSCluster",
        "identity": {"type": "SystemAssigned"},
        "agentPoolProfiles": [
            {
                "name": "system",
                "mode": "System",
                "osType": "Linux",
                "type": "VirtualMachineScaleSets",
                "vmSize": "Standard_D4ds_v5",
                "count": 2,
            }
        ],
    }


def test_passes_options_on(deploy: Deploy) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS, pulumi.ResourceOptions(protect=True)))

    assert graph.only("ManagedCluster").options.protect


def test_tells_its_outputs(deploy: Deploy) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS))

    assert list(graph.outputs.values()) == [
        {
            "id": "/ids/azure-native:containerservice:ManagedCluster/myAKSCluster",
            "clusterName": "myAKSCluster",
            "resourceGroupName": "myResourceGroup",
        }
    ]
