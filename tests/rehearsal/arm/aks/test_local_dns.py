"""Local DNS of nodes: what AKS fills in, keeps and refuses, at creation and later."""

from typing import Any

import pytest

from tests.rehearsal.arm.aks.test_as_recorded import cluster
from tests.rehearsal.arm.in_process import Arm

V = "2026-08-01"
SIZE = "Standard_D4ds_v5"
VNET, KUBE = "vnetDNSOverrides", "kubeDNSOverrides"


def zone(protocol: str, destination: str, stale: str) -> dict[str, Any]:
    return {
        "queryLogging": "Error",
        "protocol": protocol,
        "forwardDestination": destination,
        "forwardPolicy": "Sequential",
        "maxConcurrent": 1000,
        "cacheDurationInSeconds": 3600,
        "serveStaleDurationInSeconds": 3600,
        "serveStale": stale,
    }


OF_CLUSTER = zone("ForceTCP", "ClusterCoreDNS", "Immediate")
DEFAULTS = {
    VNET: {".": zone("PreferUDP", "VnetDNS", "Verify"), "cluster.local": OF_CLUSTER},
    KUBE: {".": zone("PreferUDP", "ClusterCoreDNS", "Verify"), "cluster.local": OF_CLUSTER},
}
OTHER = {".": zone("PreferUDP", "VnetDNS", "Immediate"), "cluster.local": OF_CLUSTER}


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


@pytest.fixture
def pool(arm: Arm) -> str:
    path = arm.name()
    assert arm.call("PUT", path, cluster({}), V).status == 201
    return f"{path}/agentPools/p"


def put(arm: Arm, pool: str, **profile: Any) -> Any:
    body = {"properties": {"vmSize": SIZE, "localDNSProfile": profile}}
    return arm.call("PUT", pool, body, V)


def shown(reply: Any) -> Any:
    assert reply.status in (200, 201), reply
    return reply.body["properties"]["localDNSProfile"]


@pytest.mark.parametrize("mode", ["Required", "required", "Preferred", "Disabled"])
def test_a_mode_without_zones_gets_the_zones_of_aks(arm: Arm, pool: str, mode: str) -> None:
    """It came back as it was sent."""
    state = "Enabled" if mode.title() == "Required" else "Disabled"
    expected = {"mode": mode.title(), "state": state, **DEFAULTS}
    assert shown(put(arm, pool, mode=mode)) == expected


def test_an_update_keeps_sections_that_it_leaves_out(arm: Arm, pool: str) -> None:
    """`partial_puts`: the other section went."""
    put(arm, pool, mode="Required")
    both = shown(put(arm, pool, mode="Required", **{VNET: OTHER}))
    assert (both[VNET], both[KUBE]) == (OTHER, DEFAULTS[KUBE])
    off = shown(put(arm, pool, mode="Disabled"))
    assert off == {"mode": "Disabled", "state": "Disabled", VNET: OTHER, KUBE: DEFAULTS[KUBE]}


@pytest.mark.parametrize(("sent", "lacking"), [(VNET, KUBE), (KUBE, VNET)])
def test_a_new_pool_needs_both_sections_or_none(
    arm: Arm, pool: str, sent: str, lacking: str
) -> None:
    """One alone was taken."""
    refused = put(arm, pool, mode="Required", **{sent: DEFAULTS[sent]})
    assert (refused.status, refused.body["target"]) == (400, f"localDNSProfile.{lacking}")
    assert refused.body["message"] == (
        f"The value of parameter localDNSProfile.{lacking} is invalid. Error details: "
        f"{lacking[0].upper()}{lacking[1:]} must not be nil."
    )


@pytest.mark.parametrize("section", [VNET, KUBE])
@pytest.mark.parametrize("there", [[], ["."], ["cluster.local"], ["a.example"]])
def test_a_section_has_both_zones_in_an_update_too(
    arm: Arm, pool: str, section: str, there: list[str]
) -> None:
    """Updates were not looked at."""
    put(arm, pool, mode="Required")
    zones = dict.fromkeys(there, OF_CLUSTER)
    refused = put(arm, pool, mode="Required", **{section: zones})
    lacking = "." if "." not in there else "cluster.local"
    assert (refused.status, refused.body["target"]) == (400, f"localDNSProfile.{section}")
    words = f"zone '\"{lacking}\"' is required in {section[0].upper()}{section[1:]}."
    assert refused.body["message"].endswith(f"Error details: {words}")


@pytest.mark.parametrize(
    ("section", "name", "changed"),
    [
        (VNET, ".", {"forwardDestination": "clustercoredns"}),
        (VNET, "cluster.local", {"forwardDestination": "VnetDNS"}),
        (KUBE, "cluster.local", {"forwardDestination": "VnetDNS"}),
        (KUBE, ".", {"protocol": "ForceTCP", "serveStale": "verify"}),
        (VNET, "a.example", {"protocol": "forcetcp", "serveStale": "Verify"}),
    ],
)
def test_zones_that_forward_nowhere_are_refused(
    arm: Arm, pool: str, section: str, name: str, changed: dict[str, str]
) -> None:
    sections = {**DEFAULTS, section: {**DEFAULTS[section], name: {**OF_CLUSTER, **changed}}}
    refused = put(arm, pool, mode="Required", **sections)
    assert (refused.status, refused.body["target"]) == (400, f"localDNSProfile.{section}")
    assert name in refused.body["message"]
