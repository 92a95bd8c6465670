"""The fault script: what a client sees when the rehearsal is told to go wrong."""

import http.client
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehearsal.arm.faults import FaultScript
from rehearsal.control_planes.desired_state import NodeFault
from tests.faults import Faults
from tests.rehearsal.conftest import API_VERSION, ENDED, Azure

BODY = {"properties": {"vmSize": "Standard_NC8as_T4_v3"}}
ERROR = {"code": "QuotaExceeded", "message": "No cores are left."}

Script = Callable[..., None]


@pytest.fixture
def pool(cluster: str) -> str:
    """The path of a pool that is not there yet."""
    return f"{cluster}/agentPools/gpu?api-version={API_VERSION}"


@pytest.fixture
def script(azure: Azure) -> Iterator[Script]:
    faults = Faults(azure.cloud.home)
    yield faults.script
    faults.lift()


def state(azure: Azure, pool: str) -> str:
    body = azure.call("GET", pool).body
    return str(body["properties"]["provisioningState"])


def test_a_fault_replaces_an_answer_as_often_as_scripted(
    azure: Azure, script: Script, pool: str
) -> None:
    script(
        {
            "method": "PUT",
            "path": "agentpools/gpu$",
            "times": 2,
            "status": 429,
            "headers": {"Retry-After": "7"},
            "body": {"error": ERROR},
        }
    )

    answers = [azure.call("PUT", pool, BODY) for _ in range(3)]

    assert [answer.status for answer in answers] == [429, 429, 201]
    assert answers[0].headers["Retry-After"] == "7"
    assert answers[0].body == {"error": ERROR}


def test_a_fault_does_not_affect_other_requests(
    azure: Azure, script: Script, cluster: str, pool: str
) -> None:
    script({"method": "PUT", "path": "agentPools/gpu$", "status": 500})

    assert azure.call("GET", f"{cluster}?api-version={API_VERSION}").status == 200
    assert azure.call("GET", pool).status == 404
    assert azure.call("PUT", pool.replace("gpu", "other"), BODY).status == 201


@pytest.mark.parametrize(("drop", "afterwards"), [("before", 404), ("after", 200)])
def test_a_fault_can_close_the_connection(
    azure: Azure, script: Script, pool: str, drop: str, afterwards: int
) -> None:
    script({"method": "PUT", "times": 1, "drop": drop})

    with pytest.raises((ConnectionError, http.client.HTTPException)):
        azure.call("PUT", pool, BODY)

    assert azure.call("GET", pool).status == afterwards
    assert azure.requests("agentPools/gpu")[0]["status"] == 0


def test_a_fault_can_delay_an_answer(azure: Azure, script: Script, pool: str) -> None:
    script({"method": "GET", "path": "agentPools", "delay": 0.3})

    asked = time.monotonic()
    assert azure.call("GET", pool).status == 404
    assert time.monotonic() - asked >= 0.3


def test_a_fault_can_fail_an_operation(azure: Azure, script: Script, pool: str) -> None:
    script({"method": "PUT", "times": 1, "operation": ERROR})

    answer = azure.call("PUT", pool, BODY)
    operation = azure.below(answer.headers["Azure-AsyncOperation"])

    shown = azure.call("GET", operation).body
    assert ("error" in shown) == (shown["status"] == "Failed")
    ended = azure.wait(operation, lambda reply: reply.body["status"] in ENDED)
    assert ended.body["status"] == "Failed"
    assert ended.body["error"] == ERROR
    assert state(azure, pool) == "Failed"
    assert azure.call("PUT", pool, BODY).status == 200


def test_a_failed_deletion_keeps_its_resource(azure: Azure, script: Script, pool: str) -> None:
    azure.call("PUT", pool, BODY)
    azure.wait(pool, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    script({"method": "DELETE", "operation": ERROR})

    azure.call("DELETE", pool)

    azure.wait(pool, lambda reply: reply.body["properties"]["provisioningState"] == "Failed")


def test_a_stuck_operation_ends_when_the_script_changes(
    azure: Azure, script: Script, pool: str
) -> None:
    script({"method": "PUT", "path": "agentPools/gpu$", "operation": "stuck"})
    answer = azure.call("PUT", pool, BODY)
    operation = azure.below(answer.headers["Azure-AsyncOperation"])

    other = pool.replace("gpu", "other")
    assert azure.call("PUT", other, BODY).status == 201
    azure.wait(other, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    assert azure.call("GET", operation).body["status"] not in ENDED
    assert azure.call("PUT", pool, BODY).status == 409

    script()
    assert azure.wait(operation, lambda reply: reply.body["status"] == "Succeeded")
    assert state(azure, pool) == "Succeeded"


def test_a_new_script_starts_its_counts_again(azure: Azure, script: Script, pool: str) -> None:
    for _ in range(2):
        script({"method": "GET", "path": "agentPools", "times": 1, "status": 503})
        assert azure.call("GET", pool).status == 503
        assert azure.call("GET", pool).status == 404
    Faults(azure.cloud.home).lift()
    assert azure.call("GET", pool).status == 404


def test_conditions_of_nodes_are_no_faults_of_requests(tmp_path: Path) -> None:
    faults = FaultScript(tmp_path / "faults.json", lambda: None)
    assert faults.node_faults() == ()
    node = {"node": "^aks-gpu-", "condition": "XIDErrors", "message": "Xid 79"}
    Faults(tmp_path).script(node, {"method": "GET", "status": 500})
    (node_fault,) = faults.node_faults()
    assert (node_fault.node, node_fault.condition, node_fault.message) == (
        "^aks-gpu-",
        "XIDErrors",
        "Xid 79",
    )
    assert isinstance(node_fault, NodeFault)
    assert faults.next_fault("GET", "/").status == 500
    assert faults.next_fault("PUT", "/").status is None


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ({"node": "(", "condition": "XIDErrors"}, "not a regular expression"),
        ({"path": "a{99999999999}"}, "not a regular expression"),
        ({"node": "a", "condition": "Ready"}, "that the kubelet or the rehearsal sets"),
        ({"node": "a", "condition": "DiskPressure"}, "that the kubelet or the rehearsal sets"),
        # It was true and false in turns.
        ({"node": "a", "condition": "DevicePluginConflict"}, "or the rehearsal sets"),
        ({"node": "a"}, "condition: Field required"),
        ({"node": "a", "condition": "XIDErrors", "status": 500}, "Unexpected keyword argument"),
        ({"condition": "XIDErrors"}, "condition: Unexpected keyword argument"),
    ],
)
def test_a_wrong_condition_of_nodes_is_named(
    tmp_path: Path, condition: dict[str, object], complaint: str
) -> None:
    faults = FaultScript(tmp_path / "faults.json", lambda: None)
    Faults(tmp_path).script(condition)
    assert faults.node_faults() == ()
    assert complaint in (faults.complaint() or "")
