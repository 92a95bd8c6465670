"""What changes a resource, what replaces it, and what is no change: in the program and in Azure."""

from typing import Any

import pytest

from aks_catalogue import aks_properties
from aks_preview.aks_diff import aks_diff, refreshed
from aks_preview.aks_types import AGENT_POOL, MANAGED_CLUSTER, AksType
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
MANAGED = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}
# What Azure tells of it: its own defaults too, in its own words.
POOL_STATE: dict[str, Any] = POOL | {
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "typePropertiesType": "VirtualMachineScaleSets",
    "gpuProfile": {"driver": "Install"},
    "osDiskType": "Managed",
    "osSKU": "Ubuntu",
    "upgradeSettings": {"maxSurge": "10%", "drainTimeoutInMinutes": 30},
    "provisioningState": "Succeeded",
}
CLUSTER: dict[str, Any] = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "location": "East US",
    "apiServerAccessProfile": {"authorizedIPRanges": ["10.0.0.0/8", "11.0.0.0/8"]},
    "agentPoolProfiles": [
        {"name": "system", "count": 2, "enableAutoScaling": True, "nodeTaints": ["a", "b"]}
    ],
}


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in POOL.items() if name not in names}


@pytest.mark.parametrize(
    ("new", "updated", "replaced"),
    [
        # Said before and now; what replaces, in another case.
        (POOL, [], []),
        (POOL | {"vmSize": "standard_nc8AS_t4_v3"}, [], []),
        (POOL | {"resourceGroupName": "G", "resourceName": "C", "agentPoolName": "GPU"}, [], []),
        # Azure's own choice of what replaces, said only now.
        (POOL | {"osDiskType": "Managed", "type": "VirtualMachineScaleSets"}, [], []),
        (POOL | {"gpuProfile": {"driver": "Install"}}, [], []),
        # Updates.
        (POOL | {"count": 2}, ["count"], []),
        (POOL | {"nodeTaints": ["b=c:NoSchedule"]}, ["nodeTaints"], []),
        (POOL | {"nodeLabels": {"a": "B"}}, ["nodeLabels.a"], []),
        (without("nodeTaints"), ["nodeTaints"], []),
        (POOL | {"upgradeSettings": {"maxSurge": "1"}}, ["upgradeSettings"], []),
        (POOL | {"osSKU": "AzureLinux"}, ["osSKU"], []),
        (POOL | {"orchestratorVersion": "1.36"}, ["orchestratorVersion"], []),
        (POOL | {"customHeaders": {"One": "2", "Two-2": "2"}}, ["customHeaders.One"], []),
        (POOL | {"networkProfile": {"allowedHostPorts": [{}]}}, ["networkProfile"], []),
        (POOL | {"artifactStreamingProfile": {"enabled": True}}, ["artifactStreamingProfile"], []),
        # Replacements.
        (POOL | MANAGED, [], ["gpuProfile.nvidia"]),
        (POOL | {"vmSize": "Standard_NC16as_T4_v3"}, [], ["vmSize"]),
        (POOL | {"vmSize": UNKNOWN}, [], ["vmSize"]),
        (POOL | {"osDiskType": "Ephemeral"}, [], ["osDiskType"]),
        (POOL | {"osType": "Windows"}, [], ["osType"]),
        (POOL | {"gpuInstanceProfile": "MIG1g"}, [], ["gpuInstanceProfile"]),
        (POOL | {"gpuProfile": {"driver": "None"}}, [], ["gpuProfile.driver"]),
        (POOL | {"agentPoolName": "other"}, [], ["agentPoolName"]),
        (POOL | {"resourceName": "other"}, [], ["resourceName"]),
        (POOL | {"resourceGroupName": "other"}, [], ["resourceGroupName"]),
        # Headers, which are of requests, and replace where that is asked for.
        (POOL | {"customHeaders": {"ONE": "1", "two-2": "2"}}, [], []),
        (POOL | {"customHeaders": {"One": "1"}}, ['customHeaders["Two-2"]'], []),
        (without("customHeaders"), ["customHeaders.One", 'customHeaders["Two-2"]'], []),
        (POOL | {"customHeaders": UNKNOWN}, ["customHeaders"], []),
        (POOL | {"replaceOnHeaderChange": True}, [], []),
        (
            POOL | {"replaceOnHeaderChange": True, "customHeaders": {"One": "1", "Two-2": "3"}},
            [],
            ['customHeaders["Two-2"]'],
        ),
        (
            POOL | {"networkProfile": {"nodePublicIPTags": [{"tag": "a"}]}},
            [],
            ["networkProfile.nodePublicIPTags"],
        ),
    ],
)
def test_a_changed_property_of_a_pool_updates_or_replaces_it(
    new: dict[str, Any], updated: list[str], replaced: list[str]
) -> None:
    answer = aks_diff(AGENT_POOL, POOL, POOL_STATE, new)

    kinds = {path: change.kind.name for path, change in answer.detailed_diff.items()}
    assert sorted(path for path in kinds if "REPLACE" not in kinds[path]) == updated
    assert sorted(path for path in kinds if "REPLACE" in kinds[path]) == replaced
    assert answer.changes is bool(updated or replaced)
    assert bool(answer.replaces) is bool(replaced)
    assert answer.delete_before_replace


def value_of(path: str) -> Any:
    """Something at a path, as a property and as Azure's answer to it."""
    outer, _, inner = path.partition(".")
    return {outer: {inner: "it"} if inner else "it"}


@pytest.mark.parametrize(
    ("aks_type", "path"),
    [(AGENT_POOL, path) for path in (*aks_properties.POOL.when_removed, *aks_properties.POOL.fixed)]
    + [
        (MANAGED_CLUSTER, path)
        for path in (
            *aks_properties.CLUSTER.when_removed,
            *aks_properties.CLUSTER.must_stay,
            *aks_properties.CLUSTER.fixed,
        )
    ],
)
def test_removing_a_property_that_azure_keeps_replaces_nothing(
    aks_type: AksType, path: str
) -> None:
    """`private: true`, taken out, replaced a cluster with custom headers; so did a disk a pool."""
    before = POOL if aks_type is AGENT_POOL else CLUSTER
    old = {name: value for name, value in before.items() if name not in value_of(path)}

    answer = aks_diff(aks_type, old | value_of(path), old | value_of(path), old)

    table = aks_properties.POOL if aks_type is AGENT_POOL else aks_properties.CLUSTER
    assert bool(answer.replaces) is (path in table.replacing(()))


def test_the_headers_of_an_imported_pool_are_those_of_the_program() -> None:
    imported = {name: value for name, value in POOL_STATE.items() if "Headers" not in name}

    assert not aks_diff(AGENT_POOL, without("customHeaders"), imported, POOL).changes


def test_new_headers_replace_a_pool_if_replace_on_header_change_is_set() -> None:
    state, old = POOL_STATE | {"customHeaders": {}}, without("customHeaders")

    assert aks_diff(AGENT_POOL, old, state, POOL).replaces == []
    asked = POOL | {"replaceOnHeaderChange": True}
    assert aks_diff(AGENT_POOL, old, state, asked).replaces == ["customHeaders"]


def profile(**change: Any) -> dict[str, Any]:
    return CLUSTER | {"agentPoolProfiles": [CLUSTER["agentPoolProfiles"][0] | change]}


@pytest.mark.parametrize(
    ("new", "changed", "replaces"),
    [
        (CLUSTER | {"location": "eastus"}, [], []),
        (profile(vmSize="Standard_D8ds_v5"), ["agentPoolProfiles"], []),
        (CLUSTER | {"location": "westeurope"}, ["location"], ["location"]),
        (
            CLUSTER | {"apiServerAccessProfile": {"authorizedIPRanges": ["11.0.0.0/8"]}},
            ["apiServerAccessProfile"],
            [],
        ),
        (
            CLUSTER | {"apiServerAccessProfile": {"enablePrivateCluster": True}},
            ["apiServerAccessProfile"],
            ["apiServerAccessProfile"],
        ),
        (CLUSTER | {"networkProfile": {"networkPlugin": "azure"}}, ["networkProfile"], []),
        (
            CLUSTER | {"networkProfile": {"serviceCidr": "10.1.0.0/16"}},
            ["networkProfile"],
            ["networkProfile"],
        ),
    ],
)
def test_a_changed_property_of_a_cluster_updates_or_replaces_it(
    new: dict[str, Any], changed: list[str], replaces: list[str]
) -> None:
    answer = aks_diff(MANAGED_CLUSTER, CLUSTER, CLUSTER | {"customHeaders": {}}, new)

    assert answer.diffs == changed
    assert answer.replaces == replaces


@pytest.mark.parametrize(
    ("before", "now", "replaced"),
    [
        # Without it, AKS keeps the mode, and the program's device plugin would be a second one.
        (MANAGED, {}, ["gpuProfile"]),
        (MANAGED, {"gpuProfile": {"driver": "Install"}}, ["gpuProfile"]),
        (MANAGED, MANAGED, []),
        ({"gpuProfile": {"nvidia": {"managementMode": "Unmanaged"}}}, {}, []),
    ],
)
def test_a_change_of_managed_gpus_replaces_the_pool(
    before: dict[str, Any], now: dict[str, Any], replaced: list[str]
) -> None:
    """AKS keeps what a request leaves out: an update would have changed nothing."""
    answer = aks_diff(AGENT_POOL, POOL | before, POOL_STATE | before, POOL | now)
    assert answer.replaces == replaced


SPOT = "kubernetes.azure.com/scalesetpriority"
SCALED = {"count": 1, "enableAutoScaling": True, "minCount": 1, "maxCount": 9}


def inline(*pools: dict[str, Any]) -> dict[str, Any]:
    return {"agentPoolProfiles": list(pools)}


@pytest.mark.parametrize(
    ("inputs", "old", "new", "drift"),
    [
        # Azure writes otherwise than the program: that is there from the beginning.
        ({"vmSize": "standard_nc6"}, {"vmSize": "Standard_NC6"}, {}, {}),
        ({"nodeTaints": ["a", "b"]}, {"nodeTaints": ["b", "a", f"{SPOT}=spot:x"]}, {}, {}),
        ({"nodeLabels": {"a": "b"}}, {"nodeLabels": {"a": "b", SPOT: "spot"}}, {}, {}),
        ({"vnetSubnetID": "/S/x"}, {"vnetSubnetID": "/s/X"}, {}, {}),
        ({"orchestratorVersion": "1.36"}, {"orchestratorVersion": "1.36.2"}, {}, {}),
        ({"enableFIPS": False}, {}, {}, {}),
        ({"windowsProfile": {"adminPassword": "p"}}, {"windowsProfile": {}}, {}, {}),
        # What a policy, AKS and others add, where the program has nothing.
        ({"tags": {"a": "b"}}, {"tags": {"a": "b"}}, {"tags": {"a": "b", "cost": "1"}}, {}),
        ({"count": 1}, {"count": 1}, {"count": 1, "osSKU": "Ubuntu", "powerState": {}}, {}),
        ({"upgradeSettings": {"maxSurge": "1"}}, {"upgradeSettings": {"maxSurge": "1"}},
         {"upgradeSettings": {"maxSurge": "1", "drainTimeoutInMinutes": 30}}, {}),
        (inline({"name": "a"}), inline({"name": "A"}), inline({"name": "A"}, {"name": "b"}), {}),
        # The autoscaler.
        (SCALED, SCALED, SCALED | {"count": 7}, {}),
        (inline({"name": "a"} | SCALED), inline({"name": "a"} | SCALED),
         inline({"name": "a"} | SCALED | {"count": 7}), {}),
        # Drift.
        ({"count": 1}, {"count": 1}, {"count": 2}, {"count": 2}),
        ({"count": 1}, {"count": 1}, SCALED | {"count": 7}, {}),
        ({"enableFIPS": True}, {"enableFIPS": True}, {"enableFIPS": None}, {"enableFIPS": None}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "b"}}, {"tags": {"a": "B"}}, {"tags": {"a": "B"}}),
        ({"nodeLabels": {"a": "b", "c": "d"}}, {"nodeLabels": {"a": "b", "c": "d"}},
         {"nodeLabels": {"c": "d"}}, {"nodeLabels": {"c": "d"}}),
        ({"nodeTaints": ["a"]}, {"nodeTaints": ["a"]}, {"nodeTaints": ["c"]},
         {"nodeTaints": ["c"]}),
        (inline({"name": "a", "count": 1}), inline({"name": "a", "count": 1}),
         inline({"name": "a", "count": 3}), inline({"name": "a", "count": 3})),
        (inline({"name": "a"}, {"name": "b"}), inline({"name": "a"}, {"name": "b"}),
         inline({"name": "b"}), inline({"name": "b"})),
    ],
)  # fmt: skip
def test_a_refresh_changes_inputs_only_where_azures_values_have_changed(
    inputs: dict[str, Any], old: dict[str, Any], new: dict[str, Any], drift: dict[str, Any]
) -> None:
    """Policy's tags, spot's labels and the autoscaler's nodes were drift that never settled."""
    assert refreshed(inputs, old, new or old) == inputs | drift
