"""What a user takes out of a stack file, on the engine: gone from Azure, or said not to be.

AKS keeps what a PUT leaves out: tags, labels, taints and ranges of addresses stayed, and `up` said
that they were gone.
"""

from typing import Any

import pytest

from tests.azure_pools import V, path
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure
from tests.test_stacks_on_engine import POOL, stack, up

# Some ten runs of Pulumi each.
pytestmark = [pytest.mark.engine, pytest.mark.long]

BARE = {**POOL, "tainted": False}
SCALED = {"minCount": 1, "maxCount": 3}
FULL = {**BARE, **SCALED, "labels": {"a": "b"}, "taints": ["c=d:NoSchedule"]}
RANGES = {"authorizedIpRanges": ["20.40.60.0/24"]}
NOTHING: dict[str, Any] = {"nodeLabels": {}, "nodeTaints": [], "tags": {}}
ENTRA = {"adminGroupObjectIds": ["6f0f2f5a-4d4b-4d0e-9d3f-2f1c5a9b7e10"]}


def of(name: str, pool: dict[str, Any], cluster: dict[str, Any], **more: Any) -> dict[str, Any]:
    return stack(name, pool, cluster={"name": name, "protect": False, **cluster}, **more)


def live_pool_and_cluster(bench: Bench, name: str) -> tuple[Any, Any]:
    """The pool and the cluster, as Azure has them."""
    azure = Azure(bench.cloud)
    pool = azure.call("GET", f"{path(name)}/agentPools/gpu{V}").body["properties"]
    return pool, azure.call("GET", f"{path(name)}{V}").body


def test_removed_properties_are_removed_in_azure(bench: Bench) -> None:
    name = unique("out")
    config = of(name, FULL, RANGES, systemPool=SCALED, tags={"team": "a"})
    up(bench, config)

    assert up(bench, of(name, BARE, {})).keys() >= {"cluster", "gpu"}

    put = bench.requests("PUT", "agentPools/gpu")[-1]["body"]["properties"]
    assert put.items() >= {**NOTHING, "enableAutoScaling": False}.items()
    puts = [put for put in bench.requests("PUT") if put["path"].endswith(name)]
    put = puts[-1]["body"]
    assert put["tags"] == {}
    assert put["properties"]["apiServerAccessProfile"] == {"authorizedIPRanges": []}
    assert put["properties"]["agentPoolProfiles"][0]["enableAutoScaling"] is False
    pool, cluster = live_pool_and_cluster(bench, name)
    assert not any(pool.get(part) for part in ("enableAutoScaling", *NOTHING))
    assert not cluster.get("tags")
    assert not (cluster["properties"].get("apiServerAccessProfile") or {}).get("authorizedIPRanges")
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert "gpu" not in bench.changes()
    # And back again.
    up(bench, config)
    pool, cluster = live_pool_and_cluster(bench, name)
    assert (pool["nodeLabels"], pool["tags"], cluster["tags"]) == (
        FULL["labels"],
        {"team": "a"},
        {"team": "a"},
    )
    bench.pulumi("destroy", "--yes", "--skip-preview")


def test_values_of_other_clients_are_no_change(bench: Bench) -> None:
    """Tags of Azure Policy made an unchanged stack a PUT each time that AKS had scaled its pool."""
    name = unique("policy")
    scaled = {**BARE, **SCALED}
    config = of(name, scaled, {}, systemPool=SCALED)
    up(bench, config)
    azure = Azure(bench.cloud)
    for address in (f"{path(name)}/agentPools/gpu", path(name)):
        body = azure.call("GET", f"{address}{V}").body
        if address == path(name):
            body["tags"] = {"cost": "1"}
            body["properties"]["agentPoolProfiles"][0]["count"] = 2
        else:
            body["properties"] |= {"count": 3, "tags": {"cost": "1"}}
        assert azure.call("PUT", f"{address}{V}", body).status == 200
        azure.wait(
            f"{address}{V}",
            lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
        )

    assert bench.changes() == {}
    # A label goes with the live count, and the tags stay with those who set them.
    up(bench, of(name, {**scaled, "labels": {"a": "b"}}, {}, systemPool=SCALED))
    pool, cluster = live_pool_and_cluster(bench, name)
    assert (pool["count"], cluster["tags"]) == (3, {"cost": "1"})
    bench.pulumi("destroy", "--yes", "--skip-preview")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param({"entra": ENTRA, "disableLocalAccounts": True}, id="entra"),
        pytest.param({"private": True}, id="private"),
    ],
)
def test_properties_that_azure_never_removes_cannot_be_removed(
    bench: Bench, before: dict[str, Any]
) -> None:
    """Nothing was sent, and nobody said that the cluster is as before."""
    name = unique("ever")
    up(bench, of(name, BARE, before))
    sent = len(bench.requests("PUT", name))

    bench.write_stack(of(name, BARE, {}))
    for command in (["preview"], ["up", "--yes", "--skip-preview"]):
        assert "keep `" in bench.pulumi(*command, fails=True)

    assert len(bench.requests("PUT", name)) == sent
    bench.pulumi("destroy", "--yes", "--skip-preview")


def test_properties_that_azure_keeps_are_reported(bench: Bench) -> None:
    name = unique("kept")
    up(bench, of(name, {**BARE, "maxSurge": "33%"}, {}))

    # AKS keeps each of the two, and refuses both.
    for settings in ({"maxUnavailable": "1", "drainTimeoutMinutes": 60}, {"maxSurge": "33%"}):
        assert up(bench, of(name, {**BARE, **settings}, {})) == {"gpu": "update"}
    puts = [put["body"]["properties"] for put in bench.requests("PUT", "agentPools/gpu")]
    assert [put["upgradeSettings"] for put in puts[1:]] == [
        {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutInMinutes": 60},
        {"maxSurge": "33%", "maxUnavailable": "0"},
    ]

    bench.write_stack(of(name, BARE, {}))
    printed = bench.pulumi("up", "--yes", "--skip-preview")

    assert "AKS keeps the current upgradeSettings.maxSurge" in printed
    bench.pulumi("destroy", "--yes", "--skip-preview")
