"""Start and stop of clusters, without control planes."""

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


def test_a_busy_cluster_refuses_stop(slow_azure: Azure, held: str) -> None:
    assert slow_azure.call("PUT", f"{held}/agentPools/gpu{V}", POOL).status == 201
    assert slow_azure.call("POST", f"{held}/stop{V}").status == 409


def test_a_missing_cluster_cannot_be_stopped(azure: Azure, cluster: str) -> None:
    assert azure.call("POST", f"{cluster}none/stop{V}").status == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/abort"),
        ("POST", "/agentPools/system/upgradeNodeImageVersion"),
        ("GET", "/agentPools/system/machines"),
        ("GET", "/upgradeProfiles/default"),
    ],
)
def test_what_is_not_rehearsed_of_a_cluster_is_named(
    azure: Azure, cluster: str, method: str, path: str
) -> None:
    reply = azure.call(method, f"{cluster}{path}{V}")
    assert (reply.status, reply.body["error"]["code"]) == (501, "NotImplemented")
    assert path in reply.body["error"]["message"]
