"""What cannot change, row by row, with azure-native: planned as a replacement, and done as one."""

import json
import re
from typing import Any

import pytest

from aks_catalogue import aks_properties
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure

pytestmark = [pytest.mark.engine, pytest.mark.long]

SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/"
GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/"
IDENTITY = f"{GROUP.replace('Compute', 'ManagedIdentity')}userAssignedIdentities/i"
SPOT = {"spot": True}
# What GpuNodePool's arguments change, before and after, by the path.
BY_ARGUMENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "vmSize": ({}, {"vm_size": "Standard_NC16as_T4_v3"}),
    "gpuInstanceProfile": (
        {"vm_size": "Standard_NC24ads_A100_v4"},
        {"vm_size": "Standard_NC24ads_A100_v4", "mig_profile": "MIG1g"},
    ),
    "gpuProfile.driver": ({}, {"gpu_stack": "none"}),
    "osDiskSizeGB": ({}, {"os_disk_size_gb": 256}),
    "osDiskType": ({"os_disk_type": "Managed"}, {"os_disk_type": "Ephemeral"}),
    "scaleSetPriority": (SPOT, {}),
    "scaleSetEvictionPolicy": ({}, SPOT),
    "spotMaxPrice": (SPOT, {**SPOT, "spot_max_price": 0.5}),
    "availabilityZones": ({"zones": ["1", "2"]}, {"zones": ["2"]}),
    "vnetSubnetID": ({}, {"subnet_id": f"{SUBNET}nodes"}),
    "enableEncryptionAtHost": ({}, {"host_encryption": True}),
    # The number that AKS itself has chosen is in no state.
    "maxPods": ({}, {"extra": {"maxPods": 250}}),
}
RESERVATIONS = "capacityReservationGroupID"
# What they do not reach: as a program has it that gives azure-native the same table.
BY_PROPERTIES: dict[str, tuple[Any, Any]] = {
    "enableNodePublicIP": (None, True),
    "enableUltraSSD": (None, True),
    "hostGroupID": (None, f"{GROUP}hostGroups/h"),
    "kubeletConfig": (None, {"cpuManagerPolicy": "static"}),
    "kubeletDiskType": ("OS", "Temporary"),
    "linuxOSConfig": ({"swapFileSizeMB": 100}, {"swapFileSizeMB": 200}),
    "networkProfile.nodePublicIPTags": ([{"tag": "a"}], [{"tag": "b"}]),
    "nodePublicIPPrefixID": (None, f"{GROUP}prefixes/p"),
    "podIPAllocationMode": ("DynamicIndividual", "StaticBlock"),
    "podSubnetID": (f"{SUBNET}one", f"{SUBNET}other"),
    "proximityPlacementGroupID": (None, f"{GROUP}proximityPlacementGroups/p"),
}
# What AKS asks for beside a property.
BESIDE: dict[str, dict[str, Any]] = {"nodePublicIPPrefixID": {"enableNodePublicIP": True}}
# What azure-native does not have, and kinds of pools that the rehearsal does not have.
OF_AKS_PREVIEW = {"gpuProfile.driverType", "gpuProfile.nvidia"}
NOT_PLAYED = {"osType", "type", "windowsProfile.disableOutboundNat", "workloadRuntime"}
ROWS = {*aks_properties.POOL.fixed} - OF_AKS_PREVIEW - NOT_PLAYED

NETWORK = {"service_cidr": "10.0.0.0/16", "dns_service_ip": "10.0.0.10"}
# What AksCluster's arguments change of a cluster.
CLUSTERS_BY_ARGUMENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "resourceGroupName": ({}, {"resource_group_name": "other"}),
    "resourceName": ({"dns_prefix": "one"}, {"dns_prefix": "one", "cluster_name": "other"}),
    "location": ({}, {"location": "westus2"}),
    "dnsPrefix": ({}, {"dns_prefix": "other"}),
    "apiServerAccessProfile.enablePrivateCluster": (
        {"authorized_ip_ranges": ["20.40.60.0/24"]},
        {"private": True},
    ),
    "networkProfile.serviceCidr": (
        {"network": NETWORK},
        {"network": NETWORK | {"service_cidr": "10.0.0.0/17"}},
    ),
    "networkProfile.dnsServiceIP": (
        {"network": NETWORK},
        {"network": NETWORK | {"dns_service_ip": "10.0.0.11"}},
    ),
}
DNS = {"dnsPrefix": "one"}
SSH = {"ssh": {"publicKeys": [{"keyData": "ssh-rsa AAAA"}]}}
CLUSTERS_BY_PROPERTIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "diskEncryptionSetID": (DNS, {**DNS, "diskEncryptionSetID": f"{GROUP}diskEncryptionSets/d"}),
    "enableRBAC": ({**DNS, "enableRBAC": True}, {**DNS, "enableRBAC": False}),
    "extendedLocation": (DNS, {**DNS, "extendedLocation": {"name": "edge", "type": "EdgeZone"}}),
    "fqdnSubdomain": ({"fqdnSubdomain": "one"}, {"fqdnSubdomain": "other"}),
    "linuxProfile.adminUsername": (
        {**DNS, "linuxProfile": {"adminUsername": "one", **SSH}},
        {**DNS, "linuxProfile": {"adminUsername": "other", **SSH}},
    ),
    "nodeResourceGroup": (
        {**DNS, "nodeResourceGroup": "one"},
        {**DNS, "nodeResourceGroup": "other"},
    ),
    "windowsProfile.adminUsername": (
        {**DNS, "windowsProfile": {"adminUsername": "one"}},
        {**DNS, "windowsProfile": {"adminUsername": "other"}},
    ),
}
CLUSTER_ROWS = aks_properties.CLUSTER.fixed.keys() | {"resourceGroupName", "resourceName"}

PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources
from aks_catalogue import aks_properties
from components import GpuNodePool, GpuNodePoolArgs

name = {name!r}
group = resources.ResourceGroup("group", resource_group_name=name, location="eastus")
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_=name,
    location="eastus",
    dns_prefix=name,
    # For the pool with reserved machines.
    identity={{"type": "UserAssigned", "userAssignedIdentities": [{identity!r}]}},
    agent_pool_profiles=[dict(name="system", mode="System", vmSize="Standard_D4ds_v5", count=1)],
    network_profile={{"networkPlugin": "azure"}},
)
for place, (path, args) in enumerate({by_arguments!r}.items()):
    own = dict(vm_size="Standard_NC8as_T4_v3", count=0) | args
    GpuNodePool(
        path,
        GpuNodePoolArgs(
            resource_group_name=group.name,
            cluster_name=cluster.name,
            pool_name=f"a{{place}}",
            **own,
        ),
    )
for place, (path, value) in enumerate({by_properties!r}.items()):
    outer, _, inner = path.partition(".")
    own = {{}} if value is None else {{outer: {{inner: value}} if inner else value}}
    inputs = dict(
        resourceGroupName=group.name, resourceName=cluster.name, agentPoolName=f"p{{place}}",
        vmSize="Standard_D4ds_v5", count=0, **own, **{beside!r}.get(path, {{}})
    )
    pulumi.CustomResource(
        "azure-native:containerservice:AgentPool", path, inputs,
        pulumi.ResourceOptions(
            version="3.29.0",
            delete_before_replace=True,
            replace_on_changes=aks_properties.POOL.replacing([path]),
        ),
    )
"""


Sides = dict[str, tuple[Any, Any]]


def program(
    name: str, side: int, by_arguments: Sides = BY_ARGUMENTS, by_properties: Sides = BY_PROPERTIES
) -> str:
    return PROGRAM.format(
        name=name,
        by_arguments={path: sides[side] for path, sides in by_arguments.items()},
        by_properties={path: sides[side] for path, sides in by_properties.items()},
        beside=BESIDE,
        identity=IDENTITY,
    )


def reserve(azure: Azure, name: str) -> str:
    """Reserves machines of the pools' size; the ID of the group."""
    place, version = {"location": "eastus"}, "?api-version=2025-04-01"
    group = f"/resourceGroups/{name}/providers/Microsoft.Compute/capacityReservationGroups/r"
    machines = {"sku": {"name": "Standard_NC8as_T4_v3", "capacity": 1}}
    azure.call("PUT", f"/resourceGroups/{name}{version}", place)
    azure.call("PUT", f"{group}{version}", place)
    azure.call("PUT", f"{group}/capacityReservations/t4{version}", place | machines)
    return f"{azure.subscription}{group}"


def test_each_immutable_property_of_a_pool_replaces_it(bench: Bench) -> None:
    """azure-native by itself replaces a pool for its size and its MIG profile only.

    All else that AKS fixes at creation was planned as an update, and `up` ended with a 400.
    """
    azure, name = Azure(bench.cloud), unique("fixed")
    reservations = {"capacity_reservation_group_id": reserve(azure, unique("reserved"))}
    arguments: Sides = {**BY_ARGUMENTS, RESERVATIONS: ({}, reservations)}
    assert arguments.keys() | BY_PROPERTIES.keys() == ROWS
    azure.register("Microsoft.Compute", "EncryptionAtHost")
    bench.up(program(name, 0, arguments))
    assert bench.changes() == {}

    bench.write(program(name, 1, arguments))
    assert bench.update() == dict.fromkeys(ROWS, "replace")

    assert len(bench.requests("DELETE", f"{name}/agentPools")) == len(ROWS)
    assert bench.changes() == {}


def test_properties_without_an_argument_replace_no_pool() -> None:
    """A pool of the Azure CLI's with a kubelet of its own was replaced after its import."""
    assert BY_PROPERTIES.keys().isdisjoint(aks_properties.POOL.replacing(BY_ARGUMENTS))


def test_order_and_values_from_a_refresh_replace_nothing(bench: Bench) -> None:
    """A refresh of a state without outputs, as of a failed creation, makes inputs of all of them.

    The next preview takes them for taken out, the disk too, which AKS chose by itself.
    """
    name = unique("filled")
    args = {"zones": ["1", "2"], "gpu_stack": "none"}
    bench.up(program(name, 0, {"pool": (args, args)}, {}))
    state = json.loads(bench.pulumi("stack", "export"))
    for resource in state["deployment"]["resources"]:
        if resource["type"] == "azure-native:containerservice:AgentPool":
            resource["outputs"] = {}
    file = bench.folder / "state.json"
    file.write_text(json.dumps(state))
    bench.pulumi("stack", "import", "--file", str(file))
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert bench.resources()["pool"]["inputs"]["osDiskType"] == "Ephemeral"

    other_order = {**args, "zones": ["2", "1"]}
    bench.write(program(name, 0, {"pool": (other_order, other_order)}, {}))
    assert bench.update()["pool"] == "update"
    assert not bench.requests("DELETE", name)


CLUSTERS = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources
from aks_catalogue import aks_properties
from components import AksCluster, AksClusterArgs, NetworkArgs, SystemPoolArgs

groups = {{
    key: resources.ResourceGroup(key, resource_group_name=f"{name}-{{key}}", location="eastus").name
    for key in ("own", "other")
}}
opts = pulumi.ResourceOptions(protect={protect})
for place, (path, args) in enumerate({by_arguments!r}.items()):
    own = dict(location="eastus", cluster_name=f"a{{place}}") | args
    AksCluster(
        path,
        AksClusterArgs(
            resource_group_name=groups[own.pop("resource_group_name", "own")],
            network=NetworkArgs(**own.pop("network", {{}})),
            system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
            **own,
        ),
        opts,
    )
for place, (path, own) in enumerate({by_properties!r}.items()):
    inputs = dict(
        resourceGroupName=groups["own"],
        resourceName=f"p{{place}}",
        location="eastus",
        identity={{"type": "SystemAssigned"}},
        agentPoolProfiles=[dict(name="system", mode="System", vmSize="Standard_D4ds_v5", count=1)],
        **own,
    )
    fixed_opts = pulumi.ResourceOptions(
        version="3.29.0",
        delete_before_replace=True,
        replace_on_changes=aks_properties.CLUSTER.replacing([path]),
    )
    pulumi.CustomResource(
        "azure-native:containerservice:ManagedCluster",
        path,
        inputs,
        pulumi.ResourceOptions.merge(opts, fixed_opts),
    )
"""


def clusters(
    name: str,
    side: int,
    *,
    protect: bool,
    by_arguments: Sides = CLUSTERS_BY_ARGUMENTS,
    by_properties: Sides = CLUSTERS_BY_PROPERTIES,
) -> str:
    return CLUSTERS.format(
        name=name,
        protect=protect,
        by_arguments={path: sides[side] for path, sides in by_arguments.items()},
        by_properties={path: sides[side] for path, sides in by_properties.items()},
    )


@pytest.mark.nightly
def test_each_immutable_property_of_a_cluster_replaces_it_unless_it_is_protected(
    bench: Bench,
) -> None:
    """A replaced cluster takes its GPU pools along: `protect` stops it in the preview."""
    assert CLUSTERS_BY_ARGUMENTS.keys() | CLUSTERS_BY_PROPERTIES.keys() == CLUSTER_ROWS
    name = unique("fixed")
    bench.up(clusters(name, 0, protect=True))
    assert bench.changes() == {}

    bench.write(clusters(name, 1, protect=True))
    refused = bench.pulumi("preview", fails=True)
    assert set(re.findall(r'unable to replace resource ".*::(.*)"', refused)) == CLUSTER_ROWS
    bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert not bench.requests("DELETE", name)

    bench.up(clusters(name, 0, protect=False))
    bench.write(clusters(name, 1, protect=False))
    assert bench.update() == dict.fromkeys(CLUSTER_ROWS, "replace")

    assert len(bench.requests("DELETE", name)) == len(CLUSTER_ROWS)
    assert bench.changes() == {}
