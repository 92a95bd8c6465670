"""Encryption at the host needs a feature of the subscription.

It was green here, and on a new subscription the pool was refused.
"""

from collections.abc import Callable
from typing import Any

from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster

V = f"?api-version={API_VERSION}"
ENCRYPTED = {"vmSize": "Standard_D4ds_v5", "count": 1, "enableEncryptionAtHost": True}
INLINE = [{"name": "system", "mode": "System", **ENCRYPTED}]
# As a public log has it.
REFUSAL = {
    "code": "SubscriptionNotEnabledEncryptionAtHost",
    "details": None,
    "message": "Subscription does not enable EncryptionAtHost.",
    "subcode": "",
}


def test_pools_and_clusters_need_the_feature(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Azure]
) -> None:
    azure = azure_of(start_cloud())
    azure.cloud.offer({"features": []})
    path = azure.cluster_in("eastus")

    def pool(name: str) -> Any:
        return azure.call("PUT", f"{path}/agentPools/{name}{V}", {"properties": ENCRYPTED})

    def cluster(name: str) -> Any:
        other = f"{path.rpartition('/')[0]}/{name}"
        return azure.call("PUT", f"{other}{V}", new_cluster(agentPoolProfiles=INLINE))

    for refused in (pool("a"), cluster("b")):
        assert (refused.status, refused.body) == (400, REFUSAL)
    azure.cloud.offer({"features": ["Microsoft.Compute/EncryptionAtHost"]})
    assert pool("a").status == 201
    azure.cloud.offer({"features": []})
    # What is there goes on.
    azure.wait(
        f"{path}/agentPools/a{V}",
        lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
    )
    assert pool("a").status == 200
    azure.wait(
        f"{path}/agentPools/a{V}",
        lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
    )
    assert pool("c").status == 400
    azure.register("Microsoft.Compute", "EncryptionAtHost")
    assert pool("c").status == 201
    assert cluster("d").status == 201
