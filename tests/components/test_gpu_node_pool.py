from dataclasses import replace
from typing import Any

import pytest

from catalogue import kept
from components import GpuNodePool, GpuNodePoolArgs
from tests.conftest import Deploy, Registered

ARGS = GpuNodePoolArgs(
    resource_group_name="myResourceGroup",
    cluster_name="myAKSCluster",
    pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3",
)


def pool_of(deploy: Deploy, **changes: Any) -> Registered:
    return deploy(lambda: GpuNodePool("gpu", replace(ARGS, **changes))).only("AgentPool")


@pytest.mark.parametrize("preview", [True, False])
def test_is_a_tainted_linux_pool_of_its_own_with_the_driver_named(
    deploy: Deploy, preview: bool
) -> None:
    graph = deploy(lambda: GpuNodePool("gpu", ARGS), preview=preview)

    pool = graph.only("AgentPool")
    assert (pool.type, pool.name, pool.parent) == (
        "azure-native:containerservice:AgentPool",
        "gpu",
        "gpu",
    )
    assert pool.inputs == {
        "resourceGroupName": "myResourceGroup",
        "resourceName": "myAKSCluster",
        "agentPoolName": "gpu",
        "mode": "User",
        "osType": "Linux",
        "type": "VirtualMachineScaleSets",
        "vmSize": "Standard_NC8as_T4_v3",
        "count": 1,
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "gpuProfile": {"driver": "Install"},
        # Left out, AKS would keep what was there before.
        "enableAutoScaling": False,
        "nodeLabels": {},
        "tags": {},
    }


@pytest.mark.parametrize(
    ("changes", "inputs"),
    [
        ({"gpu_stack": "none"}, {"gpuProfile": {"driver": "None"}}),
        ({"gpu_stack": "specialized-image"}, {"gpuProfile": {"driver": "Install"}}),
        ({"zones": ["3", "1"]}, {"availabilityZones": ["1", "3"]}),
        (
            {"vm_size": "Standard_NC24ads_A100_v4", "mig_profile": "MIG1g"},
            {"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"},
        ),
        ({"max_surge": "2"}, {"upgradeSettings": {"maxSurge": "2"}}),
        ({"os_sku": "AzureLinux"}, {"osSKU": "AzureLinux"}),
        (
            {"os_disk_size_gb": 256, "os_disk_type": "Ephemeral"},
            {"osDiskSizeGB": 256, "osDiskType": "Ephemeral"},
        ),
        ({"subnet_id": "/subnets/nodes"}, {"vnetSubnetID": "/subnets/nodes"}),
        ({"tags": {"team": "a"}}, {"tags": {"team": "a"}}),
        ({"labels": {"a": "b"}}, {"nodeLabels": {"a": "b"}}),
        (
            {"taints": ["a=b:NoExecute", "sku=gpu:NoSchedule"]},
            {"nodeTaints": ["sku=gpu:NoSchedule", "a=b:NoExecute"]},
        ),
        (
            {"spot": True, "spot_max_price": 0.5},
            {
                "scaleSetPriority": "Spot",
                "scaleSetEvictionPolicy": "Delete",
                "spotMaxPrice": 0.5,
                "nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"},
                "nodeTaints": [
                    "sku=gpu:NoSchedule",
                    "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
                ],
            },
        ),
    ],
)
def test_says_what_it_was_told(
    deploy: Deploy, changes: dict[str, Any], inputs: dict[str, Any]
) -> None:
    plain = pool_of(deploy).inputs

    assert pool_of(deploy, **changes).inputs == {**plain, **inputs}


def test_without_taints_says_none(deploy: Deploy) -> None:
    assert pool_of(deploy, tainted=False).inputs["nodeTaints"] == []


def test_autoscaled_sends_the_count_at_first_and_then_leaves_it_to_aks(deploy: Deploy) -> None:
    pool = pool_of(deploy, count=0, min_count=0, max_count=3)

    assert pool.inputs["count"] == 0
    assert (pool.inputs["minCount"], pool.inputs["maxCount"]) == (0, 3)
    assert pool.inputs["enableAutoScaling"] is True
    assert list(pool.options.ignoreChanges) == ["count"]
    assert list(pool_of(deploy).options.ignoreChanges) == []


def test_what_aks_cannot_change_replaces_the_pool(deploy: Deploy) -> None:
    assert {"vmSize", "gpuProfile.driver"} <= {*pool_of(deploy).options.replaceOnChanges}


def test_headers_go_through_aks_preview_with_the_same_properties(deploy: Deploy) -> None:
    headers = {"UseGPUDedicatedVHD": "true", "usegen2vm": "true"}
    pool = pool_of(
        deploy,
        gpu_stack="specialized-image",
        custom_headers=headers,
        replace_on_header_change=True,
    )

    assert pool.type == "aks-preview:containerservice:AgentPool"
    # aks-preview has the state, and sends as nothing what is taken out.
    plain = pool_of(deploy).inputs
    assert pool.inputs == {
        **{name: value for name, value in plain.items() if value or name not in kept.EMPTY_POOL},
        "customHeaders": headers,
        "replaceOnHeaderChange": True,
    }


def test_has_no_alias_but_the_other_providers(deploy: Deploy) -> None:
    """azure-native's own, over fifty of them, are most of what a preview costs."""
    aliases = pool_of(deploy).options.aliases
    assert [alias.spec.type for alias in aliases] == ["aks-preview:containerservice:AgentPool"]


def test_tells_what_a_workload_needs_to_land_on_it(deploy: Deploy) -> None:
    graph = deploy(lambda: GpuNodePool("gpu", replace(ARGS, spot=True, taints=["a:NoExecute"])))

    assert list(graph.outputs.values()) == [
        {
            "id": "/ids/azure-native:containerservice:AgentPool/gpu",
            "poolName": "gpu",
            "nodeTaints": [
                "sku=gpu:NoSchedule",
                "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
                "a:NoExecute",
            ],
            "tolerations": [
                {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
                {
                    "key": "kubernetes.azure.com/scalesetpriority",
                    "operator": "Equal",
                    "value": "spot",
                    "effect": "NoSchedule",
                },
                {"key": "a", "operator": "Exists", "effect": "NoExecute"},
            ],
            "nodeSelector": {"kubernetes.azure.com/agentpool": "gpu"},
        }
    ]
