"""The Azure SDK for Python, as it is, against the rehearsal: create, poll, list, change, delete."""

from collections.abc import Callable
from typing import Any

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.core.pipeline.transport import RequestsTransport

from tests.faults import Faults

pytestmark = pytest.mark.long

Body = Callable[..., dict[str, Any]]


def test_a_resource_group_from_creation_to_deletion(azure: Any) -> None:
    groups = azure.resources.resource_groups
    made = groups.create_or_update("sdk-group", {"location": "East US", "tags": {"a": "1"}})
    assert (made.name, made.location, made.tags) == ("sdk-group", "eastus", {"a": "1"})
    assert made.properties.provisioning_state == "Succeeded"
    assert groups.check_existence("sdk-group")
    assert groups.update("sdk-group", {"tags": {"b": "2"}}).tags == {"b": "2"}
    assert "sdk-group" in [group.name for group in groups.list()]
    groups.begin_delete("sdk-group").result()
    assert not groups.check_existence("sdk-group")
    with pytest.raises(ResourceNotFoundError, match="ResourceGroupNotFound"):
        groups.get("sdk-group")


def test_a_cluster_from_creation_to_deletion(azure: Any, group: str, cluster_body: Body) -> None:
    clusters = azure.aks.managed_clusters
    poller = clusters.begin_create_or_update(group, "sdk", cluster_body())
    assert poller.result().properties.provisioning_state == "Succeeded"
    assert [cluster.name for cluster in clusters.list_by_resource_group(group)] == ["sdk"]
    assert "sdk" in [cluster.name for cluster in clusters.list()]
    tagged = clusters.begin_update_tags(group, "sdk", {"tags": {"cost": "low"}}).result()
    assert tagged.tags == {"cost": "low"}
    assert tagged.properties.dns_prefix == "test"
    clusters.begin_delete(group, "sdk").result()
    with pytest.raises(ResourceNotFoundError, match="ResourceNotFound"):
        clusters.get(group, "sdk")


def test_a_pool_from_creation_to_deletion(azure: Any, group: str, cluster: str) -> None:
    pools, name = azure.aks.agent_pools, cluster.rpartition("/")[2]
    body = {"properties": {"vmSize": "Standard_NC6", "count": 1}}
    poller = pools.begin_create_or_update(group, name, "gpu", body)
    assert poller.result().properties.provisioning_state == "Succeeded"
    assert [pool.name for pool in pools.list(group, name)] == ["system", "gpu"]
    body["properties"]["count"] = 3
    assert pools.begin_create_or_update(group, name, "gpu", body).result().properties.count == 3
    pools.begin_delete(group, name, "gpu").result()
    assert [pool.name for pool in pools.list(group, name)] == ["system"]
    pools.begin_delete(group, name, "gpu").result()


def test_a_custom_header_reaches_the_put_and_not_the_polls(
    azure: Any, group: str, cluster: str
) -> None:
    name = cluster.rpartition("/")[2]
    azure.register_specialized_image()
    azure.aks.agent_pools.begin_create_or_update(
        group,
        name,
        "gpu",
        {"properties": {"vmSize": "Standard_NC6s_v2"}},
        headers={"UseGPUDedicatedVHD": "true", "usegen2vm": "true"},
    ).result()
    put, *others = azure.requests(f"{name}/agentPools/gpu")
    assert put["method"] == "PUT"
    assert (put["headers"]["UseGPUDedicatedVHD"], put["headers"]["usegen2vm"]) == ("true", "true")
    polls = [line for line in azure.requests("/operations/") if "agentPool" not in line["path"]]
    assert others
    assert polls
    assert not [line for line in others + polls if "UseGPUDedicatedVHD" in line["headers"]]


def test_the_sdk_reads_both_shapes_of_error(azure: Any, group: str, cluster: str) -> None:
    name = cluster.rpartition("/")[2]
    with pytest.raises(ResourceNotFoundError) as nested:
        azure.aks.managed_clusters.get("nowhere", "none")
    assert nested.value.error
    assert nested.value.error.code == "ResourceGroupNotFound"
    change = {"properties": {"vmSize": "Standard_NC6", "mode": "System"}}
    with pytest.raises(HttpResponseError, match="PropertyChangeNotAllowed"):
        azure.aks.agent_pools.begin_create_or_update(group, name, "system", change)


def test_a_running_operation_is_visible_and_refuses_another(slow_azure: Any, held: str) -> None:
    group, name = held.split("/")[2], held.rpartition("/")[2]
    pools = slow_azure.aks.agent_pools
    body = {"properties": {"vmSize": "Standard_NC6"}}
    poller = pools.begin_create_or_update(group, name, "gpu", body, polling_interval=0)
    assert not poller.done()
    assert pools.get(group, name, "gpu").properties.provisioning_state == "Creating"
    with pytest.raises(ResourceExistsError, match="OperationNotAllowed"):
        pools.begin_delete(group, name, "gpu", polling=False)


def test_a_wrong_secret_is_reported(azure: Any) -> None:
    credential = azure.credential(secret="wrong")
    with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
        credential.get_token(f"{azure.cloud.url}/.default")


def test_the_sdk_polls_every_thirty_seconds_without_a_header(
    start_cloud: Callable[..., Any],
    azure_of: Callable[..., Any],
    cluster_body: Body,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """AKS sends no `Retry-After`; the SDK then asks every thirty seconds, and ends all the same."""
    azure = azure_of(start_cloud())
    azure.resources.resource_groups.create_or_update("patient", {"location": "eastus"})
    clusters, faults = azure.aks.managed_clusters, Faults(azure.cloud.home)
    silent = {"path": ".", "without": ["Retry-After", "x-ms-retry-after-ms"]}
    # In progress until the SDK has paused once.
    faults.script({**silent, "method": "PUT", "operation": "stuck"}, silent)
    pauses: list[float] = []

    def pause(_: RequestsTransport, seconds: float) -> None:
        pauses.append(seconds)
        faults.script(silent)

    monkeypatch.setattr(RequestsTransport, "sleep", pause)
    poller = clusters.begin_create_or_update("patient", "late", cluster_body())
    assert poller.result().properties.provisioning_state == "Succeeded"
    assert set(pauses) == {30}
