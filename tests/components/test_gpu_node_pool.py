import pytest

from components import GpuNodePool, GpuNodePoolArgs
from tests.conftest import Deploy

ARGS = GpuNodePoolArgs(
    resource_group_name="myResourceGroup",
    cluster_name="myAKSCluster",
    pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3",
    count=1,
)


@pytest.mark.parametrize("preview", [True, False])
def test_is_a_tainted_linux_pool_of_its_own_with_the_driver_named(
    deploy: Deploy, preview: bool
) -> None:
    graph = deploy(lambda: GpuNodePool("gpu", ARGS), preview=preview)

    pool = graph.only("AgentPool")
    assert (pool.name, pool.parent) == ("gpu", "gpu")
    assert pool.inputs == {
        "resourceGroupName": "myResourceGroup",
        "resourceName": "myAKSCluster",
        "agentPoolName": "gpu",
        "mode": "User",
        "osType": "Linux",
        "type": "VirtualMachineScaleSets",
        "vmSize": "Standard_NC8as_T4_v3",
        "count": 1,
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "gpuProfile": {"driver": "Install"},
    }


def test_tells_its_outputs(deploy: Deploy) -> None:
    graph = deploy(lambda: GpuNodePool("gpu", ARGS))

    assert list(graph.outputs.values()) == [
        {
            "id": "/ids/azure-native:containerservice:AgentPool/gpu",
            "poolName": "gpu",
            "nodeTaints": ["sku=gpu:NoSchedule"],
        }
    ]
