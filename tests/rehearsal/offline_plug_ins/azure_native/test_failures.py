"""What becomes of resources whose requests go wrong, through the real engine."""

import pytest

from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_={name!r},
    location="eastus",
    dns_prefix="c",
    identity={identity},
    agent_pool_profiles=[
        aks.ManagedClusterAgentPoolProfileArgs(
            name="system", mode="System", vm_size="Standard_D4ds_v5", count=1
        )
    ],
    opts=pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create={seconds!r})),
)
"""
OF_THE_SYSTEM = '{"type": "SystemAssigned"}'
QUOTA = {"code": "QuotaExceeded", "message": "No cores are left."}
BUSY = {"code": "OperationNotAllowed", "details": None, "message": "Another operation runs."}


@pytest.fixture
def name() -> str:
    return unique("failing")


def program(name: str, identity: str = OF_THE_SYSTEM, seconds: str = "1h") -> str:
    return PROGRAM.format(name=name, identity=identity, seconds=seconds)


def test_wrong_credentials_are_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the directory's answers `error` is a word, and no object: the plug-in broke on it."""
    bench.write(program("never"))
    right = bench.cloud.environment()
    monkeypatch.setattr(
        type(bench.cloud), "environment", lambda _: right | {"ARM_CLIENT_SECRET": "wrong"}
    )

    printed = bench.pulumi("up", "--yes", "--skip-preview", fails=True)

    assert "invalid_client" in printed
    assert "Traceback" not in printed


def test_a_failed_resource_that_exists_is_kept_with_azures_properties(
    bench: Bench, faults: Faults, name: str
) -> None:
    faults.script({"method": "PUT", "path": f"managedClusters/{name}$", "operation": QUOTA})

    printed = bench.up(program(name), fails=True)

    assert 'Code="QuotaExceeded" Message="No cores are left."' in printed
    kept = bench.resources()["cluster"]
    assert kept["id"].endswith(f"/managedClusters/{name}")
    assert kept["outputs"]["provisioningState"] == "Failed"
    assert kept["inputs"]["dnsPrefix"] == "c"

    faults.lift()
    assert bench.changes() == {"cluster": "update"}
    bench.up(program(name))
    assert bench.changes() == {}


def test_a_failed_resource_that_does_not_exist_is_not_kept(
    bench: Bench, faults: Faults, name: str
) -> None:
    gone = {"error": {"code": "ResourceNotFound", "message": "There is none."}}
    path = f"managedClusters/{name}$"
    faults.script(
        {"method": "PUT", "path": path, "operation": QUOTA},
        {"method": "GET", "path": path, "status": 404, "body": gone},
    )

    assert "QuotaExceeded" in bench.up(program(name), fails=True)

    assert "cluster" not in bench.resources()


def test_a_resource_that_timed_out_is_kept_without_outputs(
    bench: Bench, faults: Faults, name: str
) -> None:
    """The plug-in lost the resource here: the end of the time was no failure of the request."""
    faults.script({"method": "PUT", "path": f"managedClusters/{name}$", "operation": "stuck"})

    printed = bench.up(program(name, seconds="10s"), fails=True)

    assert "operation timed out" in printed
    kept = bench.resources()["cluster"]
    assert kept["id"].endswith(f"/managedClusters/{name}")
    assert "provisioningState" not in kept.get("outputs", {})


def test_an_operation_that_cannot_be_read_is_a_failure(
    bench: Bench, faults: Faults, name: str
) -> None:
    """The plug-in asked for the resource instead, and succeeded where azure-native fails."""
    gone = {"error": {"code": "NotFound", "message": "No such operation."}}
    faults.script({"method": "GET", "path": "/operations/", "status": 404, "body": gone})

    assert "No such operation." in bench.up(program(name), fails=True)

    kept = bench.resources()["cluster"]
    assert kept["id"].endswith(f"/managedClusters/{name}")
    # As azure-native leaves the state of a write that failed.
    assert "azureApiVersion" not in kept.get("outputs", {})
    faults.lift()


def test_a_conflict_is_not_retried(bench: Bench, faults: Faults, name: str) -> None:
    """The offline plug-in waited while another operation ran, as aks-preview does.

    azure-native waits for some codes of other services, and OperationNotAllowed is none of them.
    """
    path = f"managedClusters/{name}$"
    faults.script({"method": "PUT", "path": path, "times": 1, "status": 409, "body": BUSY})

    assert 'Status=409 Code="OperationNotAllowed"' in bench.up(program(name), fails=True)

    assert "cluster" not in bench.resources()
    bench.up(program(name))


def identities(*names: str) -> str:
    ids = [f"/subscriptions/s/resourceGroups/g/providers/identities/{name}" for name in names]
    return str({"type": "UserAssigned", "userAssignedIdentities": ids})


def test_user_assigned_identities_can_be_added_and_not_removed(bench: Bench, name: str) -> None:
    """The list went to Azure as a list, and the rehearsal's server took it.

    Taking one away makes azure-native's request a PATCH, of which AKS takes tags only.
    """
    bench.up(program(name, identities("one", "other")))
    (put,) = bench.requests("PUT", f"managedClusters/{name}")
    assert list(put["body"]["identity"]["userAssignedIdentities"].values()) == [{}, {}]
    assert bench.changes("--refresh") == {}

    assert "UnmarshalError" in bench.up(program(name, identities("one")), fails=True)
    (patch,) = bench.requests("PATCH", f"managedClusters/{name}")
    assert list(patch["body"]["identity"]["userAssignedIdentities"].values()) == [{}, None]
