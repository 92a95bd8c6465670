"""The offline azure-native, as programs and people use it: through the real engine."""

import pytest

from tests.bench import Bench
from tests.rehearsal.conftest import Azure

pytestmark = [pytest.mark.engine, pytest.mark.long]

PREAMBLE = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
"""
CLUSTER = """
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


def program(group: str, vm_size: str = "Standard_NC8as_T4_v3", count: int = 1) -> str:
    return PREAMBLE.format(group=group) + CLUSTER.format(vm_size=vm_size, count=count)


def test_a_resource_is_created_updated_and_deleted(bench: Bench) -> None:
    group = "whole-life"
    bench.up(program(group))
    created = bench.resources()["pool"]
    # azure-native records the id of the answer, and AKS writes `resourcegroups` so.
    assert created["id"].endswith(
        f"/resourcegroups/{group}/providers/"
        "Microsoft.ContainerService/managedClusters/c/agentPools/gpu"
    )
    assert created["outputs"]["provisioningState"] == "Succeeded"
    (put,) = bench.requests(
        "PUT", f"{group}/providers/Microsoft.ContainerService/managedClusters/c/agentPools"
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

    bench.up(program(group, count=2))
    assert bench.resources()["pool"]["outputs"]["count"] == 2

    bench.up(program(group, vm_size="Standard_NC16as_T4_v3"))
    assert bench.resources()["pool"]["outputs"]["vmSize"] == "Standard_NC16as_T4_v3"

    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert bench.resources() == {}
    # The group, the cluster, the pool, and the pool that it replaced.
    assert len(bench.requests("DELETE", group)) == 4


@pytest.mark.long
def test_deleting_a_deleted_resource_succeeds(bench: Bench) -> None:
    bench.up(PREAMBLE.format(group="gone-already"))
    Azure(bench.cloud).call("DELETE", "/resourceGroups/gone-already?api-version=2025-04-01")

    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert bench.resources() == {}


@pytest.mark.long
def test_an_imported_pool_has_all_that_azure_filled_in(bench: Bench) -> None:
    """The plug-in left out what Azure had filled in: an imported pool was as its program says.

    azure-native takes the whole answer for inputs, so the next `up` is an update.
    """
    group = "imported"
    bench.up(program(group))
    pool = bench.resources()["pool"]["id"]
    bench.pulumi("state", "delete", bench.resources()["pool"]["urn"], "--yes")
    refused = bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert "cannot create already existing resource '/subscriptions/" in refused

    bench.pulumi(
        "import", "azure-native:containerservice:AgentPool", "pool", pool,
        "--yes", "--generate-code=false", "--protect=false",
    )  # fmt: skip

    inputs = bench.resources()["pool"]["inputs"]
    assert inputs["maxPods"] == 250
    assert inputs["type"] == "VirtualMachineScaleSets"
    assert bench.changes() == {"pool": "update"}
    bench.pulumi("up", "--yes", "--skip-preview")
    assert bench.changes() == {}


@pytest.mark.long
def test_an_unknown_type_is_named(bench: Bench) -> None:
    bench.write(
        "from pulumi_azure_native import maps\n"
        'maps.Account("account", resource_group_name="g", sku={"name": "G2"})'
    )

    output = bench.pulumi("preview", fails=True)

    assert "does not support the type azure-native:maps:Account" in output
    assert "a row of native_types.csv" in " ".join(output.split())


@pytest.mark.long
def test_an_unknown_function_is_named(bench: Bench) -> None:
    bench.write("from pulumi_azure_native import maps\nmaps.get_account('a', 'g')")

    assert "azure-native:maps:getAccount" in bench.pulumi("preview", fails=True)
