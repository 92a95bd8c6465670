"""Headers that come and go on what runs: nothing changes its provider, or is lost, for them."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
from components import *
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
    ),
)
# What pools need whose GPUs AKS manages.
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


@dataclass(frozen=True)
class Life:
    """A cluster and a pool, by programs that differ in these."""

    bench: Bench
    name: str

    def write(
        self,
        *,
        cluster: Headers = None,
        pool: Headers = None,
        stack: str = "device-plugin",
        replace: bool = False,
    ) -> None:
        told = {"cluster": cluster, "pool": pool, "stack": stack, "replace": replace}
        self.bench.write(PROGRAM.format(name=self.name, **told))

    def update(self, **program: Any) -> dict[str, str]:
        self.write(**program)
        return self.bench.update()

    def refused(self, **program: Any) -> str:
        self.write(**program)
        return self.bench.pulumi("preview", fails=True)

    def type(self) -> str:
        return str(self.bench.resources()["gpu"]["type"])

    def sends_nothing(self, puts: int) -> None:
        """An update is refused as its preview is, and nothing was sent since."""
        self.bench.pulumi("up", "--yes", "--skip-preview", fails=True)
        assert len(self.bench.requests("PUT", self.name)) == puts
        assert not self.bench.requests("DELETE", self.name)


def test_what_azure_native_made_moves_to_aks_preview_by_replacements_alone(bench: Bench) -> None:
    """The first header deleted the pool, and that of the system pool the cluster with all pools."""
    life = Life(bench, unique("native"))
    life.update()
    puts = len(bench.requests("PUT", life.name))
    assert "another ManagedCluster" in life.refused(cluster=ONE)
    assert "gpuStack: specialized-image (or image: specialized)" in life.refused(**SPECIALIZED)
    assert "set replaceOnHeaderChange: true" in life.refused(pool=ONE)
    life.sends_nothing(puts)

    # azure-native cannot say that AKS manages the GPUs: there and back is one replacement each.
    assert life.update(stack="managed") == {"gpu": "replace"}
    put = bench.requests("PUT", f"{life.name}/agentPools/gpu")[-1]
    assert put["query"] == {"api-version": "2026-08-01"}
    gpu_profile = put["body"]["properties"]["gpuProfile"]
    assert gpu_profile == {"driver": "Install", "nvidia": {"managementMode": "Managed"}}
    assert life.type() == "aks-preview:containerservice:AgentPool"
    assert bench.changes("--refresh") == {}
    assert life.update() == {"gpu": "replace"}
    assert life.type() == "azure-native:containerservice:AgentPool"
    assert bench.changes("--refresh") == {}

    assert life.update(pool=ONE, replace=True) == {"gpu": "replace"}
    assert life.type() == "aks-preview:containerservice:AgentPool"
    assert bench.changes() == {}


def test_headers_of_a_resource_of_aks_preview_can_change(bench: Bench) -> None:
    """Dropping the last header, when its feature was there for all, deleted pool and cluster."""
    life = Life(bench, unique("preview"))
    life.update(cluster=ONE, pool=ONE)
    for headers in (OTHER, {}):
        changed = life.update(cluster=headers, pool=headers)
        assert changed == {"cluster": "update", "gpu": "update"}
        assert bench.changes() == {}
    puts = len(bench.requests("PUT", life.name))

    output = life.refused(pool={})
    assert "set customHeaders: {} to keep it without headers." in output
    output = life.refused(cluster={}, **SPECIALIZED)
    assert "gpu does not use the specialized image" in output
    output = life.refused(cluster={"UseGPUDedicatedVHD": "true"}, pool={})
    assert "cluster does not use the specialized image" in output
    output = life.refused(cluster={})
    assert "set customHeaders: {} to keep it without headers; or set replace" in output
    life.sends_nothing(puts)

    assert life.update(cluster={}, replace=True) == {"gpu": "replace"}
    assert life.type() == "azure-native:containerservice:AgentPool"
    assert bench.changes() == {}
