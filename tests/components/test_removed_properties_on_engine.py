"""What a user takes out of a stack file, on the engine: gone from Azure, or said not to be.

AKS keeps what a PUT leaves out: tags, labels, taints and ranges of addresses stayed, and `up` said
that they were gone.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.azure_pools import V, path
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure
from tests.test_stacks_on_engine import POOL, stack

pytestmark = [pytest.mark.engine, pytest.mark.long]

BARE = {**POOL, "tainted": False}
SCALED = {"minCount": 1, "maxCount": 3}
LABELLED = {**BARE, **SCALED, "labels": {"a": "b"}}
FULL = {**LABELLED, "taints": ["c=d:NoSchedule"]}
SURGE = {"maxSurge": "33%"}
RANGES = {"authorizedIpRanges": ["20.40.60.0/24"]}
NOTHING: dict[str, Any] = {"nodeLabels": {}, "nodeTaints": [], "tags": {}}
ENTRA = {
    "entra": {"adminGroupObjectIds": ["6f0f2f5a-4d4b-4d0e-9d3f-2f1c5a9b7e10"]},
    "disableLocalAccounts": True,
}
PRIVATE = {"private": True}


@dataclass(frozen=True)
class Life:
    """A stack of one pool, by stack files that differ in these."""

    bench: Bench
    name: str

    def write(self, pool: dict[str, Any], cluster: dict[str, Any], **more: Any) -> None:
        own = {"name": self.name, "protect": False, **cluster}
        self.bench.write_stack(stack(self.name, pool, cluster=own, **more))

    def update(self, pool: dict[str, Any], cluster: dict[str, Any], **more: Any) -> dict[str, str]:
        self.write(pool, cluster, **more)
        return self.bench.update()

    def live(self) -> tuple[Any, Any]:
        """The pool and the cluster, as Azure has them."""
        azure = Azure(self.bench.cloud)
        pool = azure.call("GET", f"{path(self.name)}/agentPools/gpu{V}").body["properties"]
        return pool, azure.call("GET", f"{path(self.name)}{V}").body


def test_what_is_taken_out_of_a_stack_file_is_removed_or_said_not_to_be(bench: Bench) -> None:
    """One stack, whose file has more in it, less, and more again."""
    life = Life(bench, unique("out"))
    values_of_other_clients_are_no_change(life)
    full = {"tags": {"team": "a"}, "systemPool": SCALED}
    life.update(FULL, RANGES, **full)
    removed_properties_are_removed_in_azure(life)
    # And back again.
    life.update({**FULL, **SURGE}, RANGES, **full)
    pool, cluster = life.live()
    assert (pool["nodeLabels"], pool["tags"], cluster["tags"]) == (
        FULL["labels"],
        {"team": "a"},
        {"team": "a"},
    )
    properties_that_azure_keeps_are_reported(life, full)
    assert bench.changes() == {}


def values_of_other_clients_are_no_change(life: Life) -> None:
    """Tags of Azure Policy made an unchanged stack a PUT each time that AKS had scaled its pool."""
    life.update({**BARE, **SCALED}, {}, systemPool=SCALED)
    azure, cluster = Azure(life.bench.cloud), path(life.name)
    for address in (f"{cluster}/agentPools/gpu", cluster):
        body = azure.call("GET", f"{address}{V}").body
        if address == cluster:
            body["tags"] = {"cost": "1"}
            body["properties"]["agentPoolProfiles"][0]["count"] = 2
        else:
            body["properties"] |= {"count": 3, "tags": {"cost": "1"}}
        assert azure.call("PUT", f"{address}{V}", body).status == 200
        azure.wait(
            f"{address}{V}",
            lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
        )

    assert life.bench.changes() == {}
    # A label goes with the live count, and the tags stay with those who set them.
    life.update(LABELLED, {}, systemPool=SCALED)
    pool, live = life.live()
    assert (pool["count"], live["tags"]) == (3, {"cost": "1"})


def removed_properties_are_removed_in_azure(life: Life) -> None:
    bench = life.bench
    # With the numbers that AKS has scaled to.
    changed = life.update({**BARE, "count": 3}, {}, systemPool={"count": 2})
    assert changed.keys() >= {"cluster", "gpu"}
    assert bench.changes() == {}

    put = bench.requests("PUT", "agentPools/gpu")[-1]["body"]["properties"]
    assert put.items() >= {**NOTHING, "enableAutoScaling": False}.items()
    puts = [put for put in bench.requests("PUT") if put["path"].endswith(life.name)]
    put = puts[-1]["body"]
    assert put["tags"] == {}
    assert put["properties"]["apiServerAccessProfile"] == {"authorizedIPRanges": []}
    assert put["properties"]["agentPoolProfiles"][0]["enableAutoScaling"] is False
    pool, cluster = life.live()
    assert not any(pool.get(part) for part in ("enableAutoScaling", *NOTHING))
    assert not cluster.get("tags")
    assert not (cluster["properties"].get("apiServerAccessProfile") or {}).get("authorizedIPRanges")
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert "gpu" not in bench.changes()


def properties_that_azure_keeps_are_reported(life: Life, full: dict[str, Any]) -> None:
    # AKS keeps each of the two, and refuses both.
    for settings in ({"maxUnavailable": "1", "drainTimeoutMinutes": 60}, SURGE):
        assert life.update({**FULL, **settings}, RANGES, **full) == {"gpu": "update"}
    puts = [put["body"]["properties"] for put in life.bench.requests("PUT", "agentPools/gpu")]
    assert [put["upgradeSettings"] for put in puts[-2:]] == [
        {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutInMinutes": 60},
        {"maxSurge": "33%", "maxUnavailable": "0"},
    ]

    life.write(FULL, RANGES, **full)
    printed = life.bench.pulumi("up", "--yes", "--skip-preview")
    assert "AKS keeps upgradeSettings.maxSurge" in printed


@pytest.mark.nightly
def test_properties_that_azure_never_removes_cannot_be_removed(bench: Bench) -> None:
    """Nothing was sent, and nobody said that the cluster is as before."""
    life = Life(bench, unique("ever"))
    life.update(BARE, {**ENTRA, **PRIVATE})
    sent = len(bench.requests("PUT", life.name))

    for kept, command in (
        (PRIVATE, ["preview"]),
        (ENTRA, ["preview"]),
        (ENTRA, ["up", "--yes", "--skip-preview"]),
    ):
        life.write(BARE, kept)
        assert "keep `" in bench.pulumi(*command, fails=True)

    assert len(bench.requests("PUT", life.name)) == sent
