"""What the rehearsal does not play is stored, comes back, and is said."""

from collections.abc import Callable
from typing import Any

import pytest

from aks_catalogue.aks_properties import KEPT_INSIDE
from aks_catalogue.aks_types import aks_types
from aksgpu.rehearse import stored_only
from rehearsal import cloud
from rehearsal.arm.aks import fields
from tests.rehearsal.conftest import API_VERSION, Azure

V = f"?api-version={API_VERSION}"
BARE = {"vmSize": "Standard_NC4as_T4_v3", "count": 0}
# What az says of a pool of which its user has said nothing.
BY_AZ = {
    "enableEncryptionAtHost": False,
    "enableFIPS": False,
    "enableNodePublicIP": False,
    "enableUltraSSD": False,
    "scaleDownMode": "Delete",
    "workloadRuntime": "OCIContainer",
}


def test_a_stored_property_is_told_by_its_owner(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Azure]
) -> None:
    """A kubelet setting came back, and nobody was told that no kubelet of the rehearsal has it.

    What the owner had written drowned in what az sends of every pool.
    """
    running = start_cloud()
    azure = azure_of(running)
    cluster = azure.cluster_in("eastus")
    private = azure.call("GET", f"{cluster}{V}").body
    scaled = {"enableAutoScaling": True, "minCount": 1, "maxCount": 3}
    private["properties"]["agentPoolProfiles"][0] |= scaled
    filled = azure.call("PUT", f"{cluster}{V}", private)
    assert filled.status == 200
    azure.wait(
        f"{cluster}{V}", lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded"
    )
    assert stored_only.in_words(cloud.status_of(running.home).clusters) == ""
    filled.body["properties"]["autoScalerProfile"] = {"scan-interval": "20s"}
    assert azure.call("PUT", f"{cluster}{V}", filled.body).status == 200
    pools = {
        "bare": BARE | BY_AZ,
        "one": BARE | {"kubeletConfig": {"cpuManagerPolicy": "static"}, "osDiskType": "Ephemeral"},
        "two": BARE | {"kubeletConfig": {"cpuManagerPolicy": "static"}, "nodeLabels": {"a": "b"}},
    }
    for name, properties in pools.items():
        azure.wait(
            f"{cluster}{V}",
            lambda reply: reply.body["properties"]["provisioningState"] != "Updating",
        )
        path = f"{cluster}/agentPools/{name}{V}"
        assert azure.call("PUT", path, {"properties": properties}).status == 201
        azure.wait(path, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    [told] = cloud.status_of(running.home).clusters
    assert told["storedOnly"] == ["autoScalerProfile.scan-interval"]
    assert {pool["name"]: pool["storedOnly"] for pool in told["pools"]} == {
        "system": [],
        "bare": [],
        "one": ["kubeletConfig"],
        "two": ["kubeletConfig"],
    }
    assert stored_only.in_words([told]) == (
        "Stored, not simulated: autoScalerProfile.scan-interval of cluster cluster; "
        "kubeletConfig of one and two."
    )
    of_two = stored_only.in_words([told, told], ["Microsoft.Network/natGateways"])
    assert [line.partition(" of ")[0] for line in of_two.splitlines()] == [
        "Stored, not simulated: autoScalerProfile.scan-interval",
        "Stored, not simulated: autoScalerProfile.scan-interval",
        "Stored, not simulated: all",
    ]


def test_nothing_is_said_where_all_is_played() -> None:
    assert stored_only.in_words([{"name": "a", "storedOnly": [], "pools": []}]) == ""


def test_a_server_of_another_version_says_nothing() -> None:
    """`aksgpu status` on a server from before ended with a traceback."""
    assert stored_only.in_words([{"name": "a", "pools": [{"name": "gpu"}]}]) == ""


@pytest.mark.parametrize("resource", ["cluster", "pool"])
def test_what_is_played_is_a_property_of_aks(resource: str) -> None:
    known = {*aks_types()[fields.TYPES[resource]], "name"}
    assert [path for path in fields.PLAYED[resource] if path.split(".")[0] not in known] == []


def test_sections_that_keep_what_is_left_out_stand_in_the_catalogue() -> None:
    kept = {path for paths in fields.KEPT_INSIDE.values() for path in paths if path.endswith(".*")}
    assert {path.removesuffix(".*") for path in kept} == KEPT_INSIDE
