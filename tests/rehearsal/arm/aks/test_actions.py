"""Start, stop, upgrades of images, upgrade profiles and machines, without control planes."""

from typing import Any

import pytest

from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

V = f"?api-version={API_VERSION}"
POOL = {"properties": {"vmSize": "Standard_D4s_v3"}}


def properties(azure: Azure, path: str) -> dict[str, Any]:
    body_properties: dict[str, Any] = azure.call("GET", f"{path}{V}").body["properties"]
    return body_properties


def test_a_cluster_stops_and_starts(azure: Azure, cluster: str) -> None:
    assert azure.call("POST", f"{cluster}/stop{V}").status == 202
    assert properties(azure, cluster)["provisioningState"] in ("Stopping", "Succeeded")
    wait_until_made(azure, cluster)
    stopped = properties(azure, cluster)
    assert stopped["powerState"] == {"code": "Stopped"}
    assert [pool["powerState"]["code"] for pool in stopped["agentPoolProfiles"]] == ["Stopped"]

    # A stopped cluster can be started and deleted, and nothing else.
    refused = {
        "stop": azure.call("POST", f"{cluster}/stop{V}"),
        "PUT": azure.call("PUT", f"{cluster}{V}", new_cluster()),
        "PATCH": azure.call("PATCH", f"{cluster}{V}", {"tags": {}}),
        "pool": azure.call("PUT", f"{cluster}/agentPools/gpu{V}", POOL),
        "image": azure.call("POST", f"{cluster}/agentPools/system/upgradeNodeImageVersion{V}"),
    }
    codes = {name: (reply.status, reply.body["code"]) for name, reply in refused.items()}
    assert codes == dict.fromkeys(refused, (400, "OperationNotAllowed"))
    assert "Power State(Stopped), stopping cannot be performed" in refused["stop"].body["message"]

    assert azure.call("POST", f"{cluster}/start{V}").status == 202
    wait_until_made(azure, cluster)
    started = properties(azure, cluster)
    assert started["powerState"] == {"code": "Running"}
    assert started["agentPoolProfiles"][0]["count"] == stopped["agentPoolProfiles"][0]["count"]
    assert azure.call("POST", f"{cluster}/start{V}").status == 400
    assert azure.call("PUT", f"{cluster}/agentPools/gpu{V}", POOL).status == 201


def test_a_stopped_cluster_can_be_deleted_and_uses_no_quota(shop: Azure) -> None:
    def cores() -> int:
        usages = shop.call("GET", f"/providers/Microsoft.Compute/locations/ukwest/usages{V}").body
        [profile] = [it for it in usages["value"] if it["name"]["value"] == "cores"]
        return int(profile["currentValue"])

    cluster = shop.cluster_in("ukwest")
    used = cores()
    shop.call("POST", f"{cluster}/stop{V}")
    wait_until_made(shop, cluster)
    assert (used > 0, cores()) == (True, 0)
    shop.call("POST", f"{cluster}/start{V}")
    wait_until_made(shop, cluster)
    assert cores() == used
    shop.call("POST", f"{cluster}/stop{V}")
    wait_until_made(shop, cluster)
    assert shop.call("DELETE", f"{cluster}{V}").status == 202


def test_a_busy_cluster_refuses_stop_and_node_image_upgrades(slow_azure: Azure, held: str) -> None:
    assert slow_azure.call("PUT", f"{held}/agentPools/gpu{V}", POOL).status == 201
    for path in ("/stop", "/agentPools/gpu/upgradeNodeImageVersion"):
        assert slow_azure.call("POST", f"{held}{path}{V}").status == 409


def test_a_node_image_upgrade_succeeds(azure: Azure, group: str, cluster: str) -> None:
    name = cluster.rpartition("/")[2]
    poller = azure.aks.agent_pools.begin_upgrade_node_image_version(group, name, "system")
    # At the end the SDK asks the address in `Location`, whose answer is empty.
    assert poller.result() is None
    assert poller.status() == "Succeeded"


def test_upgrade_profiles_list_the_available_versions(shop: Any) -> None:
    cluster = shop.cluster_in("eastus2")
    group, name = cluster.split("/")[2], cluster.rpartition("/")[2]
    profile = shop.aks.managed_clusters.get_upgrade_profile(group, name)
    assert profile.id.endswith("/managedClusters/cluster/upgradeprofiles/default")
    assert profile.type == "Microsoft.ContainerService/managedClusters/upgradeprofiles"
    plane = profile.properties.control_plane_profile
    assert (plane.kubernetes_version, plane.os_type) == ("1.36.5", "Linux")
    assert [one.kubernetes_version for one in plane.upgrades] == ["1.37.1"]
    assert not profile.properties.agent_pool_profiles

    pool_profile = shop.call("GET", f"{cluster}/agentPools/system/upgradeProfiles/default{V}").body
    assert pool_profile["id"].endswith("/agentPools/system/upgradeProfiles/default")
    assert (
        pool_profile["type"]
        == "Microsoft.ContainerService/managedClusters/agentPools/upgradeProfiles"
    )
    # It has its control plane's version, and goes no further.
    assert "upgrades" not in pool_profile["properties"]
    assert pool_profile["properties"]["latestNodeImageVersion"].startswith("AKSUbuntu")

    body = {"properties": {**POOL["properties"], "orchestratorVersion": "1.34.10"}}
    assert shop.call("PUT", f"{cluster}/agentPools/old{V}", body).status == 201
    older = shop.aks.agent_pools.get_upgrade_profile(group, name, "old").properties
    releases = [one.kubernetes_version for one in older.upgrades]
    assert releases == ["1.36.5", "1.36.3", "1.35.9", "1.35.7", "1.34.12"]

    usable = shop.aks.agent_pools.get_available_agent_pool_versions(group, name).properties
    defaults = [one.kubernetes_version for one in usable.agent_pool_versions if one.default]
    assert defaults == ["1.36.5"]
    assert "1.37.1" not in [one.kubernetes_version for one in usable.agent_pool_versions]


@pytest.mark.parametrize(
    "path",
    ["/upgradeProfiles/default", "/agentPools/none/upgradeProfiles/default", "/stop", "/abort"],
)
def test_actions_on_a_missing_resource_answer_404(azure: Azure, cluster: str, path: str) -> None:
    base = cluster if "none" in path else f"{cluster}none"
    method = "GET" if "Profiles" in path else "POST"
    assert azure.call(method, f"{base}{path}{V}").status == 404


def test_a_cluster_without_a_control_plane_has_no_machines(azure: Azure, cluster: str) -> None:
    assert azure.call("GET", f"{cluster}/agentPools/system/machines{V}").body == {"value": []}
