"""The object id of a cluster's own identity, by either provider."""

import json

import pytest

from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
import pulumi
from pulumi_azure_native import managedidentity, resources
from components import AksCluster, AksClusterArgs, SystemPoolArgs

group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
own = managedidentity.UserAssignedIdentity("own", resource_group_name=group.name)
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.name,
        location="eastus",
        cluster_name={name!r},
        user_assigned_identity_id=own.id,
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5", custom_headers={headers!r}),
    ),
)
pulumi.export("principalId", cluster.principal_id)
pulumi.export("own", own.principal_id)
"""


@pytest.mark.parametrize("headers", [None, {"X-Name": "a value"}])
def test_a_cluster_with_a_user_assigned_identity(
    bench: Bench, headers: dict[str, str] | None
) -> None:
    """With aks-preview it had none: of the identity that provider lists the id alone."""
    name = unique("identity")
    bench.up(PROGRAM.format(name=name, headers=headers))

    path = f"/resourceGroups/{name}/providers/Microsoft.ContainerService/managedClusters/{name}"
    body = Azure(bench.cloud).call("GET", f"{path}?api-version={API_VERSION}").body
    ((_, assigned),) = body["identity"]["userAssignedIdentities"].items()
    principal = assigned["principalId"]
    outputs = json.loads(bench.pulumi("stack", "output", "--json"))
    assert outputs == {"principalId": principal, "own": principal}
    assert bench.changes() == {}
