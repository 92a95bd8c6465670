"""What AKS fills in, refuses and keeps in the bodies of clusters and agent pools."""

from collections.abc import Callable
from typing import Any

import pytest

V = "?api-version=2026-08-01"
Body = Callable[..., dict[str, Any]]


def put_pool(azure: Any, cluster: str, name: str = "gpu", **properties: Any) -> Any:
    requested = {"vmSize": "Standard_NC6", **properties}
    return azure.call("PUT", f"{cluster}/agentPools/{name}{V}", {"properties": requested})


def settled(azure: Any, path: str) -> dict[str, Any]:
    def is_settled(reply: Any) -> bool:
        return bool(reply.body["properties"]["provisioningState"] == "Succeeded")

    properties: dict[str, Any] = azure.wait(f"{path}{V}", is_settled).body["properties"]
    return properties


def test_a_new_pool_has_the_defaults_of_aks(azure: Any, cluster: str) -> None:
    made = put_pool(azure, cluster, count=None, orchestratorVersion="").body["properties"]
    expected = {
        "count": 1,
        "currentOrchestratorVersion": "1.36.5",
        "enableFIPS": False,
        "gpuProfile": {"driver": "Install"},
        "kubeletDiskType": "OS",
        "maxPods": 250,
        "mode": "User",
        "orchestratorVersion": "1.36",
        "osDiskSizeGB": 128,
        "osDiskType": "Managed",
        "osSKU": "Ubuntu",
        "osType": "Linux",
        "powerState": {"code": "Running"},
        "scaleDownMode": "Delete",
        "type": "VirtualMachineScaleSets",
        "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
        "vmSize": "Standard_NC6",
    }
    assert made | expected == made
    assert made["nodeImageVersion"].startswith("AKSUbuntu-")
    assert not {"nodeLabels", "nodeTaints", "spotMaxPrice"} & set(made)


def test_a_size_without_a_gpu_has_no_gpu_profile(azure: Any, cluster: str) -> None:
    made = put_pool(azure, cluster, vmSize="Standard_D2s_v3", osDiskSizeGB=0).body["properties"]
    assert "gpuProfile" not in made
    assert made["osDiskSizeGB"] == 128


def test_requested_values_are_returned_with_the_defaults(azure: Any, cluster: str) -> None:
    made = put_pool(
        azure,
        cluster,
        gpuProfile={"driver": "None"},
        osType="linux",
        nodeTaints=["sku=gpu:NoSchedule"],
        upgradeSettings={"drainTimeoutInMinutes": 5},
    ).body["properties"]
    assert made["gpuProfile"] == {"driver": "None"}
    assert made["osType"] == "Linux"
    assert made["nodeTaints"] == ["sku=gpu:NoSchedule"]
    assert made["upgradeSettings"]["drainTimeoutInMinutes"] == 5


def test_a_spot_pool_is_marked_as_one(azure: Any, cluster: str) -> None:
    taint = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    requested: dict[str, Any] = {
        "scaleSetPriority": "Spot",
        "nodeTaints": [taint, "sku=gpu:NoSchedule"],
    }
    made = put_pool(azure, cluster, nodeLabels={"a": "b"}, **requested).body["properties"]
    assert made["nodeLabels"] == {"a": "b", "kubernetes.azure.com/scalesetpriority": "spot"}
    assert sorted(made["nodeTaints"]) == [taint, "sku=gpu:NoSchedule"]
    assert (made["spotMaxPrice"], made["scaleSetEvictionPolicy"]) == (-1, "Delete")
    # They were filled in, and AKS refuses a spot pool that has them.
    assert "upgradeSettings" not in made


def test_a_new_cluster_has_the_defaults_of_aks(azure: Any, group: str, cluster_body: Body) -> None:
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/plain"
    made = azure.call("PUT", f"{path}{V}", cluster_body())
    properties = made.body["properties"]
    expected = {
        "currentKubernetesVersion": "1.36.5",
        "enableRBAC": True,
        "kubernetesVersion": "1.36",
        "maxAgentPools": 100,
        "nodeResourceGroup": f"MC_{group}_plain_eastus",
        "powerState": {"code": "Running"},
        "servicePrincipalProfile": {"clientId": "msi"},
    }
    assert properties | expected == properties
    assert made.body["sku"] == {"name": "Base", "tier": "Free"}
    assert made.body["identity"]["type"] == "SystemAssigned"
    assert made.body["identity"]["principalId"]
    assert properties["fqdn"].startswith("test-")
    assert properties["fqdn"].endswith(".hcp.eastus.azmk8s.io")
    assert "portal" in properties["azurePortalFQDN"]
    assert properties["networkProfile"]["podCidr"] == "10.244.0.0/16"
    [pool] = properties["agentPoolProfiles"]
    assert (pool["name"], pool["provisioningState"]) == ("system", "Creating")


def test_some_outputs_of_a_cluster_appear_when_its_operation_ends(
    azure: Any, group: str, cluster_body: Body
) -> None:
    """All was there in the first answer, where programs on Azure read nothing yet.

    And the etag of that answer was good afterwards; AKS gives another one at the end.
    """
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/later"
    identity = {"type": "UserAssigned", "userAssignedIdentities": {IDENTITY: {}}}
    body = cluster_body() | {"identity": identity}
    made = azure.call("PUT", f"{path}{V}", body).body
    assert "eTag" not in made
    assert "identityProfile" not in made["properties"]
    assert set(made["identity"]["userAssignedIdentities"][IDENTITY]) == {"principalId"}
    assert made["properties"]["agentPoolProfiles"][0]["nodeLabels"] == {}
    balancer = made["properties"]["networkProfile"]["loadBalancerProfile"]
    assert "effectiveOutboundIPs" not in balancer

    done = settled(azure, path)
    shown = azure.call("GET", f"{path}{V}").body
    assert "MC_" in done["identityProfile"]["kubeletidentity"]["resourceId"]
    assert set(shown["identity"]["userAssignedIdentities"][IDENTITY]) == {"clientId", "principalId"}
    assert "nodeLabels" not in done["agentPoolProfiles"][0]
    [address] = done["networkProfile"]["loadBalancerProfile"]["effectiveOutboundIPs"]
    assert "/resourceGroups/MC_" in address["id"]

    updated = azure.call("PUT", f"{path}{V}", {"location": "eastus", "tags": {"a": "b"}}).body
    assert updated["eTag"] != shown["eTag"]
    settled(azure, path)
    assert azure.call("GET", f"{path}{V}").body["eTag"] != updated["eTag"]


def test_aks_chooses_an_offered_size_for_a_pool_without_one(shop: Any) -> None:
    """What `az aks create` sends was refused: no size, or an empty one."""
    path = shop.cluster_in("westus2")
    properties: dict[str, Any]
    for name, properties in (("none", {}), ("empty", {"vmSize": ""})):
        made = shop.call("PUT", f"{path}/agentPools/{name}{V}", {"properties": properties})
        assert (made.status, made.body["properties"]["vmSize"]) == (201, "Standard_D4ds_v5")
    shop.cloud.offer({"sizes": [{"size": "Standard_D4ds_v5", "is": "restricted"}]})
    made = shop.call("PUT", f"{path}/agentPools/other{V}", {"properties": {}})
    assert made.body["properties"]["vmSize"] == "Standard_D8ds_v5"


def test_a_pool_with_the_gpu_image_header_has_the_gpu_image(azure: Any, cluster: str) -> None:
    """No answer showed the specialized image; the name of the node image does on Azure."""
    azure.register_specialized_image()
    path, body = f"{cluster}/agentPools/gpu{V}", {"properties": {"vmSize": "Standard_NC6"}}
    made = azure.call("PUT", path, body, headers={"UseGPUDedicatedVHD": "true"})
    assert "gpucontainerd" in made.body["properties"]["nodeImageVersion"]
    plain = put_pool(azure, cluster, "plain").body["properties"]["nodeImageVersion"]
    assert "gpucontainerd" not in plain


def test_entra_and_oidc_issuer_settings_are_filled_in_and_kept(
    azure: Any, group: str, cluster_body: Body
) -> None:
    """The issuer had no address, so that a federated credential could not be made with it."""
    asked = {
        "aadProfile": {"managed": True, "enableAzureRBAC": True},
        "disableLocalAccounts": True,
        "oidcIssuerProfile": {"enabled": True},
    }
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/issuing"
    made = azure.call("PUT", f"{path}{V}", cluster_body(**asked)).body["properties"]
    assert made["oidcIssuerProfile"]["issuerURL"].startswith(
        "https://eastus.oic.prod-aks.azure.com/"
    )
    assert made["aadProfile"]["tenantID"] == made["oidcIssuerProfile"]["issuerURL"].split("/")[3]
    settled(azure, path)

    for update in ({}, {"oidcIssuerProfile": {"enabled": True}}):
        azure.call("PUT", f"{path}{V}", cluster_body(**update))
        kept = settled(azure, path)
        assert {name: kept[name] for name in asked} == {name: made[name] for name in asked}


def test_an_overlay_network_has_room_for_more_pods(
    azure: Any, group: str, cluster_body: Body
) -> None:
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/overlay"
    network = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
    made = azure.call("PUT", f"{path}{V}", cluster_body(networkProfile=network)).body["properties"]
    assert made["networkProfile"]["serviceCidr"] == "10.0.0.0/16"
    assert made["agentPoolProfiles"][0]["maxPods"] == 250


def test_pools_are_equal_as_inline_and_as_standalone_resources(azure: Any, cluster: str) -> None:
    inline = azure.call("GET", f"{cluster}/agentPools/system{V}")
    assert inline.body["properties"]["mode"] == "System"
    put_pool(azure, cluster)
    profiles = azure.call("GET", f"{cluster}{V}").body["properties"]["agentPoolProfiles"]
    assert [(pool["name"], pool["vmSize"]) for pool in profiles] == [
        ("system", "Standard_D2s_v3"),
        ("gpu", "Standard_NC6"),
    ]


def test_a_put_of_a_cluster_updates_its_pools_and_adds_none(
    azure: Any, cluster: str, cluster_body: Body
) -> None:
    put_pool(azure, cluster)
    settled(azure, f"{cluster}/agentPools/gpu")
    before = settled(azure, cluster)
    identity = azure.call("GET", f"{cluster}{V}").body["identity"]
    body = cluster_body()
    body["properties"]["agentPoolProfiles"][0]["count"] = 2
    updated = azure.call("PUT", f"{cluster}{V}", body)
    assert (updated.status, updated.body["identity"]) == (200, identity)
    profiles = {pool["name"]: pool for pool in updated.body["properties"]["agentPoolProfiles"]}
    assert (profiles["system"]["count"], profiles["system"]["provisioningState"]) == (2, "Scaling")
    assert profiles["gpu"]["provisioningState"] == "Succeeded"
    after = settled(azure, cluster)
    kept = ("fqdn", "resourceUID", "identityProfile", "networkProfile")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}

    body["properties"]["agentPoolProfiles"].append({"name": "new", "vmSize": "Standard_NC6"})
    refused = azure.call("PUT", f"{cluster}{V}", body)
    assert (refused.status, refused.body["code"]) == (400, "BadRequest")
    assert "A new agent pool was introduced" in refused.body["message"]


def test_a_put_keeps_properties_that_it_leaves_out(azure: Any, cluster: str) -> None:
    """The server took away labels, taints, tags and the autoscaler. AKS keeps them.

    So a program was green here whose removed tags stay on Azure.
    """
    properties: dict[str, Any] = {
        "count": 3,
        "enableAutoScaling": True,
        "gpuProfile": {"driver": "None"},
        "maxCount": 5,
        "minCount": 2,
        "nodeLabels": {"a": "b"},
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "scaleDownMode": "Deallocate",
        "tags": {"c": "d"},
        "upgradeSettings": {"maxSurge": "33%", "maxUnavailable": "0"},
        "vmSize": "Standard_NC6",
    }
    put_pool(azure, cluster, **properties)
    path = f"{cluster}/agentPools/gpu"
    settled(azure, path)
    after = azure.call("PUT", f"{path}{V}", {"properties": {}}).body["properties"]
    assert after | properties == after
    settled(azure, path)

    emptied: dict[str, Any] = {"nodeLabels": {}, "nodeTaints": [], "tags": {}}
    off = {**emptied, "enableAutoScaling": False}
    cleared = azure.call("PUT", f"{path}{V}", {"properties": off}).body["properties"]
    assert not {*emptied, "minCount", "maxCount"} & set(cleared)


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"vmSize": "Standard_NC12"}, "properties.vmSize"),
        ({"gpuInstanceProfile": "MIG1g"}, "properties.gpuInstanceProfile"),
        ({"gpuProfile": {"driver": "None"}}, "properties.gpuProfile.driver"),
        ({"maxPods": 30}, "properties.maxPods"),
        ({"scaleSetPriority": "Spot"}, "properties.scaleSetPriority"),
    ],
)
def test_a_change_of_an_immutable_property_of_a_pool_is_refused(
    azure: Any, cluster: str, change: dict[str, Any], target: str
) -> None:
    put_pool(azure, cluster)
    settled(azure, f"{cluster}/agentPools/gpu")
    reply = put_pool(azure, cluster, **change)
    assert (reply.status, reply.body["code"]) == (400, "PropertyChangeNotAllowed")
    assert reply.body["target"] == target
    assert reply.body["message"] == f"Changing property '{target}' is not allowed."
    same = put_pool(azure, cluster, vmSize="standard_nc6", scaleSetPriority="Regular")
    assert same.status == 200


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"location": "westus"}, (409, "InvalidResourceLocation")),
        ({"location": None}, (400, "LocationRequired")),
        ({"dnsPrefix": "other"}, (400, "PropertyChangeNotAllowed")),
        ({"kubernetesVersion": "1.10"}, (400, "K8sVersionNotSupported")),
        ({"vmSize": "Standard_D4s_v3"}, (400, "PropertyChangeNotAllowed")),
    ],
)
def test_a_change_of_an_immutable_property_of_a_cluster_is_refused(
    azure: Any, cluster: str, cluster_body: Body, change: dict[str, Any], refusal: tuple[int, str]
) -> None:
    body = cluster_body()
    for name, value in change.items():
        if name == "location":
            body["location"] = value
        elif name == "vmSize":
            body["properties"]["agentPoolProfiles"][0]["vmSize"] = value
        else:
            body["properties"][name] = value
    reply = azure.call("PUT", f"{cluster}{V}", body)
    error = reply.body.get("error", reply.body)
    assert (reply.status, error["code"]) == refusal


def test_an_autoscaled_pool_starts_at_its_minimum(azure: Any, cluster: str) -> None:
    limits: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 4}
    assert put_pool(azure, cluster, **limits).body["properties"]["count"] == 0


def test_the_last_system_pool_cannot_be_deleted(
    azure: Any, cluster: str, cluster_body: Body
) -> None:
    user = [{"name": "user", "vmSize": "Standard_NC6", "mode": "User"}]
    body = cluster_body(agentPoolProfiles=user)
    refused = azure.call("PUT", f"{cluster}2{V}", body)
    assert (refused.status, refused.body["code"]) == (400, "MustDefineAtLeastOneSystemPool")
    demoted = put_pool(azure, cluster, "system", vmSize="Standard_D2s_v3", mode="User")
    assert (demoted.status, demoted.body["code"]) == (400, "MustDefineAtLeastOneSystemPool")
    last = azure.call("DELETE", f"{cluster}/agentPools/system{V}")
    assert (last.status, last.body["code"]) == (400, "OperationNotAllowed")
    put_pool(azure, cluster, "other", mode="System")
    settled(azure, f"{cluster}/agentPools/other")
    assert azure.call("DELETE", f"{cluster}/agentPools/system{V}").status == 202
    assert azure.call("DELETE", f"{cluster}/agentPools/other{V}").status == 400


def test_a_system_pool_that_is_being_deleted_is_not_counted(slow_azure: Any, held: str) -> None:
    assert slow_azure.call("DELETE", f"{held}/agentPools/system{V}").status == 202
    last = slow_azure.call("DELETE", f"{held}/agentPools/second{V}")
    assert (last.status, last.body["subcode"]) == (400, "LastSystemAgentPool")
    demoted = put_pool(slow_azure, held, "second", vmSize=None, mode="User")
    assert (demoted.status, demoted.body["code"]) == (400, "MustDefineAtLeastOneSystemPool")


@pytest.mark.parametrize(
    ("version", "is_refused"),
    [("2026-08-01", True), ("2023-11-01", False), ("2026-08-02-preview", False)],
)
def test_an_unknown_field_is_refused(
    azure: Any, cluster: str, version: str, is_refused: bool
) -> None:
    body = {"properties": {"vmSize": "Standard_NC6", "useGPUDedicatedVHD": True}}
    reply = azure.call("PUT", f"{cluster}/agentPools/gpu?api-version={version}", body)
    assert (reply.status == 400) is is_refused
    if is_refused:
        assert reply.body["code"] == "UnmarshalError"
        assert 'unknown field "useGPUDedicatedVHD"' in reply.body["message"]


IDENTITY = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/of-users/one"


def test_user_assigned_identities_are_a_map(azure: Any, group: str, cluster_body: Body) -> None:
    """The server took a list as well, which is what azure-native's programs have.

    So nobody saw that the offline plug-in left out the turning of that list into a map.
    """
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/own"
    identity: dict[str, Any] = {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}
    refused = azure.call("PUT", f"{path}{V}", cluster_body() | {"identity": identity})
    assert (refused.status, refused.body["error"]["code"]) == (400, "InvalidRequestContent")

    identity["userAssignedIdentities"] = {IDENTITY: {}}
    made = azure.call("PUT", f"{path}{V}", cluster_body() | {"identity": identity})
    assert made.status == 201
    assert list(made.body["identity"]["userAssignedIdentities"]) == [IDENTITY]


def test_a_patch_of_a_cluster_accepts_only_tags(azure: Any, cluster: str) -> None:
    """The server let other properties pass and forgot them."""
    tagged = azure.call("PATCH", f"{cluster}{V}", {"tags": {"a": "b"}})
    assert (tagged.status, tagged.body["tags"]) == (200, {"a": "b"})
    settled(azure, cluster)

    refused = azure.call("PATCH", f"{cluster}{V}", {"identity": {"type": "SystemAssigned"}})
    assert (refused.status, refused.body["code"]) == (400, "UnmarshalError")
