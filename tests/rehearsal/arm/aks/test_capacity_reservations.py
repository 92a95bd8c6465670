"""Node pools that take their machines from a capacity reservation group."""

from collections.abc import Callable
from typing import Any

from rehearsal import cloud
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

V = f"?api-version={API_VERSION}"
SIZE = "Standard_NC8as_T4_v3"
IDENTITY = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
)


def test_a_capacity_reservation_needs_an_identity_and_machines_in_the_region(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Azure]
) -> None:
    """Only preview versions of the API give a pool another group, or none."""
    azure = azure_of(start_cloud())
    path = azure.cluster_in("eastus")
    base = path.partition("/providers/")[0]
    group = f"{base}/providers/Microsoft.Compute/capacityReservationGroups/r"
    compute = "?api-version=2025-04-01"
    identifier = f"{azure.subscription}{group}"

    def pool(name: str, cluster: str = path, **more: Any) -> Any:
        properties = {"vmSize": SIZE, "count": 0, "capacityReservationGroupID": identifier, **more}
        return azure.call("PUT", f"{cluster}/agentPools/{name}{V}", {"properties": properties})

    assert "user-assigned managed identity" in pool("a").body["message"]

    cluster = f"{path.rpartition('/')[0]}/identified"
    identity = {"type": "UserAssigned", "userAssignedIdentities": {IDENTITY: {}}}
    azure.call("PUT", f"{cluster}{V}", new_cluster() | {"identity": identity})
    wait_until_made(azure, cluster)
    assert "does not exist in location eastus" in pool("a", cluster).body["message"]
    assert azure.call("GET", f"{group}{compute}").status == 404
    azure.call("PUT", f"{group}west{compute}", {"location": "westus2"})
    refused = pool("a", cluster, capacityReservationGroupID=f"{identifier}west")
    assert "does not exist in location eastus" in refused.body["message"]
    azure.call("PUT", f"{group}{compute}", {"location": "East US"})
    # AKS adds a pool with an empty group, and does not associate it.
    made = pool("empty", cluster)
    assert (made.status, "capacityReservationGroupID" in made.body["properties"]) == (201, False)
    reservation = {"location": "eastus", "sku": {"name": SIZE, "capacity": 2}}
    azure.call("PUT", f"{group}/capacityReservations/t4{compute}", reservation)
    made = pool("full", cluster)
    assert made.body["properties"]["capacityReservationGroupID"] == identifier
    wait_until_made(azure, f"{cluster}/agentPools/full")
    other = pool("full", cluster, capacityReservationGroupID=f"{identifier}2")
    assert other.body["code"] == "PropertyChangeNotAllowed"

    # The next start removed groups and reservations as rows of an unknown type.
    shown = azure.call("GET", f"{group}{compute}").body
    assert cloud.stop(azure.cloud.home)
    start_cloud()
    assert azure.call("GET", f"{group}{compute}").body == shown
    assert [item["id"].rpartition("/")[2] for item in shown["properties"]["capacityReservations"]]
