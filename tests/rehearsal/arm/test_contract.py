"""Resource Manager's own contract: versions, ids, errors, conflicts and long-running operations."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.conftest import ENDED

V = "?api-version=2026-08-01"
Body = Callable[..., dict[str, Any]]
NVIDIA = {"properties": {"vmSize": "Standard_NC6"}}


def test_a_request_without_api_version_is_refused(azure: Any) -> None:
    reply = azure.call("GET", "/resourceGroups")
    assert (reply.status, reply.body["error"]["code"]) == (400, "MissingApiVersionParameter")


def test_an_unknown_subscription_is_refused(azure: Any) -> None:
    reply = azure.call("GET", f"//subscriptions/{uuid.uuid4()}/resourceGroups{V}")
    assert (reply.status, reply.body["error"]["code"]) == (404, "SubscriptionNotFound")


def test_the_subscription_is_listed_with_its_tenant(azure: Any) -> None:
    [subscription] = azure.call("GET", f"//subscriptions{V}").body["value"]
    assert subscription["id"] == azure.subscription
    assert azure.call("GET", V).body == subscription
    [tenant] = azure.call("GET", f"//tenants{V}").body["value"]
    assert tenant["tenantId"] == subscription["tenantId"]


def test_an_unsupported_request_does_not_answer_404(azure: Any, cluster: str) -> None:
    """A 404 reads as if the cluster were gone, and clients take it for that."""
    for method, path in (
        ("GET", f"{cluster}/accessProfiles/clusterUser"),
        ("PATCH", f"{cluster}/agentPools/system"),
        ("GET", "/providers/Microsoft.Network/locations/eastus/usages"),
    ):
        reply = azure.call(method, path + V, None if method == "GET" else {})
        assert (reply.status, reply.body["error"]["code"]) == (501, "NotImplemented")
        assert reply.body["error"]["message"] == f"The rehearsal does not have {method} {path}."


def test_every_answer_carries_the_ids_of_its_request(azure: Any) -> None:
    sent = {"x-ms-correlation-request-id": "my-correlation"}
    first = azure.call("GET", f"/resourceGroups{V}", headers=sent)
    second = azure.call("GET", "/resourceGroups")
    assert first.headers["x-ms-correlation-request-id"] == "my-correlation"
    assert first.headers["x-ms-request-id"] != second.headers["x-ms-request-id"]


def test_ids_match_in_any_case_and_keep_their_first_spelling(azure: Any, cluster: str) -> None:
    other = cluster.upper().replace("MICROSOFT.", "microsoft.")
    first = azure.call("GET", f"{cluster}{V}").body["id"]
    reply = azure.call("GET", f"{other}{V}")
    assert reply.body["id"] == first
    body = {"location": "eastus", "tags": {"again": "yes"}}
    updated = azure.call("PUT", f"{other}{V}", body)
    assert (updated.status, updated.body["id"]) == (200, first)


def test_aks_writes_resourcegroups_in_lower_case_and_resource_manager_does_not(
    azure: Any, cluster: str
) -> None:
    """Ids came back as they were asked for, and programs that compare ids by case were green here.

    AKS answers with `/resourcegroups/` and with the cluster's type as `ManagedClusters`, in every
    PUT, GET and list, whatever the case of the request.
    """
    put = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", NVIDIA)
    azure.wait(
        f"{cluster}/agentPools/gpu{V}",
        lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
    )
    aks_id = f"{azure.subscription}{cluster}".replace("/resourceGroups/", "/resourcegroups/")
    group = cluster.partition("/providers/")[0]

    body = azure.call("GET", f"{cluster}{V}").body
    listed = azure.call("GET", f"{group}/providers/Microsoft.ContainerService/managedClusters{V}")
    for one in (body, *listed.body["value"]):
        assert one["id"] == aks_id
        assert one["type"] == "Microsoft.ContainerService/ManagedClusters"
    identity = body["properties"]["identityProfile"]["kubeletidentity"]["resourceId"]
    assert identity.startswith(f"{azure.subscription}/resourcegroups/MC_")

    pool_type = "Microsoft.ContainerService/managedClusters/agentPools"
    pools = azure.call("GET", f"{cluster}/agentPools{V}").body["value"]
    assert {pool["id"] for pool in pools} == {f"{aks_id}/agentPools/{n}" for n in ("system", "gpu")}
    assert {pool["type"] for pool in pools} == {pool_type}
    assert put.body["id"] == f"{aks_id}/agentPools/gpu"

    body = azure.call("GET", f"{group.lower()}{V}").body
    assert body["id"] == f"{azure.subscription}{group}"


def test_a_put_answers_with_the_url_of_its_operation(slow_azure: Any, held: str) -> None:
    reply = slow_azure.call("PUT", f"{held}/agentPools/gpu{V}", NVIDIA)
    assert reply.status == 201
    assert reply.body["properties"]["provisioningState"] == "Creating"
    address = reply.headers["Azure-AsyncOperation"]
    place = f"{slow_azure.cloud.url}{slow_azure.subscription}/providers/Microsoft.ContainerService/"
    assert address.startswith(f"{place}locations/eastus/operations/")
    assert int(reply.headers["Retry-After"]) > 0
    running = slow_azure.call("GET", slow_azure.below(address))
    assert running.body["status"] == "InProgress"
    assert "endTime" not in running.body
    assert "Retry-After" in running.headers
    pool = slow_azure.call("GET", f"{held}/agentPools/gpu{V}")
    assert pool.body["properties"]["provisioningState"] == "Creating"


def test_an_operation_ends_and_leaves_its_resource_ready(azure: Any, cluster: str) -> None:
    reply = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", NVIDIA)
    # Less than a second has no whole number, and the SDK takes a zero for silence.
    assert "Retry-After" not in reply.headers
    assert int(reply.headers["x-ms-retry-after-ms"]) > 0
    address = azure.below(reply.headers["Azure-AsyncOperation"])
    done = azure.wait(address, lambda reply: reply.body["status"] in ENDED)
    assert done.body["status"] == "Succeeded"
    assert done.body["name"] in address
    assert done.body["startTime"] < done.body["endTime"]
    pool = azure.call("GET", f"{cluster}/agentPools/gpu{V}")
    assert pool.body["properties"]["provisioningState"] == "Succeeded"
    again = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", NVIDIA)
    assert (again.status, again.body["properties"]["provisioningState"]) == (200, "Updating")


def test_a_deletion_answers_with_the_url_of_its_operation(slow_azure: Any, held: str) -> None:
    reply = slow_azure.call("DELETE", f"{held}{V}")
    assert reply.status == 202
    assert "Azure-AsyncOperation" in reply.headers
    assert slow_azure.call("GET", slow_azure.below(reply.headers["Location"])).status == 202
    deleting = slow_azure.call("GET", f"{held}{V}").body
    assert deleting["properties"]["provisioningState"] == "Deleting"


def test_deleting_a_cluster_deletes_its_pools(azure: Any, cluster: str) -> None:
    reply = azure.call("DELETE", f"{cluster}{V}")
    azure.wait(azure.below(reply.headers["Location"]), lambda reply: reply.status == 204)
    assert azure.call("GET", f"{cluster}{V}").status == 404
    pool = azure.call("GET", f"{cluster}/agentPools/system{V}")
    assert (pool.status, pool.body["error"]["code"]) == (404, "ResourceNotFound")
    assert azure.call("DELETE", f"{cluster}{V}").status == 204


def test_an_unknown_operation_is_not_found(azure: Any) -> None:
    place = "/providers/Microsoft.ContainerService/locations/eastus/operations"
    assert azure.call("GET", f"{place}/{uuid.uuid4()}{V}").status == 404


def test_a_cluster_needs_its_group_and_a_pool_its_cluster(
    azure: Any, group: str, cluster_body: Body
) -> None:
    below = "providers/Microsoft.ContainerService/managedClusters/lost"
    orphan = azure.call("PUT", f"/resourceGroups/nowhere/{below}{V}", cluster_body())
    assert (orphan.status, orphan.body["error"]["code"]) == (404, "ResourceGroupNotFound")
    path = f"/resourceGroups/{group}/{below}/agentPools/gpu{V}"
    for method in ("PUT", "GET", "DELETE"):
        reply = azure.call(method, path, NVIDIA if method == "PUT" else None)
        # AKS names the cluster, and says nothing of a parent.
        assert (reply.status, reply.body["error"]["code"]) == (404, "ResourceNotFound")
        assert "managedClusters/lost'" in reply.body["error"]["message"]


def test_a_pool_runs_one_operation_and_pools_run_in_parallel(slow_azure: Any, held: str) -> None:
    """The word "operation" was lost: what looks for AKS's words did not find them here."""
    assert slow_azure.call("PUT", f"{held}/agentPools/one{V}", NVIDIA).status == 201
    assert slow_azure.call("PUT", f"{held}/agentPools/two{V}", NVIDIA).status == 201
    for method, path in (("PUT", f"{held}/agentPools/one"), ("DELETE", held)):
        reply = slow_azure.call(method, f"{path}{V}", NVIDIA if method == "PUT" else None)
        assert (reply.status, reply.body["code"]) == (409, "OperationNotAllowed")
        assert "Another agentpool operation (one - Creating) is in" in reply.body["message"]


def test_a_pool_waits_for_its_cluster(slow_azure: Any, held: str) -> None:
    assert slow_azure.call("PATCH", f"{held}{V}", {"tags": {"a": "b"}}).status == 200
    reply = slow_azure.call("PUT", f"{held}/agentPools/gpu{V}", NVIDIA)
    assert (reply.status, reply.body["code"]) == (409, "OperationNotAllowed")
    name = held.rpartition("/")[2]
    assert f"Another operation ({name} - Updating) is in progress" in reply.body["message"]


def test_an_empty_segment_of_a_path_counts_for_nothing(azure: Any, cluster: str) -> None:
    """`az resource show -g G -n C --resource-type T` sends one: the rehearsal did not know it."""
    odd = cluster.replace("/managedClusters", "//managedClusters")
    assert azure.call("GET", f"{odd}{V}").body == azure.call("GET", f"{cluster}{V}").body
    assert azure.call("GET", f"//{azure.subscription}/resourcegroups{V}").status == 200


def test_a_group_that_is_being_deleted_accepts_no_resource(slow_azure: Any, held: str) -> None:
    group = "/".join(held.split("/")[:3])
    deletion = slow_azure.call("DELETE", f"{group}{V}")
    assert deletion.status == 202
    for method, path in (("PUT", f"{held}/agentPools/gpu"), ("PATCH", group), ("DELETE", held)):
        refused = slow_azure.call(method, f"{path}{V}", {})
        assert (refused.status, refused.body["error"]["code"]) == (409, "ResourceGroupBeingDeleted")
    again = slow_azure.call("DELETE", f"{group}{V}")
    assert again.status == 202


def test_deleting_a_group_deletes_its_clusters(azure: Any, group: str, cluster: str) -> None:
    deletion = azure.call("DELETE", f"/resourceGroups/{group}{V}")
    azure.wait(azure.below(deletion.headers["Location"]), lambda reply: reply.status == 200)
    assert azure.call("HEAD", f"/resourceGroups/{group}{V}").status == 404
    assert azure.call("GET", f"{cluster}{V}").body["error"]["code"] == "ResourceGroupNotFound"
    azure.call("PUT", f"/resourceGroups/{group}{V}", {"location": "eastus"})
    assert azure.call("GET", f"{cluster}{V}").body["error"]["code"] == "ResourceNotFound"


def test_an_etag_changes_with_every_write_and_guards_the_next(azure: Any, cluster: str) -> None:
    path = f"{cluster}/agentPools/system{V}"
    before = azure.call("GET", path).body["properties"]["eTag"]
    body = {"properties": {"mode": "System", "count": 2}}
    written = azure.call("PUT", path, body, headers={"If-Match": before})
    assert written.status == 200
    assert written.body["properties"]["eTag"] != before
    done = azure.wait(
        path, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded"
    )
    # AKS writes once more when the operation ends.
    assert done.body["properties"]["eTag"] != written.body["properties"]["eTag"]
    for old in (before, written.body["properties"]["eTag"]):
        stale = azure.call("PUT", path, body, headers={"If-Match": old})
        assert (stale.status, stale.body["error"]["code"]) == (412, "PreconditionFailed")
    assert azure.call("PUT", path, body, headers={"If-None-Match": "*"}).status == 412


def test_credentials_wait_for_a_control_plane(azure: Any, cluster: str) -> None:
    for action in ("listClusterUserCredential", "listClusterAdminCredential"):
        reply = azure.call("POST", f"{cluster}/{action}{V}")
        assert (reply.status, reply.body["error"]["code"]) == (501, "NotImplemented")
        assert azure.call("POST", f"{cluster}none/{action}{V}").status == 404


@pytest.mark.parametrize(
    ("path", "body", "refusal"),
    [
        ("/resourceGroups/new", {}, (400, "LocationRequired")),
        ("/resourceGroups/bad.", {"location": "eastus"}, (400, "InvalidResourceGroup")),
        ("/resourceGroups/{group}", {"location": "westus"}, (409, "InvalidResourceGroupLocation")),
    ],
)
def test_an_invalid_group_is_refused(
    azure: Any, group: str, path: str, body: dict[str, Any], refusal: tuple[int, str]
) -> None:
    reply = azure.call("PUT", path.format(group=group) + V, body)
    assert (reply.status, reply.body["error"]["code"]) == refusal
