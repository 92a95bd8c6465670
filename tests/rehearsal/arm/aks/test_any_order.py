"""In whichever order, in whichever version: a PUT takes what a GET shows, and changes nothing."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rehearsal.arm.aks import types
from tests.rehearsal.arm.aks.test_as_recorded import cluster
from tests.rehearsal.arm.aks.test_taken_back import PREVIEW, STABLE, lost, without_etags
from tests.rehearsal.arm.in_process import Arm
from tests.rehearsal.arm.odd_bodies import twisted

Said = dict[str, Any]
OVERLAY = {"networkPlugin": "azure", "networkPluginMode": "overlay"}
POOL = {"properties": {"vmSize": "Standard_D4ds_v5", "count": 1}}
# What a cluster and a pool may have, a property or some that go together at a time.
OF_CLUSTERS: list[Said] = [
    *(
        {"networkProfile": network}
        for network in (
            {"networkPlugin": "kubenet"},
            {"networkPlugin": "azure"},
            {"networkPlugin": "none"},
            {**OVERLAY, "networkDataplane": "cilium"},
            {"outboundType": "managedNATGateway"},
            {"loadBalancerProfile": {"managedOutboundIPs": {"count": 3}}},
            {"serviceCidr": "10.60.0.0/16", "dnsServiceIP": "10.60.0.10"},
            {"ipFamilies": ["IPv4", "IPv6"]},
        )
    ),
    {"aadProfile": {"managed": True, "enableAzureRBAC": True}, "disableLocalAccounts": True},
    {"oidcIssuerProfile": {"enabled": True}},
    {"securityProfile": {"workloadIdentity": {"enabled": True}}},
    {"autoUpgradeProfile": {"upgradeChannel": "stable", "nodeOSUpgradeChannel": "SecurityPatch"}},
    {"apiServerAccessProfile": {"enablePrivateCluster": True}},
    {"apiServerAccessProfile": {"authorizedIPRanges": ["192.0.2.0/24"]}},
    {"storageProfile": {"diskCSIDriver": {"enabled": False}, "blobCSIDriver": {"enabled": True}}},
    {"addonProfiles": {"azurepolicy": {"enabled": True, "config": {"a": "b"}}}},
    {"autoScalerProfile": {"expander": "priority"}},
    {"kubernetesVersion": "1.34"},
    {"kubernetesVersion": "1.36"},
    {"nodeProvisioningProfile": {"mode": "Auto"}},
    {"httpProxyConfig": {"httpProxy": "http://proxy", "noProxy": ["localhost"]}},
]
OF_POOLS: list[Said] = [
    {"mode": "System"},
    {"scaleSetPriority": "Spot", "spotMaxPrice": 0.5},
    {"enableAutoScaling": True, "minCount": 0, "maxCount": 3},
    {"enableAutoScaling": False},
    {"nodeTaints": ["a=b:NoSchedule"], "nodeLabels": {"a": "b"}, "tags": {"a": "b"}},
    {"nodeTaints": [], "nodeLabels": {}, "tags": {}},
    {"osDiskType": "Managed", "osDiskSizeGB": 128},
    {"osSKU": "AzureLinux", "enableFIPS": True},
    {"upgradeSettings": {"maxSurge": "33%", "drainTimeoutInMinutes": 10}},
    {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}},
    {"vmSize": "Standard_NC8as_T4_v3", "gpuProfile": {"driver": "None"}},
    {"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"},
    {"securityProfile": {"enableVTPM": True}},
    {"networkProfile": {"allowedHostPorts": [{"portStart": 80, "portEnd": 90, "protocol": "TCP"}]}},
    {"orchestratorVersion": "1.34"},
    {"powerState": {"code": "Stopped"}},
    {"powerState": {"code": "Running"}},
    {"count": 3},
]
# What clients of today send: the Azure CLI, azure-native, aks-preview and the SDKs.
VERSIONS = st.sampled_from([STABLE, PREVIEW, "2025-03-01", "2025-09-01", "2026-05-01"])


def merged(base: Said, others: list[Said]) -> Said:
    result = deepcopy(base)
    for other in others:
        for name, value in other.items():
            old = result.get(name)
            if isinstance(value, dict) and isinstance(old, dict):
                result[name] = merged(old, [value])
            else:
                result[name] = deepcopy(value)
    return result


def mixed(kind: str, base: Said, some: list[Said]) -> st.SearchStrategy[Said]:
    """Bodies that are right, or may be but for some values."""
    picked = st.lists(st.sampled_from(some), max_size=4)
    right = picked.map(lambda items: merged(base, [{"properties": one} for one in items]))
    return right | right | twisted(kind, base).filter(_is_of_scale_sets)


def _is_of_scale_sets(body: Said) -> bool:
    """Whether a body is of a scale set: nobody changes pools of single machines in two versions,
    of which one does not know them."""
    return "virtualMachinesProfile" not in str(body)


CLUSTERS = mixed("ManagedCluster", cluster({}), OF_CLUSTERS)
CHANGES = mixed("ManagedCluster", {"location": "eastus", "properties": {}}, OF_CLUSTERS)
POOLS = mixed("AgentPool", POOL, OF_POOLS)
POOL_CHANGES = mixed("AgentPool", {"properties": {}}, OF_POOLS)
# What is done, to which address, with which body.
STEPS = st.one_of(
    st.tuples(st.just("PUT"), st.just(""), CHANGES),
    st.tuples(st.just("PUT"), st.just("/agentPools/p"), POOLS | POOL_CHANGES),
    st.tuples(
        st.just("POST"),
        st.sampled_from(["/start", "/stop", "/abort", "/agentPools/p/upgradeNodeImageVersion"]),
        st.none(),
    ),
    st.tuples(st.just("PATCH"), st.just(""), st.sampled_from([{"tags": {"a": "b"}}, {"tags": {}}])),
)
Steps = list[tuple[tuple[str, str, Any], str]]
STORIES = given(
    made=CLUSTERS,
    version=VERSIONS,
    steps=st.lists(st.tuples(STEPS, VERSIONS), max_size=4),
    read=st.lists(VERSIONS, min_size=1, max_size=3),
)


# What fails is short already, and to make it shorter takes minutes.
some = settings(max_examples=40, deadline=None, phases=[Phase.generate])


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


def goes_back(arm: Arm, path: str, version: str) -> None:
    def read_both() -> list[Any]:
        # Without names that no type has: what becomes of these, nobody knows.
        answers = [arm.call("GET", path, None, one).body for one in (STABLE, PREVIEW)]
        kind = "AgentPool" if "agentPools" in path else "ManagedCluster"
        return [types.known_fields(kind, without_etags(one)) for one in answers]

    shown = arm.call("GET", path, None, version)
    if shown.status == 404:
        return
    before = read_both()
    reply = arm.call("PUT", path, without_etags(shown.body), version)
    if "updating cannot be performed" in str(reply.body):
        return  # A stopped cluster takes no change.
    assert reply.status == 200, (version, reply.body)
    assert not list(lost(before, read_both())), version


def check_answers(arm: Arm, made: Said, version: str, steps: Steps, read: list[str]) -> None:
    path = arm.name()
    if arm.call("PUT", path, made, version).status != 201:
        return
    for (method, where, body), one in [(("GET", "", None), version), *steps]:
        assert arm.call(method, path + where, body, one).status < 500
        for back in read:
            goes_back(arm, path, back)
            goes_back(arm, f"{path}/agentPools/p", back)
    arm.call("DELETE", path, None, STABLE)


@some
@STORIES
def test_an_answer_can_be_put_back_in_any_version(
    arm: Arm, made: Said, version: str, steps: Steps, read: list[str]
) -> None:
    """An older version did not see what a newer one had said in lists, and took it away."""
    check_answers(arm, made, version, steps, read)
