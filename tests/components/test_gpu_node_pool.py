from dataclasses import replace
from typing import Any

import pulumi
import pytest

from aks_catalogue.valid_pools import check_retired_headers
from components import (
    GpuNodePool,
    GpuNodePoolArgs,
    SharingArgs,
    TimeSlicingArgs,
)
from components.arguments import ArgumentsError
from tests.conftest import Deploy, Registered

ARGS = GpuNodePoolArgs(
    resource_group_name="team-group",
    cluster_name="team-cluster",
    pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3",
)

RESERVATIONS = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r"
)


def pool_of(deploy: Deploy, **changes: Any) -> Registered:
    return deploy(lambda: GpuNodePool("gpu", replace(ARGS, **changes))).only("AgentPool")


@pytest.mark.parametrize("preview", [True, False])
def test_a_pool_is_a_standalone_tainted_linux_pool_with_a_driver(
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
        "resourceGroupName": "team-group",
        "resourceName": "team-cluster",
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
        (
            {"capacity_reservation_group_id": RESERVATIONS},
            {"capacityReservationGroupID": RESERVATIONS},
        ),
        ({"host_encryption": True}, {"enableEncryptionAtHost": True}),
        ({"gpu_taint": "nvidia.com/gpu"}, {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}),
        ({"gpu_taint": "nvidia.com/gpu", "tainted": False}, {"nodeTaints": []}),
        ({"max_surge": "2"}, {"upgradeSettings": {"maxSurge": "2", "maxUnavailable": "0"}}),
        (
            {"max_surge": "0", "max_unavailable": "50%"},
            {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "50%"}},
        ),
        (
            {"max_unavailable": "1"},
            {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}},
        ),
        (
            {"max_unavailable": "0%"},
            {"upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0%"}},
        ),
        (
            {
                "drain_timeout_minutes": 60,
                "extra": {"upgradeSettings": {"undrainableNodeBehavior": "Cordon"}},
            },
            {
                "upgradeSettings": {
                    "drainTimeoutInMinutes": 60,
                    "undrainableNodeBehavior": "Cordon",
                }
            },
        ),
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
def test_a_pool_sets_the_properties_of_its_arguments(
    deploy: Deploy, changes: dict[str, Any], inputs: dict[str, Any]
) -> None:
    plain = pool_of(deploy).inputs

    assert pool_of(deploy, **changes).inputs == {**plain, **inputs}


def test_a_pool_without_taints_sends_an_empty_list(deploy: Deploy) -> None:
    assert pool_of(deploy, tainted=False).inputs["nodeTaints"] == []


def test_an_autoscaled_pool_sends_its_count_only_at_creation(deploy: Deploy) -> None:
    pool = pool_of(deploy, count=0, min_count=0, max_count=3)

    assert pool.inputs["count"] == 0
    assert (pool.inputs["minCount"], pool.inputs["maxCount"]) == (0, 3)
    assert pool.inputs["enableAutoScaling"] is True
    assert list(pool.options.ignoreChanges) == ["count"]
    assert list(pool_of(deploy).options.ignoreChanges) == []


def test_a_change_of_an_immutable_property_replaces_the_pool(deploy: Deploy) -> None:
    assert {"vmSize", "gpuProfile.driver"} <= {*pool_of(deploy).options.replaceOnChanges}


def test_a_pool_with_headers_uses_aks_preview_with_the_same_properties(deploy: Deploy) -> None:
    headers = {"UseGPUDedicatedVHD": "true", "usegen2vm": "true"}
    pool = pool_of(
        deploy,
        gpu_stack="specialized-image",
        custom_headers=headers,
        replace_on_header_change=True,
    )

    assert pool.type == "aks-preview:containerservice:AgentPool"
    assert pool.inputs == {
        **pool_of(deploy).inputs,
        "customHeaders": headers,
        "replaceOnHeaderChange": True,
    }


def test_a_pool_with_managed_gpus_is_one_of_aks_preview(deploy: Deploy) -> None:
    pool = pool_of(deploy, gpu_stack="managed")

    assert pool.type == "aks-preview:containerservice:AgentPool"
    plain = pool_of(deploy, custom_headers={}).inputs
    profile = {"driver": "Install", "nvidia": {"managementMode": "Managed"}}
    assert pool.inputs == {**plain, "gpuProfile": profile}


def test_a_pool_has_only_the_alias_of_the_other_provider(deploy: Deploy) -> None:
    """azure-native's own, over fifty of them, are most of what a preview costs."""
    aliases = pool_of(deploy).options.aliases
    assert [alias.spec.type for alias in aliases] == ["aks-preview:containerservice:AgentPool"]


def test_a_pool_has_outputs_for_the_scheduling_of_workloads(deploy: Deploy) -> None:
    graph = deploy(lambda: GpuNodePool("gpu", replace(ARGS, spot=True, taints=["a:NoExecute"])))

    (outputs,) = graph.outputs.values()
    pod = outputs.pop("pod")
    assert pod["spec"]["tolerations"] == outputs["tolerations"]
    assert pod["spec"]["nodeSelector"] == outputs["nodeSelector"]
    assert [outputs] == [
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
            "resourceName": "nvidia.com/gpu",
            "gpusPerNode": 1,
        }
    ]


A100 = "Standard_NC24ads_A100_v4"


@pytest.mark.parametrize(
    ("args", "name", "per_node"),
    [
        ({"vm_size": A100, "mig_profile": "MIG1g"}, "nvidia.com/gpu", 7),
        (
            {"vm_size": A100, "mig_profile": "MIG1g", "mig_strategy": "mixed"},
            "nvidia.com/mig-1g.10gb",
            7,
        ),
        (
            {"sharing": SharingArgs(time_slicing=TimeSlicingArgs(replicas=4))},
            "nvidia.com/gpu",
            4,
        ),
        (
            {"sharing": SharingArgs(time_slicing=TimeSlicingArgs(replicas=4, rename=True))},
            "nvidia.com/gpu.shared",
            4,
        ),
        # The GPU of a size that is not known: its number is not guessed.
        ({"vm_size": "Standard_NC8as_T4_v9"}, "nvidia.com/gpu", None),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_pool_has_an_output_with_the_resource_that_pods_request(
    deploy: Deploy, args: dict[str, Any], name: str, per_node: int | None, late: bool
) -> None:
    """Also where the size is an output of another resource."""
    if late and "vm_size" in args:
        args = {**args, "vm_size": pulumi.Output.from_input(args["vm_size"])}
    graph = deploy(lambda: GpuNodePool("gpu", replace(ARGS, **args)))

    (outputs,) = graph.outputs.values()
    assert (outputs["resourceName"], outputs.get("gpusPerNode")) == (name, per_node)
    (container,) = outputs["pod"]["spec"]["containers"]
    assert container["resources"] == {"limits": {name: "1"}}


def test_the_pod_of_a_pool_with_amds_gpus_needs_no_cuda(deploy: Deploy) -> None:
    """It was NVIDIA's vector addition, which fails there."""
    args = replace(ARGS, vm_size="Standard_ND96isr_MI300X_v5", gpu_stack="none")
    (outputs,) = deploy(lambda: GpuNodePool("gpu", args)).outputs.values()
    (container,) = outputs["pod"]["spec"]["containers"]
    assert container["image"].startswith("docker.io/rocm/")
    assert container["resources"] == {"limits": {"amd.com/gpu": "1"}}


def test_azure_linux_is_refused_on_amds_sizes(deploy: Deploy) -> None:
    args = replace(
        ARGS, vm_size="Standard_ND96isr_MI300X_v5", gpu_stack="none", os_sku="AzureLinux"
    )
    with pytest.raises(ArgumentsError, match="osSku: AKS does not support AzureLinux on sizes"):
        deploy(lambda: GpuNodePool("gpu", args))


def test_a_taint_from_an_output_must_be_a_known_one(deploy: Deploy) -> None:
    late = pulumi.Output.from_input("nvidia.com/gpu")
    [taint] = pool_of(deploy, gpu_taint=late).inputs["nodeTaints"]
    assert taint == "nvidia.com/gpu=present:NoSchedule"
    with pytest.raises(pulumi.InputPropertiesError, match="gpuTaint: must be"):
        pool_of(deploy, gpu_taint="gpu")


@pytest.mark.parametrize(
    ("set_", "path"),
    [
        ({"extra": {"maxPods": 110}}, "maxPods"),
        ({"capacity_reservation_group_id": RESERVATIONS}, "capacityReservationGroupID"),
    ],
)
def test_an_immutable_property_that_is_set_replaces_the_pool(
    deploy: Deploy, set_: dict[str, Any], path: str
) -> None:
    """Only where it is set: a refresh finds what AKS has chosen, and that replaces nothing."""
    assert path in pool_of(deploy, **set_).options.replaceOnChanges
    assert path not in pool_of(deploy).options.replaceOnChanges


def test_numbers_of_other_types_are_judged_where_racks_matter_alone(deploy: Deploy) -> None:
    """An int as `max_surge` was refused for a rule that has nothing to do with the size."""
    assert pool_of(deploy, max_surge=1).inputs["upgradeSettings"]["maxSurge"] == 1


def test_the_retired_image_is_told_beside_other_headers() -> None:
    given = {"gpuStack": "specialized-image"}
    (mistake,) = check_retired_headers({"X-A": "b"}, given)
    assert "UseGPUDedicatedVHD" in str(mistake)
