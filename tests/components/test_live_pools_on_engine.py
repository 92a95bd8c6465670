"""Counts that AKS moves, and lists of pools that a refresh makes: a foreign program's whole life.

Azure is one that refuses a count of one's own for an autoscaled pool, and
whatever is said to be refused is looked up in the request log too.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rehearsal.cloud import Cloud
from tests import azure_pools
from tests.azure_pools import V, live_count, path
from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique
from tests.rehearsal.conftest import Azure

# Some ten runs of Pulumi each.
pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
from components import *

group = ResourceGroup(
    "group", ResourceGroupArgs(resource_group_name={name!r}, location="eastus")
)
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.resource_group_name,
        location="eastus",
        cluster_name={name!r},
        tags={{"team": {tag!r}}},
        system_pool=SystemPoolArgs(
            vm_size="Standard_D4ds_v5", count=3, min_count=3, max_count={most}, zones=["1", "2"]
        ),
    ),
)
place = dict(resource_group_name={name!r}, cluster_name=cluster.cluster_name)
T4 = dict(vm_size="Standard_NC8as_T4_v3", tags={{"team": "a"}})
GpuNodePool("t4", GpuNodePoolArgs(**place, **T4, pool_name="t4", labels={{"team": {t4!r}}}))
GpuNodePool(
    "gpu",
    GpuNodePoolArgs(**place, **{{**T4, **{counts!r}}}, pool_name="gpu", labels={{"team": {gpu!r}}}),
)
GpuNodePool(
    "spot",
    GpuNodePoolArgs(
        **place,
        **T4,
        pool_name="spot",
        spot=True,
        count=0,
        min_count=0,
        max_count=4,
        taints=["workload=training:NoSchedule"],
        labels={{"team": {spot!r}}},
    ),
)
"""
SCALED = {"count": 0, "min_count": 0, "max_count": 5}


def program(name: str, **changes: Any) -> str:
    settings = {"tag": "a", "most": 5, "t4": "a", "gpu": "a", "spot": "a", "counts": SCALED}
    return PROGRAM.format(name=name, **{**settings, **changes})


@pytest.fixture
def name() -> str:
    return unique("live")


REFUSES = {"autoscaledCounts": "refuse"}


@pytest.fixture
def strict(bench: Bench, engine_cloud: Cloud, name: str) -> Iterator[Bench]:
    """The program, brought up where nobody but the autoscaler counts."""
    bench.up(program(name))
    engine_cloud.offer(REFUSES)
    yield bench
    engine_cloud.offer({})


def scale(bench: Bench, name: str, pool: str, count: int) -> None:
    """What the autoscaler does, which may."""
    bench.cloud.offer({})
    azure_pools.scale(bench, name, pool, count)
    bench.cloud.offer(REFUSES)


def refresh(bench: Bench) -> None:
    bench.pulumi("refresh", "--yes", "--skip-preview")


def puts(bench: Bench) -> int:
    return len(bench.requests("PUT", "managedClusters"))


def test_a_label_is_sent_with_the_live_count(strict: Bench, name: str) -> None:
    """C8 took four nodes away here; neither a refresh nor an option of the project is needed."""
    scale(strict, name, "gpu", 4)
    assert strict.changes() == {}

    strict.up(program(name, gpu="b"))

    put = strict.requests("PUT", "agentPools/gpu")[-1]["body"]["properties"]
    assert (put["count"], put["nodeLabels"]) == (4, {"team": "b"})
    assert live_count(strict, name, "gpu") == 4
    assert strict.changes() == {}


def test_a_change_between_refreshes_keeps_the_live_count(strict: Bench, name: str) -> None:
    """C13: a refresh made a change of the cluster for ever, and lost the counts of other pools."""
    refresh(strict)
    assert strict.changes() == {}
    scale(strict, name, "gpu", 4)
    scale(strict, name, "system", 5)
    refresh(strict)
    refresh(strict)
    assert strict.changes() == {}

    strict.write(program(name, most=6))
    assert strict.changes() == {"cluster": "update"}
    strict.pulumi("up", "--yes", "--skip-preview")
    assert [live_count(strict, name, pool) for pool in ("gpu", "system")] == [4, 5]

    strict.write(program(name, most=6, tag="b", spot="b"))
    assert strict.changes() == {"cluster": "update", "spot": "update"}
    strict.pulumi("up", "--yes", "--skip-preview")
    assert strict.changes() == {}
    refresh(strict)
    assert strict.changes() == {}


def test_a_changed_tag_does_not_reset_a_pool(strict: Bench, name: str) -> None:
    """After a refresh the state has the other pools in the cluster's list, and they grow old."""
    refresh(strict)
    strict.up(program(name, gpu="b"))
    scale(strict, name, "system", 4)

    strict.up(program(name, gpu="b", tag="b"))

    put = strict.requests("PUT", f"managedClusters/{name}")[-1]["body"]["properties"]
    (profile,) = put["agentPoolProfiles"]
    assert (profile["name"], profile["count"]) == ("system", 4)
    assert strict.changes() == {}


def test_an_unknown_live_count_stops_the_update_before_the_put(
    strict: Bench, faults: Faults, name: str
) -> None:
    """Azure does not answer when the program asks: counts are those of the state, and too old."""
    scale(strict, name, "gpu", 4)
    busy = {"code": "InternalServerError", "message": "Later."}
    asked = {"method": "GET", "path": f"(agentPools/gpu|managedClusters/{name})$"}
    faults.script(asked | {"status": 500, "body": busy})
    before = puts(strict)

    printed = strict.up(program(name, gpu="b", tag="b"), fails=True)
    assert "cannot read the live number of nodes" in printed
    assert "pulumi up --refresh" in printed
    assert puts(strict) == before

    faults.lift()
    strict.pulumi("up", "--yes", "--skip-preview", "--refresh")
    assert live_count(strict, name, "gpu") == 4


def test_inline_pools_are_matched_by_name(strict: Bench, faults: Faults, name: str) -> None:
    """AKS did so until 2023: after a refresh, the first of the list was another pool."""
    scale(strict, name, "gpu", 4)
    cluster = Azure(strict.cloud).call("GET", f"{path(name)}{V}").body
    cluster["properties"]["agentPoolProfiles"].sort(key=lambda profile: str(profile["name"]))
    asked = {"method": "GET", "path": f"managedClusters/{name}$"}
    faults.script(asked | {"status": 200, "body": cluster})

    refresh(strict)
    assert strict.changes() == {}
    strict.up(program(name, tag="b"))
    faults.lift()

    assert live_count(strict, name, "gpu") == 4
    assert live_count(strict, name, "system") == 3


def test_an_update_does_not_create_a_deleted_pool(strict: Bench, name: str) -> None:
    """A PUT would make it anew, with a count of long ago."""
    azure, address = Azure(strict.cloud), f"{path(name)}/agentPools/gpu{V}"
    azure.call("DELETE", address)
    azure.wait(address, lambda reply: reply.status == 404)
    before = puts(strict)

    assert "pulumi up --refresh" in strict.up(program(name, gpu="b"), fails=True)
    assert puts(strict) == before

    strict.pulumi("up", "--yes", "--skip-preview", "--refresh")
    assert live_count(strict, name, "gpu") == 0


def test_the_autoscaler_is_turned_off_at_the_live_count(strict: Bench, name: str) -> None:
    """The pool's own count would have been sent: one node, where four are at work."""
    scale(strict, name, "gpu", 4)
    before = puts(strict)
    printed = strict.up(program(name, counts={"count": 1}), fails=True)
    assert "set its count to 4 when you remove minCount and maxCount" in printed
    assert puts(strict) == before

    strict.up(program(name, counts={"count": 4}))
    assert live_count(strict, name, "gpu") == 4
    # On again: the count of the program is that of a new pool.
    strict.up(program(name, counts=SCALED | {"count": 1, "min_count": 1}))
    assert live_count(strict, name, "gpu") == 4


def test_a_pool_that_replaces_an_empty_one_starts_with_the_programs_count(
    strict: Bench, name: str
) -> None:
    """The count of the old pool was sent, below the new minimum, when the old pool was gone."""
    more = {"vm_size": "Standard_NC4as_T4_v3", "count": 2, "min_count": 2, "max_count": 6}
    strict.up(program(name, counts=more))
    assert live_count(strict, name, "gpu") == 2
    assert strict.changes() == {}


def test_a_preview_asks_azure_once_for_a_cluster(strict: Bench) -> None:
    """It asked for each pool: a hundred requests for a hundred pools."""
    before = strict.requests("GET", "managedClusters")
    assert strict.changes() == {}
    asked = strict.requests("GET", "managedClusters")[len(before) :]
    assert [line["path"].rpartition("/")[2] for line in asked] == [name_of(asked[0])]


def name_of(line: dict[str, Any]) -> str:
    """The name of the cluster that was asked for."""
    return str(line["path"].rpartition("managedClusters/")[2])


def test_an_offline_preview_after_a_refresh_shows_the_change_of_the_program(
    strict: Bench, faults: Faults, name: str
) -> None:
    """It showed pools that were taken out of the cluster's list, which no update would do."""
    refresh(strict)
    busy = {"code": "InternalServerError", "message": "Later."}
    faults.script({"method": "GET", "path": "managedClusters", "status": 500, "body": busy})
    assert strict.changes() == {}
    strict.write(program(name, t4="b"))
    assert strict.changes() == {"t4": "update"}


def test_a_count_that_only_the_state_has_is_not_sent(strict: Bench, name: str) -> None:
    """AKS scaled while an update ran: the state's outputs were newer than its inputs."""
    scale(strict, name, "gpu", 2)
    deployment = json.loads(strict.pulumi("stack", "export"))
    [pool] = [
        each
        for each in deployment["deployment"]["resources"]
        if each["urn"].endswith("AgentPool::gpu")
    ]
    pool["outputs"]["count"] = 2
    file = strict.folder / "state.json"
    file.write_text(json.dumps(deployment))
    strict.pulumi("stack", "import", "--file", str(file))

    strict.write(program(name, gpu="b"))
    strict.pulumi("up", "--yes", "--skip-preview", "--refresh")
    put = strict.requests("PUT", "agentPools/gpu")[-1]["body"]["properties"]
    assert (put["count"], put["nodeLabels"]) == (2, {"team": "b"})
    assert strict.changes() == {}


def test_what_others_change_on_a_fixed_pool_goes_with_its_next_update(
    strict: Bench, name: str
) -> None:
    """Labels and counts are the program's; a fixed pool is not read."""
    azure, address = Azure(strict.cloud), f"{path(name)}/agentPools/t4{V}"
    body = azure.call("GET", address).body
    body["properties"] |= {"nodeLabels": {"team": "a", "portal": "yes"}, "count": 3}
    assert azure.call("PUT", address, body).status == 200
    azure.wait(address, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    assert strict.changes() == {}

    strict.up(program(name, t4="b"))
    assert azure.call("GET", address).body["properties"]["nodeLabels"] == {"team": "b"}
    assert live_count(strict, name, "t4") == 1


@pytest.mark.nightly
def test_a_changed_sdk_is_told_in_one_sentence_and_has_a_way_out(bench: Bench, name: str) -> None:
    """It was taken for an Azure that does not answer, and an update would have said nothing."""
    changed = "import components.azure_reads as seam\nseam.rpc = object()\n"
    told = bench.up(changed + program(name), fails=True)
    assert "Pulumi's SDK has changed" in told
    assert "Traceback" not in told

    bench.pulumi("config", "set", "aks-gpu:liveCounts", "ignore")
    bench.up(changed + program(name))
    assert bench.changes() == {}
    bench.up(changed + program(name, gpu="b"))
    put = bench.requests("PUT", "agentPools/gpu")[-1]["body"]["properties"]
    assert (put["nodeLabels"], put["count"]) == ({"team": "b"}, 0)
