"""What becomes of resources whose requests go wrong, through the real engine."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
for name, identity in {clusters!r}.items():
    aks.ManagedCluster(
        name,
        resource_group_name=group.name,
        resource_name_=name,
        location="eastus",
        dns_prefix="c",
        identity=identity,
        agent_pool_profiles=[
            aks.ManagedClusterAgentPoolProfileArgs(
                name="system", mode="System", vm_size="Standard_D4ds_v5", count=1
            )
        ],
        opts=pulumi.ResourceOptions(
            custom_timeouts=pulumi.CustomTimeouts(create="10s" if name == "stuck" else "1h")
        ),
    )
"""
QUOTA = {"code": "QuotaExceeded", "message": "No cores are left."}
BUSY = {"code": "OperationNotAllowed", "details": None, "message": "Another operation runs."}
GONE = {"error": {"code": "ResourceNotFound", "message": "There is none."}}
UNKNOWN = {"error": {"code": "NotFound", "message": "No such operation."}}


def identities(*names: str) -> dict[str, Any]:
    ids = [f"/subscriptions/s/resourceGroups/g/providers/identities/{name}" for name in names]
    return {"type": "UserAssigned", "userAssignedIdentities": ids}


def program(group: str, failing: Iterable[str], assigned: dict[str, Any]) -> str:
    own = {"type": "SystemAssigned"}
    clusters = dict.fromkeys(failing, own) | {"assigned": assigned}
    return PROGRAM.format(group=group, clusters=clusters)


@pytest.mark.nightly
def test_what_fails_is_told_and_the_next_update_goes_on(
    bench: Bench, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = unique("failing")
    both = identities("one", "other")
    bench.write(program(group, ["kept", "absent", "stuck", "busy"], both))
    # Of the directory's answers `error` is a word, and no object: the plug-in broke on it.
    with monkeypatch.context() as patched:
        right = bench.cloud.environment()
        wrong = right | {"ARM_CLIENT_SECRET": "wrong"}
        patched.setattr(type(bench.cloud), "environment", lambda _: wrong)
        printed = bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert "invalid_client" in printed
    assert "Traceback" not in printed

    def at(name: str, method: str = "PUT") -> dict[str, Any]:
        return {"method": method, "path": f"{group}/.*managedClusters/{name}$"}

    faults.script(
        {**at("kept"), "operation": QUOTA},
        {**at("absent"), "operation": QUOTA},
        {**at("absent", "GET"), "status": 404, "body": GONE},
        {**at("stuck"), "operation": "stuck"},
        {**at("busy"), "times": 1, "status": 409, "body": BUSY},
    )
    printed = bench.pulumi("up", "--yes", "--skip-preview", "--continue-on-error", fails=True)
    state = bench.resources()

    # What exists is kept, with what Azure says of it; what does not exist is not.
    assert 'Code="QuotaExceeded" Message="No cores are left."' in printed
    kept = state["kept"]
    assert kept["id"].endswith("/managedClusters/kept")
    assert kept["outputs"]["provisioningState"] == "Failed"
    assert kept["inputs"]["dnsPrefix"] == "c"
    assert "absent" not in state
    # The plug-in lost a resource here: the end of the time was no failure of the request.
    assert "operation timed out" in printed
    assert state["stuck"]["id"].endswith("/managedClusters/stuck")
    assert "provisioningState" not in state["stuck"].get("outputs", {})
    # The offline plug-in waited while another operation ran, as aks-preview does. azure-native
    # waits for some codes of other services, and OperationNotAllowed is none of them.
    assert 'Status=409 Code="OperationNotAllowed"' in printed
    assert "busy" not in state
    # The list went to Azure as a list, and the rehearsal's server took it.
    (put,) = bench.requests(
        "PUT", f"{group}/providers/Microsoft.ContainerService/managedClusters/assigned"
    )
    assert list(put["body"]["identity"]["userAssignedIdentities"].values()) == [{}, {}]

    faults.lift()
    # Without the one that Azure has after all, and the state has not.
    clusters = ["kept", "stuck", "busy"]
    bench.write(program(group, clusters, both))
    assert bench.update() == {"kept": "update", "stuck": "update", "busy": "create"}

    clusters.append("unread")
    bench.write(program(group, clusters, both))
    assert bench.changes("--refresh") == {"unread": "create"}
    faults.script({"method": "GET", "path": "/operations/", "status": 404, "body": UNKNOWN})
    bench.write(program(group, clusters, identities("one")))
    printed = bench.pulumi("up", "--yes", "--skip-preview", "--continue-on-error", fails=True)
    # The plug-in asked for the resource instead, and succeeded where azure-native fails.
    assert "No such operation." in printed
    unread = bench.resources()["unread"]
    assert unread["id"].endswith("/managedClusters/unread")
    # As azure-native leaves the state of a write that failed.
    assert "azureApiVersion" not in unread.get("outputs", {})
    # To take one identity away azure-native sends a PATCH, of which AKS takes tags only.
    assert "UnmarshalError" in printed
    (patch,) = bench.requests("PATCH", f"{group}/")
    assert list(patch["body"]["identity"]["userAssignedIdentities"].values()) == [{}, None]
