"""What is not on offer, as it meets an `up` that nobody has prepared: halfway."""

from typing import Any

import pytest

from tests.bench import Bench

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name="offers", location="spaincentral")
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_="c",
    location="spaincentral",
    dns_prefix="c",
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[
        {"name": "system", "mode": "System", "vm_size": "Standard_D4ds_v5", "count": 1}
    ],
)
aks.AgentPool(
    "pool",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    agent_pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3",
    count=2,
    mode="User",
)
"""
T4 = "Standard_NC8as_T4_v3"
MADE = {"group", "cluster"}


def here(**line: Any) -> dict[str, Any]:
    return {"location": "spaincentral", **line}


def test_an_update_fails_for_quota_and_continues_with_more_quota(bench: Bench) -> None:
    try:
        bench.cloud.offer({"limits": [here(name="Standard NCASv3_T4 Family", limit=8)]})
        output = bench.up(PROGRAM, fails=True)
        assert "Insufficient vcpu quota requested 16, remaining 8" in output
        assert set(bench.resources()) == MADE

        bench.cloud.offer({"sizes": [here(size=T4, **{"is": "soldOut"})]})
        output = bench.up(PROGRAM, fails=True)
        assert "AllocationFailed" in output
        # Azure has the pool, if not its nodes, and so the state has it.
        assert set(bench.resources()) == MADE | {"pool"}
    finally:
        bench.cloud.offer({})

    bench.up(PROGRAM)
    sent = bench.requests("PUT", "/offers/providers/Microsoft.ContainerService/managedClusters/c/")
    assert [line["status"] for line in sent] == [400, 201, 200]
