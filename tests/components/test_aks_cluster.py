from dataclasses import replace
from typing import Any

import pulumi
import pytest

from aks_catalogue import aks_properties
from components import (
    AksCluster,
    AksClusterArgs,
    EntraArgs,
    ExistingAksCluster,
    ExistingAksClusterArgs,
    NetworkArgs,
    SystemPoolArgs,
)
from tests.conftest import KUBECONFIG, Deploy

SYSTEM_POOL = SystemPoolArgs(vm_size="Standard_D4ds_v5", count=2)
ARGS = AksClusterArgs(
    resource_group_name="team-group",
    location="eastus",
    cluster_name="team-cluster",
    system_pool=SYSTEM_POOL,
)

GROUP = "00000000-0000-0000-0000-000000000001"
IDENTITY = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity"
    "/userAssignedIdentities/own"
)


def inputs(deploy: Deploy, args: AksClusterArgs) -> dict[str, Any]:
    return deploy(lambda: AksCluster("cluster", args)).only("ManagedCluster").inputs


def system_pool(deploy: Deploy, pool: SystemPoolArgs) -> dict[str, Any]:
    (profile,) = inputs(deploy, replace(ARGS, system_pool=pool))["agentPoolProfiles"]
    return dict(profile)


@pytest.mark.parametrize("preview", [True, False])
def test_a_cluster_has_only_its_system_pool_inline(deploy: Deploy, preview: bool) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS), preview=preview)

    cluster = graph.only("ManagedCluster")
    assert (cluster.type, cluster.name, cluster.parent) == (
        "azure-native:containerservice:ManagedCluster",
        "cluster",
        "cluster",
    )
    assert cluster.inputs == {
        "resourceGroupName": "team-group",
        "resourceName": "team-cluster",
        "location": "eastus",
        "dnsPrefix": "team-cluster",
        "identity": {"type": "SystemAssigned"},
        "sku": {"name": "Base", "tier": "Free"},
        "networkProfile": {"networkPlugin": "azure", "networkPluginMode": "overlay"},
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {"workloadIdentity": {"enabled": False}},
        "autoUpgradeProfile": {"upgradeChannel": "none", "nodeOSUpgradeChannel": "NodeImage"},
        "agentPoolProfiles": [
            {
                "name": "system",
                "mode": "System",
                "osType": "Linux",
                "type": "VirtualMachineScaleSets",
                "vmSize": "Standard_D4ds_v5",
                "count": 2,
                "enableAutoScaling": False,
            }
        ],
        "enableRBAC": True,
        # Left out, AKS would keep what was there before.
        **aks_properties.CLUSTER.emptied_by,
    }


def test_a_cluster_sets_the_properties_of_its_arguments(deploy: Deploy) -> None:
    sent = inputs(
        deploy,
        replace(
            ARGS,
            kubernetes_version="1.35",
            dns_prefix="made-by-hand",
            sku_tier="Standard",
            authorized_ip_ranges=["20.40.60.0/24"],
            network=NetworkArgs(
                mode="subnet",
                subnet_id="/subnets/nodes",
                service_cidr="10.0.0.0/16",
                dns_service_ip="10.0.0.10",
            ),
            tags={"team": "a"},
        ),
    )

    assert sent["kubernetesVersion"] == "1.35"
    assert sent["dnsPrefix"] == "made-by-hand"
    assert sent["sku"]["tier"] == "Standard"
    assert sent["apiServerAccessProfile"] == {"authorizedIPRanges": ["20.40.60.0/24"]}
    assert sent["networkProfile"] == {
        "networkPlugin": "azure",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
    }
    assert sent["agentPoolProfiles"][0]["vnetSubnetID"] == "/subnets/nodes"
    assert sent["tags"] == {"team": "a"}


def test_a_private_cluster_has_no_public_address(deploy: Deploy) -> None:
    sent = inputs(deploy, replace(ARGS, private=True))

    assert sent["apiServerAccessProfile"] == {"enablePrivateCluster": True}


def test_an_autoscaled_system_pool_keeps_the_count_that_aks_gave_it(deploy: Deploy) -> None:
    pool = replace(SYSTEM_POOL, min_count=2, max_count=5, zones=["1", "2"])
    graph = deploy(lambda: AksCluster("cluster", replace(ARGS, system_pool=pool)))

    cluster = graph.only("ManagedCluster")
    profile = cluster.inputs["agentPoolProfiles"][0]
    assert (profile["enableAutoScaling"], profile["minCount"], profile["maxCount"]) == (True, 2, 5)
    assert profile["count"] == 2
    assert profile["availabilityZones"] == ["1", "2"]
    assert "agentPoolProfiles[0].count" in cluster.options.ignoreChanges


@pytest.mark.parametrize(("owner", "driver"), [("device-plugin", "Install"), ("none", "None")])
def test_a_system_pool_with_gpus_names_its_driver(deploy: Deploy, owner: str, driver: str) -> None:
    assert system_pool(deploy, replace(SYSTEM_POOL, gpu_stack=owner))["gpuProfile"] == {
        "driver": driver
    }


def test_a_cluster_with_headers_uses_aks_preview(deploy: Deploy) -> None:
    pool = replace(SYSTEM_POOL, custom_headers={"Name": "a value"})
    graph = deploy(lambda: AksCluster("cluster", replace(ARGS, system_pool=pool)))

    cluster = graph.only("ManagedCluster")
    assert cluster.type == "aks-preview:containerservice:ManagedCluster"
    assert cluster.inputs["customHeaders"] == {"Name": "a value"}
    assert cluster.inputs["agentPoolProfiles"][0]["vmSize"] == "Standard_D4ds_v5"
    # Both ways say the same, by the names on the wire.
    rest = {key: value for key, value in cluster.inputs.items() if key != "customHeaders"}
    assert rest == inputs(deploy, ARGS)


def test_a_cluster_receives_the_components_options(deploy: Deploy) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS, pulumi.ResourceOptions(protect=True)))

    assert graph.only("ManagedCluster").options.protect


def test_a_cluster_has_only_the_alias_of_the_other_provider(deploy: Deploy) -> None:
    """azure-native's own, over fifty of them, are most of what a preview costs."""
    aliases = deploy(lambda: AksCluster("cluster", ARGS)).only("ManagedCluster").options.aliases
    assert [alias.spec.type for alias in aliases] == ["aks-preview:containerservice:ManagedCluster"]


def test_an_existing_cluster_is_only_read(deploy: Deploy) -> None:
    args = ExistingAksClusterArgs(resource_group_name="theirs", cluster_name="prod")
    graph = deploy(lambda: ExistingAksCluster("cluster", args))

    assert [resource.type for resource in graph.registered] == ["aks-gpu:components:AksCluster"]
    (outputs,) = graph.outputs.values()
    assert (outputs["id"], outputs["clusterName"]) == ("/read/prod", "prod")
    assert outputs | _connections("prod") == outputs


def test_a_cluster_registers_its_outputs(deploy: Deploy) -> None:
    graph = deploy(lambda: AksCluster("cluster", ARGS))

    assert list(graph.outputs.values()) == [
        {
            "id": "/ids/azure-native:containerservice:ManagedCluster/team-cluster",
            "clusterName": "team-cluster",
            "resourceGroupName": "team-group",
            **_connections("team-cluster"),
        }
    ]


def _connections(name: str) -> dict[str, Any]:
    return {
        "nodeResourceGroup": f"MC_{name}",
        "fqdn": f"{name}.hcp.eastus.azmk8s.io",
        "oidcIssuerUrl": f"https://oidc/{name}/",
        "principalId": "p",
        "kubeletIdentity": {"clientId": "kc", "objectId": "ko", "resourceId": "/kubelet"},
    }


@pytest.mark.parametrize("headers", [{}, {"Name": "a value"}])
@pytest.mark.parametrize("identity", [None, IDENTITY])
def test_a_cluster_has_the_same_outputs_with_either_provider(
    deploy: Deploy, headers: dict[str, str], identity: str | None
) -> None:
    pool = replace(SYSTEM_POOL, custom_headers=headers)
    args = replace(ARGS, system_pool=pool, user_assigned_identity_id=identity)
    (outputs,) = deploy(lambda: AksCluster("cluster", args)).outputs.values()

    assert outputs | _connections("team-cluster") == outputs


def test_outputs_of_a_cluster_are_unknown_before_its_creation(deploy: Deploy) -> None:
    graph = deploy(lambda: pulumi.export("it", AksCluster("it", ARGS).principal_id), preview=True)

    assert graph.exports == {"it": None}


def test_a_cluster_uses_its_user_assigned_identity(deploy: Deploy) -> None:
    sent = inputs(deploy, replace(ARGS, user_assigned_identity_id=IDENTITY))

    assert sent["identity"] == {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}


def test_a_cluster_can_use_entra_without_local_accounts(deploy: Deploy) -> None:
    entra = EntraArgs(admin_group_object_ids=[GROUP])
    sent = inputs(deploy, replace(ARGS, entra=entra, disable_local_accounts=True))

    assert sent["aadProfile"] == {
        "managed": True,
        "adminGroupObjectIDs": [GROUP],
        "enableAzureRBAC": False,
    }
    assert sent["disableLocalAccounts"] is True
    # Left out, they would stay as they are: AKS keeps what a request does not say.
    assert inputs(deploy, replace(ARGS, entra=entra))["disableLocalAccounts"] is False


def test_host_encryption_is_sent_only_if_it_is_enabled(deploy: Deploy) -> None:
    pool = replace(SYSTEM_POOL, host_encryption=True)
    assert system_pool(deploy, pool)["enableEncryptionAtHost"] is True
    assert "enableEncryptionAtHost" not in system_pool(deploy, SYSTEM_POOL)


def test_the_kubeconfig_is_a_secret(deploy: Deploy) -> None:
    graph = deploy(lambda: pulumi.export("it", AksCluster("cluster", ARGS).kubeconfig))

    assert graph.exports == {"it": KUBECONFIG.decode()}
    assert graph.secrets == {"it"}
