"""A stack over the months: refreshed, relabelled, scaled by AKS, upgraded. Nothing may be lost.

The same holds for this program and for a program of somebody else's, that has the components only.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.azure_pools import V, live_count, path, scale
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure

# Some twenty runs of Pulumi each.
pytestmark = [pytest.mark.engine, pytest.mark.long]

FOREIGN = """
from components import *

group = ResourceGroup("group", ResourceGroupArgs(resource_group_name={name!r}, location="eastus"))
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.resource_group_name,
        location="eastus",
        cluster_name={name!r},
        kubernetes_version={version!r},
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
    ),
)
GpuNodePool(
    "gpu",
    GpuNodePoolArgs(
        resource_group_name=group.resource_group_name,
        cluster_name=cluster.cluster_name,
        pool_name="gpu",
        vm_size="Standard_NC8as_T4_v3",
        kubernetes_version={version!r},
        count=0,
        min_count=0,
        max_count=5,
        labels={{"team": {team!r}}},
    ),
)
"""


def write_own(bench: Bench, name: str, version: str, team: str) -> None:
    scaled = {"count": 0, "minCount": 0, "maxCount": 5}
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "labels": {"team": team}, **scaled}
    bench.write_stack(
        {
            "resourceGroup": {"name": name},
            "cluster": {"name": name, "kubernetesVersion": version, "protect": False},
            "gpuStack": "none",
            "gpuPools": [pool],
        }
    )


def write_foreign(bench: Bench, name: str, version: str, team: str) -> None:
    bench.write(FOREIGN.format(name=name, version=version, team=team))


@pytest.mark.parametrize(
    "write", [write_own, pytest.param(write_foreign, marks=pytest.mark.nightly)]
)
def test_a_stack_keeps_its_pools_through_scaling_upgrades_and_refreshes(
    bench: Bench, write: Callable[[Bench, str, str, str], None]
) -> None:
    name = unique("life")

    def live() -> dict[str, Any]:
        body = Azure(bench.cloud).call("GET", f"{path(name)}/agentPools/gpu{V}").body
        properties: dict[str, Any] = body["properties"]
        return properties

    def up(version: str, team: str) -> dict[str, str]:
        write(bench, name, version, team)
        planned = bench.changes()
        assert bench.update() == planned
        return planned

    up("1.34", "a")
    assert bench.changes() == {}
    scale(bench, name, "gpu", 3)
    for _ in range(2):
        bench.pulumi("refresh", "--yes", "--skip-preview")
        assert bench.changes() == {}

    assert up("1.34", "b") == {"gpu": "update"}
    assert live()["nodeLabels"] == {"team": "b"}
    scale(bench, name, "gpu", 4)
    assert up("1.34", "c") == {"gpu": "update"}

    assert up("1.35", "c") == {"cluster": "update", "gpu": "update"}
    assert live()["currentOrchestratorVersion"].startswith("1.35.")
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert bench.changes() == {}

    assert live()["nodeLabels"] == {"team": "c"}
    assert live_count(bench, name, "gpu") == 4
    counts = [put["body"]["properties"]["count"] for put in bench.requests("PUT", "agentPools/gpu")]
    # Created with none, scaled to three, relabelled, scaled to four, relabelled, upgraded.
    assert counts == [0, 3, 3, 4, 4, 4]
    for put in bench.requests("PUT", f"managedClusters/{name}"):
        profiles = put["body"]["properties"].get("agentPoolProfiles", [])
        assert [profile["name"] for profile in profiles] in ([], ["system"])
    assert bench.requests("DELETE", name) == []
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
