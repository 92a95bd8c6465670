"""What the pools of commit abbf4de would have done on Azure: rows C7, C8 and C13 of its review.

That program handed its pools to azure-native with the arguments and options that stand here. It was
green: no test changed such a pool, and the stand-in knew the pools of a refreshed cluster by their
names, which azure-native does not.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique
from tests.rehearsal.conftest import Azure, Reply

pytestmark = [pytest.mark.engine, pytest.mark.long]

V = "?api-version=2026-08-01"
PREAMBLE = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

names = {{"resource_group_name": {name!r}, "resource_name_": {name!r}}}
group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
cluster = aks.ManagedCluster(
    "cluster",
    **names,
    location="eastus",
    dns_prefix={name!r},
    identity=aks.ManagedClusterIdentityArgs(type=aks.ResourceIdentityType.SYSTEM_ASSIGNED),
    sku=aks.ManagedClusterSKUArgs(name="Base", tier="Standard"),
    network_profile={{"networkPlugin": "azure", "networkPluginMode": "overlay"}},
    agent_pool_profiles=[
        aks.ManagedClusterAgentPoolProfileArgs(
            name="system",
            mode=aks.AgentPoolMode.SYSTEM,
            os_type=aks.OSType.LINUX,
            type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            vm_size="Standard_D4ds_v5",
            count=1,
            enable_auto_scaling=True,
            min_count=1,
            max_count=5,
        )
    ],
    opts=pulumi.ResourceOptions(
        depends_on=group, ignore_changes=["agentPoolProfiles[0].count"]
    ),
)
"""
POOL = """
aks.AgentPool(
    {pool!r},
    **names,
    agent_pool_name={pool!r},
    mode=aks.AgentPoolMode.USER,
    os_type=aks.OSType.LINUX,
    type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
    vm_size="Standard_NC8as_T4_v3",
    **{{"gpu_profile": aks.GPUProfileArgs(driver="Install"), **{arguments!r}}},
    opts=pulumi.ResourceOptions(depends_on=cluster, ignore_changes={ignored!r}),
)
"""
FIXED = {"count": 1}
SCALED = {"count": 0, "enable_auto_scaling": True, "min_count": 0, "max_count": 5}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/"


@pytest.fixture
def name() -> str:
    return unique("oldprogram")


@pytest.fixture
def refuse_counts(engine_cloud: Cloud) -> Iterator[Callable[[], None]]:
    """Makes the cloud one where nobody but the autoscaler counts, to the end of the test."""
    yield lambda: engine_cloud.offer({"autoscaledCounts": "refuse"})
    engine_cloud.offer({})


def program(name: str, **pools: dict[str, Any]) -> str:
    """The cluster, and pools by their names; those that scale themselves ignore their count."""
    made = PREAMBLE.format(name=name)
    for pool, arguments in pools.items():
        ignored = ["count"] if "max_count" in arguments else []
        made += POOL.format(pool=pool, arguments=arguments, ignored=ignored)
    return made


def path(name: str) -> str:
    return f"/resourceGroups/{name}/providers/Microsoft.ContainerService/managedClusters/{name}"


def scale(bench: Bench, name: str, pool: str, count: int) -> None:
    """What the autoscaler does behind the stack's back."""
    azure, address = Azure(bench.cloud), f"{path(name)}/agentPools/{pool}{V}"
    body = azure.call("GET", address).body
    body["properties"]["count"] = count
    assert azure.call("PUT", address, body).status == 200

    def is_done(reply: Reply) -> bool:
        return bool(reply.body["properties"]["provisioningState"] == "Succeeded")

    azure.wait(address, is_done)


def live_count(bench: Bench, name: str, pool: str) -> int:
    reply = Azure(bench.cloud).call("GET", f"{path(name)}/agentPools/{pool}{V}")
    count: int = reply.body["properties"]["count"]
    return count


def pools_in_state(bench: Bench) -> list[str]:
    profiles = bench.resources()["cluster"]["inputs"]["agentPoolProfiles"]
    return [profile["name"] for profile in profiles]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {"gpu_profile": {"driver": "None"}}, id="driver"),
        pytest.param({"availability_zones": ["1"]}, {"availability_zones": ["2", "3"]}, id="zones"),
        pytest.param({"os_disk_size_gb": 128}, {"os_disk_size_gb": 256}, id="disk size"),
        pytest.param({"os_disk_type": "Managed"}, {"os_disk_type": "Ephemeral"}, id="disk type"),
        pytest.param({}, {"scale_set_priority": "Spot", "spot_max_price": -1}, id="priority"),
        pytest.param(
            {"vnet_subnet_id": f"{SUBNET}one"}, {"vnet_subnet_id": f"{SUBNET}other"}, id="subnet"
        ),
    ],
)
def test_changes_of_immutable_properties_are_updates_that_aks_refuses(
    bench: Bench, name: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    """C7: azure-native replaces a pool for its size and its partition profile only.

    Whatever else AKS fixes at creation, the preview shows as an update, and `up` ends with a 400.
    """
    bench.up(program(name, gpu=FIXED | before))

    bench.write(program(name, gpu=FIXED | after))
    assert bench.changes() == {"gpu": "update"}
    assert "PropertyChangeNotAllowed" in bench.up(program(name, gpu=FIXED | after), fails=True)


def test_an_edit_of_a_label_sent_an_outdated_count(bench: Bench, name: str) -> None:
    """C8: `ignore_changes=["count"]` puts the count of the state into the request.

    The pool began with no node, AKS scaled it to four, and a new label takes the four away.
    """
    bench.up(program(name, gpu=SCALED))
    scale(bench, name, "gpu", 4)

    bench.up(program(name, gpu=SCALED | {"node_labels": {"team": "a"}}))

    put = bench.requests("PUT", f"{name}/agentPools/gpu")[-1]
    assert put["body"]["properties"]["count"] == 0
    assert live_count(bench, name, "gpu") == 0


def test_an_edit_of_a_label_was_refused_where_aks_refuses_counts(
    bench: Bench, name: str, refuse_counts: Callable[[], None]
) -> None:
    """C8, if AKS answers as terraform-provider-azurerm#4543 has it."""
    bench.up(program(name, gpu=SCALED))
    scale(bench, name, "gpu", 4)
    refuse_counts()

    printed = bench.up(program(name, gpu=SCALED | {"node_labels": {"team": "a"}}), fails=True)

    assert "Cannot manually scale AgentPool" in printed
    assert live_count(bench, name, "gpu") == 4


THREE = {"gpu": SCALED, "mig": FIXED, "spot": SCALED}


def test_a_refresh_put_all_pools_into_the_cluster(bench: Bench, name: str) -> None:
    """C13: what azure-native finds in a refreshed cluster, it takes for the cluster's own.

    The pools of the stack come into the cluster's list, and each `up` from then on writes the
    cluster once more. So it is where AKS lists pools by their age, as it does since 2024.
    """
    bench.up(program(name, **THREE))
    bench.pulumi("refresh", "--yes", "--skip-preview")

    first, *others = pools_in_state(bench)
    assert (first, sorted(others)) == ("system", ["gpu", "mig", "spot"])
    assert bench.changes() == {"cluster": "update"}


@pytest.fixture
def by_name(bench: Bench, faults: Faults, name: str) -> Bench:
    """A stack on a cluster whose pools AKS lists by name, as it did until 2023; refreshed."""
    bench.up(program(name, **THREE))
    scale(bench, name, "gpu", 4)
    cluster = Azure(bench.cloud).call("GET", f"{path(name)}{V}").body
    cluster["properties"]["agentPoolProfiles"].sort(key=lambda profile: str(profile["name"]))
    asked = {"method": "GET", "path": f"managedClusters/{name}$"}
    faults.script(asked | {"status": 200, "body": cluster})
    bench.pulumi("refresh", "--yes", "--skip-preview")
    faults.lift()
    return bench


def test_a_refresh_by_index_sent_the_count_of_another_pool(by_name: Bench, name: str) -> None:
    """C13: `agentPoolProfiles[0].count` is then the count of another pool, which `up` sends."""
    assert pools_in_state(by_name) == ["gpu", "mig", "spot", "system"]
    assert by_name.changes() == {"cluster": "update"}

    by_name.pulumi("up", "--yes", "--skip-preview")

    put = by_name.requests("PUT", f"managedClusters/{name}")[-1]
    (profile,) = put["body"]["properties"]["agentPoolProfiles"]
    assert (profile["name"], profile["count"]) == ("system", 4)
    assert live_count(by_name, name, "system") == 4


def test_a_stack_was_stuck_where_aks_refuses_counts(
    by_name: Bench, name: str, refuse_counts: Callable[[], None]
) -> None:
    """C13: there the count of another pool is refused, and no `up` gets past the cluster."""
    refuse_counts()

    printed = by_name.pulumi("up", "--yes", "--skip-preview", fails=True)

    assert "Cannot manually scale AgentPool" in printed
    assert live_count(by_name, name, "system") == 1
