"""The offline azure-native, as programs and people use it: through the real engine."""

import pytest

from tests.bench import Bench
from tests.rehearsal.conftest import Azure

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = "azure-native:containerservice:AgentPool"
GROUP = "whole-life"
PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, managedidentity, resources

resources.ResourceGroup("gone", resource_group_name="gone-already", location="eastus")
group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
for name in {identities!r}:
    managedidentity.UserAssignedIdentity(name, resource_group_name=group.name)
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_="c",
    location="eastus",
    dns_prefix="c",
    identity=aks.ManagedClusterIdentityArgs(type="SystemAssigned"),
    agent_pool_profiles=[
        aks.ManagedClusterAgentPoolProfileArgs(
            name="system", mode="System", vm_size="Standard_D4ds_v5", count=1,
            os_type="Linux", type="VirtualMachineScaleSets",
        )
    ],
)
pool = aks.AgentPool(
    "pool",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    agent_pool_name="gpu",
    vm_size={vm_size!r},
    count={count},
    os_type="Linux",
    mode="User",
    type="VirtualMachineScaleSets",
    gpu_profile=aks.GPUProfileArgs(driver="Install"),
    tags={{"team": "a"}},
)
pulumi.export("state", pool.provisioning_state)
"""


def program(vm_size: str = "Standard_NC8as_T4_v3", count: int = 1, *identities: str) -> str:
    return PROGRAM.format(group=GROUP, vm_size=vm_size, count=count, identities=identities)


def test_a_pool_is_created_updated_replaced_imported_and_deleted(bench: Bench) -> None:
    bench.up(program())
    created = bench.resources()["pool"]
    # azure-native records the id of the answer, and AKS writes `resourcegroups` so.
    assert created["id"].endswith(
        f"/resourcegroups/{GROUP}/providers/"
        "Microsoft.ContainerService/managedClusters/c/agentPools/gpu"
    )
    assert created["outputs"]["provisioningState"] == "Succeeded"
    (put,) = bench.requests(
        "PUT", f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/c/agentPools"
    )
    assert put["body"] == {
        "properties": {
            "vmSize": "Standard_NC8as_T4_v3",
            "count": 1,
            "osType": "Linux",
            "mode": "User",
            "type": "VirtualMachineScaleSets",
            "gpuProfile": {"driver": "Install"},
            "tags": {"team": "a"},
        }
    }

    # What the server filled in is no difference. After a refresh the pool stands among the pools
    # of its cluster, whose program names only one: so it is with azure-native.
    assert bench.changes("--refresh") == {"cluster": "update"}

    # A location that a program leaves out is the configuration's, or the group's, in this order.
    bench.write(program("Standard_NC8as_T4_v3", 2, "in-group"))
    assert bench.update() == {"pool": "update", "in-group": "create"}
    assert bench.resources()["pool"]["outputs"]["count"] == 2
    bench.pulumi("config", "set", "azure-native:location", "westeurope")
    bench.write(program("Standard_NC16as_T4_v3", 1, "in-group", "configured"))
    # What is there stays where it is.
    assert bench.update() == {"pool": "replace", "configured": "create"}
    state = bench.resources()
    assert state["pool"]["outputs"]["vmSize"] == "Standard_NC16as_T4_v3"
    assert state["in-group"]["outputs"]["location"] == "eastus"
    assert state["configured"]["outputs"]["location"] == "westeurope"

    # The plug-in left out what Azure had filled in: an imported pool was as its program says.
    # azure-native takes the whole answer for inputs, so the next `up` is an update.
    bench.pulumi("state", "delete", state["pool"]["urn"], "--yes")
    refused = bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert "cannot create already existing resource '/subscriptions/" in refused
    bench.pulumi(
        "import", POOL, "pool", state["pool"]["id"],
        "--yes", "--generate-code=false", "--protect=false",
    )  # fmt: skip
    inputs = bench.resources()["pool"]["inputs"]
    assert inputs["maxPods"] == 250
    assert inputs["type"] == "VirtualMachineScaleSets"
    assert bench.update() == {"pool": "update"}
    assert bench.changes() == {}

    # What is deleted already is deleted without a word.
    Azure(bench.cloud).call("DELETE", "/resourceGroups/gone-already?api-version=2025-04-01")
    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert bench.resources() == {}
    # The group, two identities, the cluster, the pool, and the pool that it replaced.
    assert len(bench.requests("DELETE", GROUP)) == 6
