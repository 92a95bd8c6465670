"""The fault table: what happens to a pool when Azure, the network or the update fails.

Each test ends with the right state, and after the fault is lifted with an `up` that leaves nothing
to change.
"""

import os
import signal
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.aks_preview.conftest import Aks, PreviewBench
from tests.faults import Faults
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = "agentPools/gpu$"
# Within this time, a request has to reach Azure: on a busy machine, the first takes seconds.
IMPATIENT = ', opts=pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="10s"))'
BUSY = {
    "code": "OperationNotAllowed",
    "message": "Operation is not allowed: Another operation is in progress.",
    "details": None,
    "subcode": "",
}
BROKEN = {"code": "InternalServerError", "message": "Something broke."}
QUOTA = {
    "code": "ErrCode_InsufficientVCPUQuota",
    "message": "Insufficient regional vcpu quota left for location eastus.",
    "target": "vmSize",
}


def fault(**fields: Any) -> dict[str, Any]:
    return {"method": "PUT", "path": POOL} | fields


def settle(bench: PreviewBench, faults: Faults, program: str) -> None:
    """After the fault: one `up` makes everything as the program says, and nothing is left."""
    faults.lift()
    bench.up(program)
    assert bench.resources()["pool"]["outputs"]["provisioningState"] == "Succeeded"
    assert not bench.resources()["pool"].get("initErrors")
    assert bench.changes("--refresh") == {}


def puts(bench: PreviewBench, aks: Aks) -> int:
    return len(bench.requests("PUT", f"{aks.group}/providers")) - 1  # less that of the cluster


@pytest.mark.nightly
def test_a_429_is_retried_after_its_retry_after(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    faults.script(fault(status=429, headers={"Retry-After": "2"}, times=1))

    preview_bench.up(aks.program())

    refused, taken = [
        datetime.fromisoformat(put["time"]) for put in preview_bench.requests("PUT", POOL[:-1])
    ]
    assert taken - refused > timedelta(seconds=1.9)
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_a_put_that_arrived_before_the_connection_dropped_is_not_lost(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    faults.script(fault(drop="after", times=1))

    output = preview_bench.up(aks.program())

    assert "exists already" not in output
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_connections_that_drop_until_the_timeout_fail_the_update(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    faults.script(fault(drop="after"))

    output = preview_bench.up(aks.program(more=IMPATIENT), fails=True)

    assert "The operation timed out" in output
    kept = preview_bench.resources()["pool"]
    assert kept["id"].endswith("/agentPools/gpu")
    assert kept["initErrors"]
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
@pytest.mark.parametrize(("status", "body"), [(409, BUSY), (500, {"error": BROKEN})])
def test_a_timeout_reports_the_reason_for_waiting(
    preview_bench: PreviewBench, aks: Aks, faults: Faults, status: int, body: dict[str, Any]
) -> None:
    """It was tried again in silence, and then the reason was gone."""
    faults.script(fault(status=status, body=body))

    output = preview_bench.up(aks.program(more=IMPATIENT), fails=True)

    reason = body.get("error", body)["message"]
    assert "The operation timed out" in output
    assert f"Last reason for waiting: {body.get('error', body)['code']}: {reason}" in output
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_a_put_waits_until_aks_knows_a_new_feature(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    """Its provider is Registered all the time, and says nothing of what it has taken over."""
    name = "ManagedGPUExperiencePreview"
    refused = {
        "code": "PreviewFeatureNotRegistered",
        "message": f"Preview feature Microsoft.ContainerService/{name} not registered.",
    }
    faults.script(fault(status=400, body=refused, times=2))
    registered = (
        "from aks_preview.resources import FeatureRegistration\n"
        "feature = FeatureRegistration('feature', "
        f"provider_namespace='Microsoft.ContainerService', feature_name={name!r})\n"
    )
    after = ", opts=pulumi.ResourceOptions(depends_on=[feature])"

    output = preview_bench.up(registered + aks.program(more=after))

    assert f"Waiting, then trying again: {refused['code']}: {refused['message']}" in output
    assert puts(preview_bench, aks) == 3
    settle(preview_bench, faults, registered + aks.program(more=after))


def test_an_operation_that_fails_for_quota_keeps_the_pool_in_the_state(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    faults.script(fault(operation=QUOTA))

    output = preview_bench.up(aks.program(), fails=True)

    assert f"{QUOTA['code']}: {QUOTA['message']} (target: vmSize)" in output
    assert "az vm list-usage" in output
    assert "Traceback" not in output
    kept = preview_bench.resources()["pool"]
    assert kept["id"].endswith("/agentPools/gpu")
    assert kept["initErrors"]
    faults.lift()
    # A refresh took the error away, and the pool was Failed for ever.
    assert "is Failed" in preview_bench.pulumi("refresh", "--yes", "--skip-preview")
    assert preview_bench.changes("--refresh") == {"pool": "update"}
    assert preview_bench.changes() == {"pool": "update"}
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_a_refused_request_is_not_retried(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    error = {
        "code": "SkuNotAvailable",
        "message": "The requested VM size is not available in location 'eastus'.",
        "target": "agentPoolProfile.vmSize",
    }
    faults.script(fault(status=400, body={"error": error}))

    output = preview_bench.up(aks.program(), fails=True)

    assert f"{error['code']}: {error['message']} (target: {error['target']})" in output
    assert "az vm list-skus" in output
    assert puts(preview_bench, aks) == 1
    assert preview_bench.resources() == {}
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_a_cancellation_ends_the_wait_for_a_stuck_operation(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    faults.script(fault(operation="stuck"))
    with preview_bench.running_up(aks.program()) as update:
        preview_bench.wait_for_request("PUT", f"{aks.path}/{POOL[:-1]}")
        os.kill(update.pid, signal.SIGINT)
        # The operation never ends: whatever waits for it outlasts any limit.
        output, _ = update.communicate(timeout=PATIENCE)

    assert update.returncode != 0
    assert "The update was cancelled" in output
    assert "is Creating" in preview_bench.pulumi("refresh", "--yes", "--skip-preview")
    assert preview_bench.resources()["pool"]["initErrors"]
    settle(preview_bench, faults, aks.program())


@pytest.mark.nightly
def test_a_feature_that_stays_registering_fails_at_the_timeout(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    feature = "providers/Microsoft.Features/providers/Microsoft.ContainerService/features"
    path = f"{aks.azure.subscription}/{feature}/ManagedGPUExperiencePreview"
    body = {"id": path, "name": "x", "properties": {"state": "Registering"}}
    faults.script({"method": "GET", "path": feature, "status": 200, "body": body})
    program = (
        "import pulumi\n"
        "from aks_preview.resources import FeatureRegistration\n"
        "FeatureRegistration('feature', provider_namespace='Microsoft.ContainerService',"
        " feature_name='ManagedGPUExperiencePreview'{more})"
    )

    output = preview_bench.up(program.format(more=IMPATIENT), fails=True)

    assert (
        "ManagedGPUExperiencePreview of Microsoft.ContainerService is still Registering" in output
    )
    assert "customTimeouts" in output
    assert "is Registering" in preview_bench.pulumi("refresh", "--yes", "--skip-preview")
    assert preview_bench.resources()["feature"]["initErrors"]
    faults.lift()
    output = preview_bench.up(program.format(more=""))
    assert "ManagedGPUExperiencePreview of Microsoft.ContainerService is Registered." in output
    assert preview_bench.resources()["feature"]["outputs"]["state"] == "Registered"
    assert preview_bench.changes("--refresh") == {}


@pytest.mark.nightly
def test_two_pools_of_one_cluster_are_created_at_the_same_time(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    second = aks.program(name="second").splitlines()[3].replace("'pool'", "'other'")
    program = f"{aks.program()}{second}\n"
    faults.script(fault(path="agentPools/", status=409, body=BUSY, times=1))

    preview_bench.up(program)

    assert aks.pool("gpu") is not None
    assert aks.pool("second") is not None
    settle(preview_bench, faults, program)
