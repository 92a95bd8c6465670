"""The system pool in a cluster's own request: AKS neither replaces it nor makes it anew."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
import pulumi
from components import *

name = {name!r}
group = ResourceGroup("group", ResourceGroupArgs(resource_group_name=name, location="eastus"))
AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.resource_group_name,
        location="eastus",
        cluster_name=name,
        tags={tags!r},
        network=NetworkArgs(**{network!r}),
        system_pool=SystemPoolArgs(**{pool!r}),
    ),
)
"""
POOL = {"vm_size": "Standard_D4ds_v5", "zones": ["1", "2"]}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
# What the program says, and what is named of it.
FIXED: list[tuple[dict[str, Any], str]] = [
    ({"pool": POOL | {"vm_size": "Standard_D8ds_v5"}}, "vmSize (Standard_D4ds_v5)"),
    ({"pool": POOL | {"zones": ["2", "3"]}}, "availabilityZones (['1', '2'])"),
    ({"pool": POOL | {"pool_name": "larger"}}, "name (system)"),
    ({"pool": POOL | {"gpu_stack": "none"}}, "gpuProfile.driver (not set)"),
    ({"network": {"subnet_id": SUBNET}}, "vnetSubnetID (not set)"),
]


def program(name: str, **settings: Any) -> str:
    return PROGRAM.format(name=name, **{"tags": {}, "network": {}, "pool": POOL, **settings})


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(None, id="plain"),
        pytest.param({"EnableACRTeleport": "false"}, id="headers"),
    ],
)
@pytest.mark.nightly
def test_a_change_of_an_immutable_property_is_refused_before_the_request(
    bench: Bench, headers: dict[str, str] | None
) -> None:
    """The preview was silent, and AKS said PropertyChangeNotAllowed in the midst of an update."""
    name, also = unique("first"), {"custom_headers": headers}
    bench.up(program(name, pool=POOL | also))
    puts = len(bench.requests("PUT"))

    for settings, fixed in FIXED:
        bench.write(program(name, **settings | {"pool": settings.get("pool", POOL) | also}))
        refused = bench.pulumi("preview", fails=True)
        assert f"AKS does not change {fixed} of a cluster's own system pool: keep" in refused, (
            settings
        )
    bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert len(bench.requests("PUT")) == puts

    # What AKS does change goes on, with the same written otherwise.
    same = {"vm_size": "standard_d4ds_v5", "zones": ["2", "1"], "count": 2}
    bench.up(program(name, tags={"team": "a"}, pool=POOL | also | same))
    bench.up(program(name, tags={"team": "a"}, pool=POOL | also | {"removed": True}))


def test_a_new_cluster_has_a_pool(bench: Bench) -> None:
    """AKS said that agentPoolProfiles is missing, which no argument is called."""
    bench.write(program(unique("poolless"), pool=POOL | {"removed": True}))
    for command in (["preview"], ["up", "--yes", "--skip-preview"]):
        assert "needs its system pool: do not set `removed`" in bench.pulumi(*command, fails=True)
    assert not bench.requests("PUT", "managedClusters/poolless")
