"""Headers that come and go on what runs: nothing changes its provider, or is lost, for them."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
from components import AksCluster, AksClusterArgs, GpuNodePool, GpuNodePoolArgs, SystemPoolArgs
from pulumi_azure_native import resources

name = {name!r}
group = resources.ResourceGroup("group", resource_group_name=name, location="eastus")
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.name,
        location="eastus",
        cluster_name=name,
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5", custom_headers={cluster!r}),
    ),
)
GpuNodePool(
    "gpu",
    GpuNodePoolArgs(
        resource_group_name=group.name,
        cluster_name=cluster.cluster_name,
        pool_name="gpu",
        vm_size="Standard_NC8as_T4_v3",
        count=0,
        gpu_stack={stack!r},
        custom_headers={pool!r},
        replace_on_header_change={replace},
        artifact_streaming={streaming},
    ),
)
"""
# With what pools need whose GPUs AKS manages.
MANAGED = """
from components import ManagedGpuFeature, ManagedGpuFeatureArgs

ManagedGpuFeature("managed-gpu", ManagedGpuFeatureArgs())
"""
ONE = {"EnableACRTeleport": "false"}
OTHER = {"enableacrteleport": "true"}
Headers = dict[str, str] | None


# What a stack file's `gpuStack: specialized-image` makes of a pool.
SPECIALIZED: dict[str, Any] = {
    "stack": "specialized-image",
    "pool": {"UseGPUDedicatedVHD": "true"},
}


def program(
    name: str,
    *,
    cluster: Headers = None,
    pool: Headers = None,
    stack: str = "device-plugin",
    replace: bool = False,
    streaming: bool | None = None,
) -> str:
    return PROGRAM.format(
        name=name, cluster=cluster, pool=pool, stack=stack, replace=replace, streaming=streaming
    )


def refused(bench: Bench, text: str) -> str:
    """What a preview and an update say that are refused before anything is sent."""
    bench.write(text)
    output = bench.pulumi("preview", fails=True)
    bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    return output


def test_headers_on_a_resource_of_azure_native_are_refused(bench: Bench) -> None:
    """The first header deleted the pool, and that of the system pool the cluster with all pools."""
    name = unique("native")
    bench.up(program(name))
    puts = len(bench.requests("PUT", name))

    assert "set replaceOnHeaderChange: true" in refused(bench, program(name, pool=ONE))
    assert "another cluster" in refused(bench, program(name, cluster=ONE))
    output = refused(bench, program(name, **SPECIALIZED))
    assert "remove gpuStack: specialized-image (or image: specialized), which sends" in output
    assert len(bench.requests("PUT", name)) == puts
    assert not bench.requests("DELETE", name)

    asked = program(name, pool=ONE, replace=True)
    bench.write(asked)
    assert bench.changes() == {"gpu": "replace"}
    bench.up(asked)
    assert bench.resources()["gpu"]["type"] == "aks-preview:containerservice:AgentPool"
    assert bench.changes() == {}


def test_headers_of_a_resource_of_aks_preview_can_change(bench: Bench) -> None:
    """Dropping the last header, when its feature was there for all, deleted pool and cluster."""
    name = unique("preview")
    bench.up(program(name, cluster=ONE, pool=ONE))
    for headers in (OTHER, {}):
        bench.write(program(name, cluster=headers, pool=headers))
        assert bench.changes() == {"cluster": "update", "gpu": "update"}
        bench.up(program(name, cluster=headers, pool=headers))
        assert bench.changes() == {}
    puts = len(bench.requests("PUT", name))

    output = refused(bench, program(name, cluster={}))
    assert "set customHeaders: {} to keep it without headers; or set replace" in output
    output = refused(bench, program(name, pool={}))
    assert "set customHeaders: {} to keep it without headers." in output
    output = refused(bench, program(name, cluster={}, **SPECIALIZED))
    assert "gpu does not use the specialized image" in output
    output = refused(bench, program(name, cluster={"UseGPUDedicatedVHD": "true"}, pool={}))
    assert "cluster does not use the specialized image" in output
    assert len(bench.requests("PUT", name)) == puts
    assert not bench.requests("DELETE", name)

    asked = program(name, cluster={}, replace=True)
    bench.write(asked)
    assert bench.changes() == {"gpu": "replace"}
    bench.up(asked)
    assert bench.resources()["gpu"]["type"] == "azure-native:containerservice:AgentPool"
    assert bench.changes() == {}


def test_a_change_to_managed_gpus_and_back_is_one_replacement_each(bench: Bench) -> None:
    """azure-native cannot say it: the pool changes its provider, but only where it is replaced."""
    name = unique("managed")
    plain, managed = (
        program(name, stack=stack) + MANAGED for stack in ("device-plugin", "managed")
    )
    bench.up(plain)
    output = refused(bench, program(name, streaming=True) + MANAGED)
    assert (
        f"az aks nodepool update --resource-group {name} --cluster-name {name} --name gpu "
        "--enable-artifact-streaming" in output
    )

    bench.write(managed)
    assert bench.changes() == {"gpu": "replace"}
    bench.up(managed)
    put = bench.requests("PUT", f"{name}/agentPools/gpu")[-1]
    assert put["query"] == {"api-version": "2026-08-01"}
    gpu_profile = put["body"]["properties"]["gpuProfile"]
    assert gpu_profile == {"driver": "Install", "nvidia": {"managementMode": "Managed"}}
    assert bench.resources()["gpu"]["type"] == "aks-preview:containerservice:AgentPool"
    assert bench.changes("--refresh") == {}

    streaming = program(name, stack="managed", streaming=True) + MANAGED
    bench.write(streaming)
    assert bench.changes() == {"gpu": "update"}
    bench.up(streaming)
    bench.write(plain)
    assert bench.changes() == {"gpu": "replace"}
    bench.up(plain)
    assert bench.resources()["gpu"]["type"] == "azure-native:containerservice:AgentPool"
    assert bench.changes("--refresh") == {}

    bench.up(program(name, streaming=True, replace=True, pool={}) + MANAGED)
    assert "set artifactStreaming: false to keep it" in refused(bench, plain)
