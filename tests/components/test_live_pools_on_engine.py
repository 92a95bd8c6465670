"""Counts that AKS moves, and lists of pools that a refresh makes: a foreign program's whole life.

Azure is one that refuses a count of one's own for an autoscaled pool, and
whatever is said to be refused is looked up in the request log too.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests import azure_pools
from tests.azure_pools import V, live_count, path
from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique
from tests.rehearsal.conftest import Azure

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


REFUSES = {"autoscaledCounts": "refuse"}
BUSY = {"status": 500, "body": {"code": "InternalServerError", "message": "Later."}}


@dataclass(frozen=True)
class Life:
    """A stack, and what its program says. Nobody but the autoscaler may count."""

    bench: Bench
    faults: Faults
    name: str
    says: dict[str, Any] = field(default_factory=dict)

    def write(self, **changes: Any) -> None:
        self.says.update(changes)
        self.bench.write(program(self.name, **self.says))

    def up(self, *more: str, fails: bool = False, **changes: Any) -> str:
        self.write(**changes)
        return self.bench.pulumi("up", "--yes", "--skip-preview", *more, fails=fails)

    def update(self, **changes: Any) -> dict[str, str]:
        self.write(**changes)
        return self.bench.update()

    def refresh(self) -> None:
        self.bench.pulumi("refresh", "--yes", "--skip-preview")

    def refused(self, **changes: Any) -> str:
        """What an update says that sends nothing."""
        before = len(self.bench.requests("PUT", "managedClusters"))
        printed = self.up(fails=True, **changes)
        assert len(self.bench.requests("PUT", "managedClusters")) == before
        return printed

    def scale(self, pool: str, count: int) -> None:
        """What the autoscaler does, which may."""
        self.bench.cloud.offer({})
        azure_pools.scale(self.bench, self.name, pool, count)
        self.bench.cloud.offer(REFUSES)

    def live(self, pool: str) -> int:
        return live_count(self.bench, self.name, pool)

    def sent(self, path_part: str) -> dict[str, Any]:
        """The properties of the last PUT of a resource."""
        properties: dict[str, Any] = self.bench.requests("PUT", path_part)[-1]["body"]["properties"]
        return properties


@pytest.fixture
def life(bench: Bench, faults: Faults) -> Iterator[Life]:
    """The program, brought up."""
    life = Life(bench, faults, unique("live"))
    life.up()
    bench.cloud.offer(REFUSES)
    yield life
    bench.cloud.offer({})


def a_preview_asks_azure_once_for_a_cluster(life: Life) -> None:
    """It asked for each pool: a hundred requests for a hundred pools."""
    before = len(life.bench.requests("GET", "managedClusters"))
    assert life.bench.changes() == {}
    asked = life.bench.requests("GET", "managedClusters")[before:]
    assert [line["path"].rpartition("managedClusters/")[2] for line in asked] == [life.name]


def a_label_is_sent_with_the_live_count(life: Life) -> None:
    """C8 took four nodes away here; neither a refresh nor an option of the project is needed."""
    life.scale("gpu", 4)
    a_preview_asks_azure_once_for_a_cluster(life)

    life.up(gpu="b")

    put = life.sent("agentPools/gpu")
    assert (put["count"], put["nodeLabels"]) == (4, {"team": "b"})
    assert life.live("gpu") == 4
    assert life.bench.changes() == {}


def a_change_between_refreshes_keeps_the_live_count(life: Life) -> None:
    """C13: a refresh made a change of the cluster for ever, and lost the counts of other pools."""
    life.refresh()
    assert life.bench.changes() == {}
    life.scale("gpu", 3)
    life.scale("system", 5)
    life.refresh()
    life.refresh()
    assert life.bench.changes() == {}

    assert life.update(most=6) == {"cluster": "update"}
    assert [life.live(pool) for pool in ("gpu", "system")] == [3, 5]
    assert life.update(tag="b", spot="b") == {"cluster": "update", "spot": "update"}
    assert life.bench.changes() == {}
    life.refresh()
    assert life.bench.changes() == {}


def a_changed_tag_does_not_reset_a_pool(life: Life) -> None:
    """After a refresh the state has the other pools in the cluster's list, and they grow old."""
    life.up(gpu="c")
    life.scale("system", 4)

    life.up(tag="c")

    (profile,) = life.sent(f"managedClusters/{life.name}")["agentPoolProfiles"]
    assert (profile["name"], profile["count"]) == ("system", 4)
    assert life.bench.changes() == {}


def an_unknown_live_count_stops_the_update_before_the_put(life: Life) -> None:
    """Azure does not answer when the program asks: counts are those of the state, and too old."""
    life.scale("gpu", 4)
    asked = {"method": "GET", "path": f"(agentPools/gpu|managedClusters/{life.name})$"}
    life.faults.script(asked | BUSY)

    printed = life.refused(gpu="d", tag="d")
    assert "cannot read the live number of nodes" in printed
    assert "pulumi up --refresh" in printed

    life.faults.lift()
    life.up("--refresh")
    assert life.live("gpu") == 4


def an_offline_preview_after_a_refresh_shows_the_change_of_the_program(life: Life) -> None:
    """It showed pools that were taken out of the cluster's list, which no update would do."""
    life.refresh()
    life.faults.script({"method": "GET", "path": "managedClusters"} | BUSY)
    assert life.bench.changes() == {}
    life.write(t4="c")
    assert life.bench.changes() == {"t4": "update"}
    life.faults.lift()
    life.write(t4="b")


def what_others_change_on_a_fixed_pool_goes_with_its_next_update(life: Life) -> None:
    """Labels and counts are the program's; a fixed pool is not read."""
    azure, address = Azure(life.bench.cloud), f"{path(life.name)}/agentPools/t4{V}"
    body = azure.call("GET", address).body
    body["properties"] |= {"nodeLabels": {"team": "a", "portal": "yes"}, "count": 3}
    assert azure.call("PUT", address, body).status == 200
    azure.wait(address, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    life.write(t4="a")
    assert life.bench.changes() == {}

    life.up(t4="b")
    assert azure.call("GET", address).body["properties"]["nodeLabels"] == {"team": "b"}
    assert life.live("t4") == 1


def inline_pools_are_matched_by_name(life: Life) -> None:
    """AKS did so until 2023: after a refresh, the first of the list was another pool."""
    life.scale("gpu", 5)
    cluster = Azure(life.bench.cloud).call("GET", f"{path(life.name)}{V}").body
    cluster["properties"]["agentPoolProfiles"].sort(key=lambda profile: str(profile["name"]))
    asked = {"method": "GET", "path": f"managedClusters/{life.name}$"}
    life.faults.script(asked | {"status": 200, "body": cluster})

    life.refresh()
    assert life.bench.changes() == {}
    life.up(tag="e")
    life.faults.lift()

    assert [life.live(pool) for pool in ("gpu", "system")] == [5, 4]


def a_count_that_only_the_state_has_is_not_sent(life: Life) -> None:
    """AKS scaled while an update ran: the state's outputs were newer than its inputs."""
    life.scale("gpu", 2)
    deployment = json.loads(life.bench.pulumi("stack", "export"))
    [pool] = [
        each
        for each in deployment["deployment"]["resources"]
        if each["urn"].endswith("AgentPool::gpu")
    ]
    pool["outputs"]["count"] = 2
    file = life.bench.folder / "state.json"
    file.write_text(json.dumps(deployment))
    life.bench.pulumi("stack", "import", "--file", str(file))

    life.up("--refresh", gpu="e")
    put = life.sent("agentPools/gpu")
    assert (put["count"], put["nodeLabels"]) == (2, {"team": "e"})
    assert life.bench.changes() == {}


def the_autoscaler_is_turned_off_at_the_live_count(life: Life) -> None:
    """The pool's own count would have been sent: one node, where four are at work."""
    life.scale("gpu", 4)
    printed = life.refused(counts={"count": 1})
    assert "set its count to 4 when you remove minCount and maxCount" in printed

    life.up(counts={"count": 4})
    assert life.live("gpu") == 4
    # On again: the count of the program is that of a new pool.
    life.up(counts=SCALED | {"count": 1})
    assert life.live("gpu") == 4


def an_update_does_not_create_a_deleted_pool(life: Life) -> None:
    """A PUT would make it anew, with a count of long ago."""
    azure, address = Azure(life.bench.cloud), f"{path(life.name)}/agentPools/gpu{V}"
    azure.call("DELETE", address)
    azure.wait(address, lambda reply: reply.status == 404)

    assert "pulumi up --refresh" in life.refused(gpu="f")

    life.up("--refresh")
    assert life.live("gpu") == 1


def a_pool_that_replaces_an_empty_one_starts_with_the_programs_count(life: Life) -> None:
    """The count of the old pool was sent, below the new minimum, when the old pool was gone."""
    life.scale("gpu", 0)
    more = {"vm_size": "Standard_NC4as_T4_v3", "count": 2, "min_count": 2, "max_count": 6}
    life.up(counts=more)
    assert life.live("gpu") == 2
    assert life.bench.changes() == {}


# By their worth: one that fails hides those after it.
LOOKS = (
    a_label_is_sent_with_the_live_count,
    a_change_between_refreshes_keeps_the_live_count,
    a_changed_tag_does_not_reset_a_pool,
    an_unknown_live_count_stops_the_update_before_the_put,
    the_autoscaler_is_turned_off_at_the_live_count,
    an_update_does_not_create_a_deleted_pool,
    a_pool_that_replaces_an_empty_one_starts_with_the_programs_count,
    what_others_change_on_a_fixed_pool_goes_with_its_next_update,
    an_offline_preview_after_a_refresh_shows_the_change_of_the_program,
    inline_pools_are_matched_by_name,
    a_count_that_only_the_state_has_is_not_sent,
)


@pytest.mark.nightly
def test_live_counts_stay_through_a_stacks_whole_life(life: Life) -> None:
    for look in LOOKS:
        look(life)


@pytest.mark.nightly
def test_a_changed_sdk_is_told_in_one_sentence(bench: Bench) -> None:
    """It was taken for an Azure that does not answer, and an update would have said nothing."""
    changed = "import components.azure_reads as seam\nseam.resource_pb2 = object()\n"
    told = bench.up(changed + program(unique("sdk")), fails=True)
    assert "Pulumi's SDK has changed: install the version that requirements.txt names" in told
    assert "Traceback" not in told
