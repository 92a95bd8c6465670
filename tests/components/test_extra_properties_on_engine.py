"""Properties that no argument has, on the engine: sent, compared, refreshed, told when they go."""

from typing import Any

import pytest

from tests.azure_pools import V, path
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure
from tests.test_stacks_on_engine import POOL, stack

Json = dict[str, Any]
pytestmark = [pytest.mark.engine, pytest.mark.long]

VAULT = {
    "azureKeyvaultSecretsProvider": {"enabled": True, "config": {"enableSecretRotation": "true"}}
}
BOTH: Json = {
    "addonProfiles": {**VAULT, "azurepolicy": {"enabled": True}},
    "azureMonitorProfile": {"metrics": {"enabled": True}},
    "httpProxyConfig": {"httpProxy": "http://proxy:3128", "noProxy": ["localhost"]},
    "securityProfile": {"defender": {"securityMonitoring": {"enabled": True}}},
    "autoScalerProfile": {"scan-interval": "20s"},
}


def test_any_property_is_sent_and_compared(bench: Bench) -> None:
    """A company with the Key Vault add-on had to fork the program."""
    name = unique("any")

    def write(cluster: Json) -> None:
        own = {"name": name, "protect": False, "extra": cluster}
        kubelet = {"kubeletConfig": {"cpuManagerPolicy": "static"}}
        bench.write_stack(stack(name, {**POOL, "extra": kubelet}, cluster=own))

    write(BOTH)
    bench.update()
    azure = Azure(bench.cloud)
    live = azure.call("GET", f"{path(name)}{V}").body["properties"]
    for key in BOTH:
        assert live[key]
    assert live["addonProfiles"]["azureKeyvaultSecretsProvider"]["enabled"]
    pool = azure.call("GET", f"{path(name)}/agentPools/gpu{V}").body["properties"]
    assert pool["kubeletConfig"]["cpuManagerPolicy"] == "static"
    assert bench.changes() == {}
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert bench.changes() == {}

    changed = {**BOTH, "autoScalerProfile": {"scan-interval": "30s"}}
    write(changed)
    assert bench.update().keys() == {"cluster"}
    live = azure.call("GET", f"{path(name)}{V}").body["properties"]
    assert live["autoScalerProfile"]["scan-interval"] == "30s"

    without = {key: value for key, value in changed.items() if key != "addonProfiles"}
    write(without)
    printed = bench.pulumi("up", "--yes", "--skip-preview")
    assert "addonProfiles.azurepolicy.enabled, which you took out" in printed
    live = azure.call("GET", f"{path(name)}{V}").body["properties"]
    assert live["addonProfiles"]["azurepolicy"]["enabled"]


PROGRAM = """
import pulumi
from pulumi_azure_native import resources
from components import AksCluster, AksClusterArgs, GpuNodePool, GpuNodePoolArgs, SystemPoolArgs


def on_the_os_disk(args):
    if not args.type_.endswith(":AgentPool"):
        return None
    changed = {{**args.props, "kubeletDiskType": "OS"}}
    return pulumi.ResourceTransformResult(changed, args.opts)


group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.name,
        location="eastus",
        cluster_name={name!r},
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
    ),
)
GpuNodePool(
    "gpu",
    GpuNodePoolArgs(
        resource_group_name=group.name,
        cluster_name=cluster.cluster_name,
        pool_name="gpu",
        vm_size="Standard_NC8as_T4_v3",
    ),
    pulumi.ResourceOptions(transforms=[on_the_os_disk]),
)
"""


def test_transforms_change_what_a_component_makes(bench: Bench) -> None:
    name = unique("transforms")
    bench.up(PROGRAM.format(name=name))
    pool = Azure(bench.cloud).call("GET", f"{path(name)}/agentPools/gpu{V}").body["properties"]
    assert pool["kubeletDiskType"] == "OS"
    assert bench.changes() == {}
