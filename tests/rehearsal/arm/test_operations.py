"""Long-running operations: what they answer, and what they say of themselves while they run."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rehearsal.arm import operations
from rehearsal.cloud import Cloud
from tests.faults import Faults
from tests.rehearsal.conftest import API_VERSION, ENDED, Azure, new_cluster

V = f"?api-version={API_VERSION}"
BODY = {"properties": {"vmSize": "Standard_NC6"}}
Script = Callable[..., None]
BOTH = {"Azure-AsyncOperation", "Location"}
FIRST = {"Azure-AsyncOperation"}

# Method, path below the cluster, body; what comes back: status, whether there is a body, its state,
# which addresses.
REQUESTS: dict[str, tuple[str, str, Any, int, str | None, set[str]]] = {
    "cluster there": ("PUT", "", new_cluster(), 200, "Updating", FIRST),
    "pool new": ("PUT", "/agentPools/gpu", BODY, 201, "Creating", FIRST),
    "pool there": ("PUT", "/agentPools/system", {"properties": {}}, 200, "Updating", FIRST),
    "pool gone": ("DELETE", "/agentPools/second", None, 202, None, BOTH),
    "cluster gone": ("DELETE", "", None, 202, None, BOTH),
    "stop": ("POST", "/stop", None, 202, None, BOTH),
}


@pytest.fixture
def script(azure: Azure) -> Iterator[Script]:
    faults = Faults(azure.cloud.home)
    yield faults.script
    faults.lift()


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_answer_with_status_state_and_operation_urls(
    slow_azure: Azure, held: str, name: str
) -> None:
    method, path, body, status, state, addresses = REQUESTS[name]
    reply = slow_azure.call(method, f"{held}{path}{V}", body)
    assert reply.status == status, reply
    assert {"Azure-AsyncOperation", "Location"} & reply.headers.keys() == addresses
    shown = reply.body["properties"]["provisioningState"] if reply.body else None
    assert shown == state


def test_the_url_of_an_operation_is_long_and_has_its_own_version(
    slow_azure: Azure, held: str
) -> None:
    """It had the request's version and nothing more: what cuts or logs addresses was not tried."""
    reply = slow_azure.call("DELETE", f"{held}{V}")
    first, last = (urlsplit(reply.headers[name]) for name in ("Azure-AsyncOperation", "Location"))
    assert first.path.split("/")[-2:-1] == ["operations"]
    assert last.path.split("/")[-2:-1] == ["operationresults"]
    assert first.path.split("/")[-1] == last.path.split("/")[-1]
    for address in (first, last):
        query = parse_qs(address.query, strict_parsing=True)
        assert list(query) == ["api-version", "t", "c", "s", "h"]
        assert query["api-version"] == ["2025-03-01"]
        assert 1500 < len(address.query) < 5000


STEPS = {
    "cluster": [
        "InProgress",
        "ProvisioningNetworkResources",
        "ProvisioningControlPlane",
        "ReconcilingDNS",
        "CreatingAgentPools",
        "CreatingAgentPools: N/3 nodes completed",
        "ReconcilingAddons",
        "Succeeded",
    ],
    "update": ["InProgress", "ProvisioningControlPlane", "ReconcilingAddons", "Succeeded"],
    "pool": ["InProgress", "CreatingAgentPool: N/2 nodes completed", "Succeeded"],
}


def test_the_status_of_an_operation_is_its_current_step(
    start_cloud: Callable[..., Cloud], azure_of: Callable[..., Azure]
) -> None:
    """It was InProgress to the end, and who waited `while InProgress` was green here."""
    azure = azure_of(start_cloud(0.1))
    azure.call("PUT", "/resourceGroups/steps?api-version=2025-04-01", {"location": "eastus"})
    path = "/resourceGroups/steps/providers/Microsoft.ContainerService/managedClusters/c"
    pools = [{"name": "system", "mode": "System", "vmSize": "Standard_D2s_v3", "count": 3}]
    body = new_cluster(agentPoolProfiles=pools)
    pool = {"properties": {**BODY["properties"], "count": 2}}
    requests = {
        "cluster": (path, body),
        "update": (path, body),
        "pool": (f"{path}/agentPools/p", pool),
    }

    for name, (at, content) in requests.items():
        made = azure.call("PUT", f"{at}{V}", content)
        statuses: list[str] = []

        def is_over(answer: Any, statuses: list[str] = statuses) -> bool:
            statuses.append(re.sub(r"\d/", "N/", answer.body["status"]))
            return answer.body["status"] in ENDED

        done = azure.wait(azure.below(made.headers["Azure-AsyncOperation"]), is_over)
        steps = list(dict.fromkeys(statuses))
        # Any may be missing on a busy machine; the order stands.
        assert steps == [step for step in STEPS[name] if step in steps]
        assert len(steps) > 2
        assert list(done.body) == ["name", "status", "startTime", "endTime"]


def test_times_have_the_format_of_azure(azure: Azure, cluster: str) -> None:
    made = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", BODY)
    address = azure.below(made.headers["Azure-AsyncOperation"])
    done = azure.wait(address, lambda reply: reply.body["status"] in ENDED).body
    for moment, text in ((0, "00"), (0.5, "00.5"), (0.25, "00.25"), (10.0, "10")):
        assert operations.timestamp(moment) == f"1970-01-01T00:00:{text}Z"
    for name in ("startTime", "endTime"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,6}[1-9])?Z", done[name])
        assert datetime.fromisoformat(done[name])


def test_a_finished_deletion_answers_204_with_its_location(
    azure: Azure, script: Script, cluster: str
) -> None:
    """202 was empty, and the 204 at the end had no address."""
    script({"method": "DELETE", "operation": "stuck", "times": 1})
    reply = azure.call("DELETE", f"{cluster}{V}")
    running = azure.call("GET", azure.below(reply.headers["Location"]))
    assert running.status == 202
    assert list(running.body) == ["startTime", "status"]
    assert running.headers["Location"]
    script()
    done = azure.wait(azure.below(reply.headers["Location"]), lambda reply: reply.status != 202)
    assert (done.status, done.body) == (204, None)
    assert done.headers["Location"].split("?")[0] == reply.headers["Location"].split("?")[0]


def test_the_deletion_of_a_group_has_another_token_each_time(
    azure: Azure, slow_azure: Azure, group: str, held: str
) -> None:
    """It was one guid for all: a client that keeps the first address was not tried."""
    first = slow_azure.call("DELETE", f"{held.partition('/providers/')[0]}?api-version=2025-04-01")
    assert "Azure-AsyncOperation" not in first.headers
    second = slow_azure.call("GET", slow_azure.below(first.headers["Location"]))
    assert (second.status, second.body) == (202, None)
    third = slow_azure.call("GET", slow_azure.below(second.headers["Location"]))
    assert len({one.headers["Location"] for one in (first, second, third)}) == 3

    begun = azure.call("DELETE", f"/resourceGroups/{group}?api-version=2025-04-01")
    ended = azure.wait(azure.below(begun.headers["Location"]), lambda reply: reply.status != 202)
    assert (ended.status, ended.body) == (200, None)
    assert "Location" not in ended.headers
    forged = f"/operationresults/bm9uZQ?api-version={API_VERSION}"
    assert azure.call("GET", forged).status == 404


def test_an_error_beside_a_status_is_no_failure(azure: Azure, script: Script, cluster: str) -> None:
    """It stood beside Failed alone; AKS shows passing errors beside steps and Succeeded too."""
    error = {"code": "NotLatestOperation", "message": "Another one has begun."}
    script({"method": "PUT", "operation": {"passing": error}})
    made = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", BODY)
    address = azure.below(made.headers["Azure-AsyncOperation"])
    assert azure.call("GET", address).body["error"] == error
    ended = azure.wait(address, lambda reply: reply.body["status"] in ENDED).body
    assert (ended["status"], ended["error"]) == ("Succeeded", error)
    _, group, _, _, _, name, *_ = cluster[1:].split("/")
    pools = azure.aks.agent_pools
    again = pools.begin_create_or_update(group, name, "gpu", {"properties": {"count": 2}})
    assert again.result()["properties"]["count"] == 2


def test_a_failed_operation_reports_its_reason(azure: Azure, script: Script, cluster: str) -> None:
    error = {"code": "QuotaExceeded", "message": "No cores are left."}
    script({"method": "PUT", "operation": error})
    made = azure.call("PUT", f"{cluster}/agentPools/gpu{V}", BODY)
    address = azure.below(made.headers["Azure-AsyncOperation"])
    ended = azure.wait(address, lambda reply: reply.body["status"] in ENDED).body
    script()
    assert list(ended) == ["name", "status", "startTime", "endTime", "error"]
    assert (ended["status"], ended["error"]) == ("Failed", error)
