"""What changes a resource, what replaces it, and what is no change: in the program and in Azure."""

from typing import Any

import pytest

from aks_preview.aks_diff import aks_diff, refreshed
from aks_preview.aks_types import AGENT_POOL, AKS_TYPES, MANAGED_CLUSTER, AksType
from provider_kit.values import UNKNOWN

POOL: dict[str, Any] = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "agentPoolName": "gpu",
    "vmSize": "Standard_NC8as_T4_v3",
    "count": 1,
    "nodeLabels": {"a": "b"},
    "nodeTaints": ["a=b:NoSchedule", "b=c:NoSchedule"],
    "customHeaders": {"One": "1", "Two-2": "2"},
}
BARE = {name: value for name, value in POOL.items() if name != "customHeaders"}
MANAGED = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}
INSTALL = {"gpuProfile": {"driver": "Install"}}
# What Azure tells of it: its own defaults too, in its own words.
POOL_STATE: dict[str, Any] = POOL | INSTALL | {
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "typePropertiesType": "VirtualMachineScaleSets",
    "osDiskType": "Managed",
    "osSKU": "Ubuntu",
    "upgradeSettings": {"maxSurge": "10%", "drainTimeoutInMinutes": 30},
    "provisioningState": "Succeeded",
}  # fmt: skip
SYSTEM = {"name": "system", "count": 2, "enableAutoScaling": True}
CLUSTER: dict[str, Any] = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "location": "East US",
    "apiServerAccessProfile": {"authorizedIPRanges": ["10.0.0.0/8", "11.0.0.0/8"]},
    "agentPoolProfiles": [SYSTEM],
}


@pytest.mark.parametrize(
    ("new", "updated", "replaced"),
    [
        # What replaces, in another case.
        ({}, [], []),
        ({"vmSize": "standard_nc8AS_t4_v3"}, [], []),
        ({"resourceGroupName": "G", "resourceName": "C", "agentPoolName": "GPU"}, [], []),
        # Azure's own choice of what replaces, said only now.
        ({"osDiskType": "Managed", "type": "VirtualMachineScaleSets"}, [], []),
        (INSTALL, [], []),
        # Updates.
        ({"count": 2}, ["count"], []),
        ({"nodeTaints": ["b=c:NoSchedule"]}, ["nodeTaints"], []),
        ({"nodeLabels": {"a": "B"}}, ["nodeLabels.a"], []),
        ({"upgradeSettings": {"maxSurge": "1"}}, ["upgradeSettings.maxSurge"], []),
        ({"osSKU": "AzureLinux"}, ["osSKU"], []),
        ({"orchestratorVersion": "1.36"}, ["orchestratorVersion"], []),
        ({"networkProfile": {"allowedHostPorts": [{}]}}, ["networkProfile.allowedHostPorts"], []),
        ({"artifactStreamingProfile": {"enabled": True}}, ["artifactStreamingProfile.enabled"], []),
        # Replacements.
        (MANAGED, [], ["gpuProfile.nvidia.managementMode"]),
        ({"vmSize": "Standard_NC16as_T4_v3"}, [], ["vmSize"]),
        ({"vmSize": UNKNOWN}, [], ["vmSize"]),
        ({"osDiskType": "Ephemeral"}, [], ["osDiskType"]),
        ({"gpuInstanceProfile": "MIG1g"}, [], ["gpuInstanceProfile"]),
        ({"gpuProfile": {"driver": "None"}}, [], ["gpuProfile.driver"]),
        ({"agentPoolName": "other"}, [], ["agentPoolName"]),
        ({"networkProfile": {"nodePublicIPTags": [{}]}}, [], ["networkProfile.nodePublicIPTags"]),
        # Headers, which are of requests, and replace where that is asked for.
        ({"customHeaders": {"two-2": "2", "ONE": "1"}}, [], []),
        ({"customHeaders": {"One": "2", "Two-2": "2"}}, ["customHeaders.One"], []),
        ({"customHeaders": {"One": "1"}}, ['customHeaders["Two-2"]'], []),
        ({"customHeaders": UNKNOWN}, ["customHeaders"], []),
        ({"replaceOnHeaderChange": True, "customHeaders": {"two-2": "2", "ONE": "1"}}, [], []),
        ({"replaceOnHeaderChange": True, "customHeaders": {"One": "1", "Two-2": "3"}}, [],
         ['customHeaders["Two-2"]']),
    ],
)  # fmt: skip
def test_a_changed_property_of_a_pool_updates_or_replaces_it(
    new: dict[str, Any], updated: list[str], replaced: list[str]
) -> None:
    """UseGpuDedicatedVHD, written UseGPUDedicatedVHD afterwards, replaced the pool."""
    answer = aks_diff(AGENT_POOL, POOL, POOL_STATE, POOL | new)

    kinds = {path: change.kind.name for path, change in answer.detailed_diff.items()}
    assert sorted(path for path in kinds if "REPLACE" not in kinds[path]) == updated
    assert sorted(path for path in kinds if "REPLACE" in kinds[path]) == replaced
    assert answer.changes is bool(updated or replaced)
    assert bool(answer.replaces) is bool(replaced)
    assert answer.delete_before_replace


@pytest.mark.parametrize(
    ("aks_type", "path"),
    [
        (aks_type, path)
        for aks_type in AKS_TYPES.values()
        for path in (
            *aks_type.known.kept,
            *aks_type.known.must_stay,
            *aks_type.known.fixed,
        )
    ],
)
def test_removing_a_property_that_azure_keeps_replaces_nothing(
    aks_type: AksType, path: str
) -> None:
    """`private: true`, taken out, replaced a cluster with custom headers; so did a disk a pool."""
    outer, _, inner = path.partition(".")
    given = {outer: {inner: "it"} if inner else "it"}
    before = POOL if aks_type is AGENT_POOL else CLUSTER
    old = {name: value for name, value in before.items() if name != outer}

    answer = aks_diff(aks_type, old | given, old | given, old)

    assert bool(answer.replaces) is (path in aks_type.known.replacing(()))


def test_headers_after_an_import_are_those_of_the_program() -> None:
    imported = {name: value for name, value in POOL_STATE.items() if name != "customHeaders"}
    assert not aks_diff(AGENT_POOL, BARE, imported, POOL).changes
    # New ones replace where that is asked for, and only there.
    state, asked = POOL_STATE | {"customHeaders": {}}, POOL | {"replaceOnHeaderChange": True}
    assert aks_diff(AGENT_POOL, BARE, state, POOL).replaces == []
    assert aks_diff(AGENT_POOL, BARE, state, asked).replaces == ["customHeaders"]


@pytest.mark.parametrize(
    ("new", "changed", "is_new"),
    [
        ({"location": "eastus"}, [], False),
        ({"agentPoolProfiles": [SYSTEM | {"vmSize": "a"}]}, ["agentPoolProfiles"], False),
        ({"location": "westeurope"}, ["location"], True),
        ({"apiServerAccessProfile": {"authorizedIPRanges": []}}, ["apiServerAccessProfile"], False),
        ({"apiServerAccessProfile": {"enablePrivateCluster": True}}, ["apiServerAccessProfile"],
         True),
        ({"networkProfile": {"networkPlugin": "azure"}}, ["networkProfile"], False),
        ({"networkProfile": {"serviceCidr": "10.1.0.0/16"}}, ["networkProfile"], True),
    ],
)  # fmt: skip
def test_a_changed_property_of_a_cluster_updates_or_replaces_it(
    new: dict[str, Any], changed: list[str], is_new: bool
) -> None:
    answer = aks_diff(MANAGED_CLUSTER, CLUSTER, CLUSTER | {"customHeaders": {}}, CLUSTER | new)

    assert (answer.diffs, answer.replaces) == (changed, changed if is_new else [])


@pytest.mark.parametrize(
    ("before", "now", "replaced"),
    [
        # Without it, AKS keeps the mode, and the program's device plugin would be a second one.
        *((MANAGED, now, ["gpuProfile"]) for now in ({}, INSTALL)),
        (MANAGED, MANAGED, []),
        ({"gpuProfile": {"nvidia": {"managementMode": "Unmanaged"}}}, {}, []),
    ],
)
def test_a_change_of_managed_gpus_replaces_the_pool(before: Any, now: Any, replaced: Any) -> None:
    """AKS keeps what a request leaves out: an update would have changed nothing."""
    answer = aks_diff(AGENT_POOL, POOL | before, POOL_STATE | before, POOL | now)
    assert answer.replaces == replaced


SPOT = "kubernetes.azure.com/scalesetpriority"
SCALED = {"count": 1, "enableAutoScaling": True, "minCount": 1, "maxCount": 9}
SURGE = {"maxSurge": "1"}


def inline(*pools: dict[str, Any]) -> dict[str, Any]:
    return {"agentPoolProfiles": [{"name": "a"} | pool for pool in pools]}


@pytest.mark.parametrize(
    ("inputs", "old", "new"),
    [
        # Azure writes otherwise than the program: that is there from the beginning.
        ({"vmSize": "standard_nc6"}, {"vmSize": "Standard_NC6"}, {}),
        ({"nodeTaints": ["a", "b"]}, {"nodeTaints": ["b", "a", f"{SPOT}=spot:x"]}, {}),
        ({"nodeLabels": {"a": "b"}}, {"nodeLabels": {"a": "b", SPOT: "spot"}}, {}),
        ({"vnetSubnetID": "/S/x"}, {"vnetSubnetID": "/s/X"}, {}),
        ({"orchestratorVersion": "1.36"}, {"orchestratorVersion": "1.36.2"}, {}),
        ({"enableFIPS": False}, {}, {"powerState": {}}),
        ({"windowsProfile": {"adminPassword": "p"}}, {"windowsProfile": {}}, {}),
        # What a policy, AKS and others add, where the program has nothing.
        ({"tags": {"a": "b"}}, {"tags": {"a": "b"}}, {"tags": {"a": "b", "cost": "1"}}),
        ({"upgradeSettings": SURGE}, {"upgradeSettings": SURGE},
         {"upgradeSettings": SURGE | {"drainTimeoutInMinutes": 30}, "osSKU": "Ubuntu"}),
        (inline({}), inline({"name": "A"}), inline({"name": "A"}, {"name": "b"})),
        # The autoscaler.
        (SCALED, SCALED, {"count": 7}),
        (inline(SCALED), inline(SCALED), inline(SCALED | {"count": 7})),
        ({"count": 1}, {"count": 1}, SCALED | {"count": 7}),
    ],
)  # fmt: skip
def test_what_azure_writes_otherwise_and_others_add_is_no_drift(
    inputs: dict[str, Any], old: dict[str, Any], new: dict[str, Any]
) -> None:
    """Policy's tags, spot's labels and the autoscaler's nodes were drift that never settled."""
    assert refreshed(inputs, old, old | new) == inputs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"count": 1, "osType": "Linux"}, {"count": 2, "osType": "Linux"}),
        ({"enableFIPS": True}, {}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "B"}}),
        ({"nodeLabels": {"a": "b", "c": "d"}}, {"nodeLabels": {"c": "d"}}),
        ({"nodeTaints": ["a"]}, {"nodeTaints": ["c"]}),
        (inline({"count": 1}, {"name": "b"}), inline({"count": 3}, {"name": "b"})),
        (inline({}, {"name": "b"}), inline({"name": "b"})),
        (SCALED, SCALED | {"maxCount": 5}),
    ],
)
def test_what_others_changed_where_the_program_has_it_is_drift(old: Any, new: Any) -> None:
    assert refreshed(old, old, new) == new


def test_an_imported_cluster_has_no_read_only_properties_of_its_pools() -> None:
    """They were inputs, and other ones after each update: it never settled."""
    pool = {"name": "system", "count": 2, "eTag": "a", "provisioningState": "Succeeded"}

    assert MANAGED_CLUSTER.inputs_of({"agentPoolProfiles": [pool]}) == {
        "agentPoolProfiles": [{"name": "system", "count": 2}]
    }
