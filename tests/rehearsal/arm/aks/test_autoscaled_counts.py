"""What becomes of a count in a PUT, where AKS's autoscaler has the count.

Whether AKS scales or refuses is not recorded: the cloud plays either.
"""

from typing import Any

import pytest

from tests.rehearsal.conftest import Azure, Reply

V = "?api-version=2026-08-01"
SCALED = {"enableAutoScaling": True, "minCount": 1, "maxCount": 5}
SIZE = "Standard_D2s_v3"


@pytest.fixture
def cluster(shop: Azure) -> str:
    """The path of a cluster whose system pool scales itself, and so does the pool `own`."""
    path = shop.cluster_in("eastus")
    assert put_cluster(shop, path, **SCALED).status == 200
    assert put(shop, path, vmSize=SIZE, **SCALED).status == 201
    return path


def put(shop: Azure, cluster: str, **properties: Any) -> Reply:
    reply = shop.call("PUT", f"{cluster}/agentPools/own{V}", {"properties": properties})
    settle(shop, cluster)
    return reply


def put_cluster(shop: Azure, cluster: str, **system_pool: Any) -> Reply:
    """Writes the cluster with its system pool inline."""
    profile = {"name": "system", "mode": "System", "vmSize": SIZE, **system_pool}
    body = {"location": "eastus", "properties": {"agentPoolProfiles": [profile]}}
    reply = shop.call("PUT", f"{cluster}{V}", body)
    settle(shop, cluster)
    return reply


def settle(shop: Azure, cluster: str) -> None:
    def is_done(reply: Reply) -> bool:
        properties = reply.body["properties"]
        states = [pool["provisioningState"] for pool in properties["agentPoolProfiles"]]
        return {properties["provisioningState"], *states} == {"Succeeded"}

    shop.wait(f"{cluster}{V}", is_done)


def counts(shop: Azure, cluster: str) -> dict[str, int]:
    pools = shop.call("GET", f"{cluster}/agentPools{V}").body["value"]
    return {pool["name"]: pool["properties"]["count"] for pool in pools}


def test_a_count_scales_an_autoscaled_pool_by_default(shop: Azure, cluster: str) -> None:
    assert put(shop, cluster, vmSize=SIZE, count=4, **SCALED).status == 200
    assert put_cluster(shop, cluster, count=3, **SCALED).status == 200
    assert counts(shop, cluster) == {"system": 3, "own": 4}


def test_a_cloud_can_refuse_counts_of_autoscaled_pools(shop: Azure, cluster: str) -> None:
    shop.cloud.offer({"autoscaledCounts": "refuse"})

    for refused in (
        put(shop, cluster, vmSize=SIZE, count=4, **SCALED),
        put_cluster(shop, cluster, count=3, **SCALED),
    ):
        assert (refused.status, refused.body["code"]) == (400, "BadRequest")
        assert "Cannot manually scale AgentPool" in refused.body["message"]
    assert counts(shop, cluster) == {"system": 1, "own": 1}


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({**SCALED, "count": 1}, id="the count it has"),
        pytest.param(SCALED, id="no count"),
        pytest.param({**SCALED, "maxCount": 9}, id="other limits"),
        pytest.param({"enableAutoScaling": False, "count": 4}, id="no longer autoscaled"),
    ],
)
def test_a_cloud_that_refuses_counts_accepts_other_changes(
    shop: Azure, cluster: str, properties: dict[str, Any]
) -> None:
    shop.cloud.offer({"autoscaledCounts": "refuse"})

    assert put(shop, cluster, vmSize=SIZE, **properties).status == 200
    assert put_cluster(shop, cluster, **properties).status == 200


def test_a_put_that_enables_the_autoscaler_may_change_the_count(shop: Azure, cluster: str) -> None:
    put(shop, cluster, vmSize=SIZE, enableAutoScaling=False, count=1)
    shop.cloud.offer({"autoscaledCounts": "refuse"})

    assert put(shop, cluster, vmSize=SIZE, count=2, **SCALED).status == 200
    assert counts(shop, cluster)["own"] == 2
