"""Which changes reimage all nodes."""

from typing import Any

import pytest

from aks_catalogue.aks_properties import CLUSTER, POOL
from aks_catalogue.aks_types import aks_types


def network(**values: Any) -> dict[str, Any]:
    return {"networkProfile": values}


def zone(name: str) -> dict[str, Any]:
    return {"apiServerAccessProfile": {"enablePrivateCluster": True, "privateDNSZone": name}}


@pytest.mark.parametrize(
    ("old", "new", "reimages"),
    [
        ({}, network(networkPolicy="azure"), True),
        (network(networkPolicy="azure"), network(networkPolicy="none"), True),
        # From one to the other needs none.
        (network(networkPolicy="azure"), network(networkPolicy="calico"), False),
        # AKS keeps what a program takes out.
        (network(networkPolicy="azure"), {}, False),
        (network(networkDataplane="azure"), network(networkDataplane="cilium"), True),
        ({}, network(networkDataplane="azure"), False),
        (network(ipFamilies=["IPv4"]), network(ipFamilies=["IPv4", "IPv6"]), True),
        (network(ipFamilies=["IPv4"]), network(ipFamilies=["IPv4"]), False),
        (network(networkPluginMode=""), network(networkPluginMode="overlay"), True),
        # A private cluster has a zone of Azure's where none is set.
        ({}, zone("none"), True),
        ({}, zone("system"), False),
        # It waits for the next upgrade of the node image.
        ({}, network(outboundType="none"), False),
    ],
)
def test_a_cluster_by_the_change(old: dict[str, Any], new: dict[str, Any], reimages: bool) -> None:
    assert bool(CLUSTER.reimaging(old, new)) == reimages


@pytest.mark.parametrize(
    ("path", "old", "new", "reimages"),
    [
        ("osSKU", None, "Ubuntu", False),
        ("osSKU", None, "AzureLinux", True),
        ("osSKU", "AzureLinux", "Ubuntu2404", True),
        ("osSKU", "Ubuntu2204", "Ubuntu2404", True),
        ("localDNSProfile", {"mode": "Preferred"}, {"mode": "Required"}, True),
        ("enableFIPS", None, False, False),
        ("enableFIPS", False, True, True),
        ("orchestratorVersion", "1.34", "1.35", True),
        # The version that the pool has already, as far as anybody knows.
        ("orchestratorVersion", None, "1.35", False),
        ("capacityReservationGroupID", None, "/subscriptions/s", True),
        ("count", 1, 2, False),
    ],
)
def test_a_pool_by_the_change(path: str, old: Any, new: Any, reimages: bool) -> None:
    assert bool(POOL.reimaging({path: old}, {path: new})) == reimages


@pytest.mark.parametrize(
    ("kind", "path"),
    [("ManagedClusterProperties", path) for path in CLUSTER.reimages]
    + [("AgentPoolManagedClusterAgentPoolProfileProperties", path) for path in POOL.reimages],
)
def test_the_paths_are_of_the_api(kind: str, path: str) -> None:
    """A misspelled one would find nothing, and nobody would notice."""
    for name in path.split("."):
        if not kind.startswith("map of"):
            kind = aks_types()[kind][name]
