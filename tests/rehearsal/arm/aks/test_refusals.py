"""What AKS refuses and what it takes: one table of requests, each with what comes back.

Each rule has its source beside it, in the tables of refusals; what is taken has it here.
"""

import re
import string
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any, cast

import pytest

from rehearsal import cloud
from rehearsal.arm import errors
from rehearsal.arm.aks.refusals import Case, Rule, judge, rules, unchanged
from tests.names import unique
from tests.rehearsal.conftest import FAST, Azure, new_cluster, wait_until_made

V = "?api-version=2026-08-01"
RULES = {
    rule.name: rule
    for table in ("pool_request", "pool_result", "cluster_request", "cluster_result")
    for rule in rules(table)
}
GROUP = "/resourceGroups/refusals"
CLUSTERS = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters"
A100, T4 = "Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3"
CPU = "Standard_D4ds_v5"
SPOT = {"scaleSetPriority": "Spot"}
SYSTEM = {"mode": "System", "count": 1}
WINDOWS = {"osType": "Windows"}
AMD = {"vmSize": "Standard_ND96isr_MI300X_v5", "gpuProfile": {"driver": "None"}}
MANAGED = {"vmSize": T4, "gpuProfile": {"nvidia": {"managementMode": "Managed"}}}
Sent = dict[str, Any]
LOWER = string.ascii_lowercase + string.digits
NAMES = LOWER + string.ascii_uppercase


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    home = tmp_path_factory.mktemp("refusals")
    azure = Azure(cloud.start(home, FAST))
    for group in (GROUP, "/resourceGroups/another"):
        azure.call("PUT", f"{group}{V}", {"location": "eastus"})
    for name, more in {
        "overlay": {},
        "kubenet": {"networkProfile": {"networkPlugin": "kubenet"}},
        "routes": {
            **network(outboundType="userDefinedRouting"),
            "agentPoolProfiles": [{**POOL, **SUBNET}],
        },
        "flat": {
            "networkProfile": {"networkPlugin": "azure"},
        },
    }.items():
        assert azure.call("PUT", f"{CLUSTERS}/{name}{V}", new_cluster(**more)).status == 201
        wait_until_made(azure, f"{CLUSTERS}/{name}")
    yield azure
    assert cloud.stop(home)


def put_pool(
    azure: Azure, sent: Sent, name: str = "", cluster: str = "overlay", version: str = V
) -> Any:
    body = {"properties": {"vmSize": CPU, "count": 0, **sent}}
    path = f"{CLUSTERS}/{cluster}/agentPools/{name or unique('p')}"
    return azure.call("PUT", f"{path}{version}", body)


def surge(**settings: Any) -> Sent:
    return {"upgradeSettings": settings}


def label(key: str, value: str = "x") -> Sent:
    return {"nodeLabels": {key: value}}


# By rule: what is sent, the code that comes back, and words of the message.
POOLS_REFUSED: list[tuple[str, Sent, str, str]] = [
    ("pool-mode", {"mode": "system"}, "InvalidParameter", "value system is not allowed"),
    ("pool-not-played", {"mode": "ManagedSystem"}, "NotImplemented", "with mode ManagedSystem"),
    ("pool-not-played", WINDOWS, "NotImplemented", "with osType Windows"),
    # It was "Unrecognized", which AKS does not say of it.
    *(
        ("pool-not-played", {"osSKU": sku}, "NotImplemented", f"with osSKU {sku}")
        for sku in ("AzureLinuxOSGuard", "Flatcar", "Windows2022", "CBLMariner")
    ),
    ("pool-not-played", {"type": "AvailabilitySet"}, "NotImplemented", "type AvailabilitySet"),
    (
        "agentPool-gpuInstanceProfile",
        {"vmSize": A100, "gpuInstanceProfile": "MIG9g"},
        "InvalidParameter",
        "Only MIG1g, MIG2g, MIG3g, MIG4g and MIG7g are allowed.",
    ),
    ("pool-os-sku", {"osSKU": "Banana"}, "InvalidOSSKU", "OSSKU='Banana' is invalid"),
    ("pool-taint-grammar", {"nodeTaints": ["a=b:Never"]}, "InvalidParameter", "NoSchedule"),
    ("pool-label-grammar", label("a", "x" * 64), "InvalidParameter", "63 letters"),
    (
        "pool-label-of-aks",
        label("kubernetes.azure.com/mode", "user"),
        "BadRequest",
        "Invalid node label key kubernetes.azure.com/mode. The 'kubernetes.azure.com' prefix is",
    ),
    ("pool-label-of-kubernetes", label("kubernetes.io/hostname"), "BadRequest", "allowed prefix"),
    ("pool-label-without-prefix", label("accelerator"), "NodeLabelKeyNotAllowed", "accelerator"),
    ("pool-label-without-prefix", label("agentpool"), "NodeLabelKeyNotAllowed", "agentpool"),
    ("pool-maxSurge-grammar", surge(maxSurge="some"), "InvalidParameter", "a number"),
    ("pool-maxUnavailable-grammar", surge(maxUnavailable="some"), "InvalidParameter", "a number"),
    (
        "pool-autoscaled-minCount",
        {"enableAutoScaling": True, "maxCount": 2},
        "InvalidParameter",
        "agentPoolProfile.minCount is missing",
    ),
    (
        "pool-autoscaled-maxCount",
        {"enableAutoScaling": True, "minCount": 0},
        "InvalidParameter",
        "agentPoolProfile.maxCount is missing",
    ),
    ("pool-not-autoscaled-minCount", {"minCount": 1}, "InvalidParameter", "enableAutoScaling"),
    ("pool-not-autoscaled-maxCount", {"maxCount": 1}, "InvalidParameter", "enableAutoScaling"),
    ("pool-count", {"count": 1001}, "InvalidParameter", "count was 1001. It must be greater or"),
    (
        "pool-count",
        {"mode": "System", "count": 0},
        "InvalidParameter",
        "was 0. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000. "
        "If allowedMinCount was expected to be 0 but is 1: 1) The nodepool is a VMAS pool. 2) api "
        "Version is less than 2020-03-01. 3) The node is a system pool.",
    ),
    (
        "pool-minCount",
        {**SYSTEM, "enableAutoScaling": True, "minCount": 0, "maxCount": 2},
        "InvalidParameter",
        "agentPoolProfile.minCount was 0",
    ),
    (
        "pool-maxCount",
        {"enableAutoScaling": True, "minCount": 0, "maxCount": 2000},
        "InvalidParameter",
        "agentPoolProfile.maxCount was 2000",
    ),
    (
        "pool-limits-in-order",
        {"enableAutoScaling": True, "minCount": 3, "maxCount": 2},
        "InvalidParameter",
        "greater than maxCount",
    ),
    (
        "pool-count-within-limits",
        {"enableAutoScaling": True, "count": 9, "minCount": 2, "maxCount": 4},
        "InvalidParameter",
        "count was 9. It must be greater or equal to minCount:2 and less than or equal to",
    ),
    # A name was taken where Azure wants an id.
    (
        "pool-subnet-id",
        {"vnetSubnetID": "banana"},
        "LinkedInvalidPropertyId",
        "Property id 'banana' at path 'properties.vnetSubnetID' is invalid.",
    ),
    ("system-pool-regular", {**SYSTEM, **SPOT}, "SystemPoolMustBeRegular", "regular"),
    (
        "system-pool-taints",
        {**SYSTEM, "nodeTaints": ["sku=gpu:NoSchedule"]},
        "SystemPoolHasRestrictedTaint",
        "Placing custom taints on system pool is not supported",
    ),
    (
        "system-pool-size",
        {**SYSTEM, "vmSize": "Standard_D1_v2"},
        "SystemPoolSkuTooLow",
        "System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: p",
    ),
    (
        "system-pool-unavailable",
        {**SYSTEM, **surge(maxSurge="0", maxUnavailable="1")},
        "InvalidParameter",
        "maxUnavailable",
    ),
    (
        "pool-size-restricted",
        {"vmSize": "Standard_D1_v2"},
        "VMSizeRestrictedByAKS",
        "Standard_D1_v2",
    ),
    (
        "spot-surge",
        {**SPOT, **surge(maxSurge="33%")},
        "InvalidParameter",
        "The value of parameter agentPoolProfile.upgradeSettings.maxSurge is invalid. Error "
        "details: Spot pools can't set max surge.",
    ),
    (
        "spot-unavailable",
        {**SPOT, **surge(maxUnavailable="1")},
        "InvalidParameter",
        "Spot pools can't set maxUnavailable.",
    ),
    (
        "surge-or-unavailable",
        surge(maxSurge="0"),
        "InvalidParameter",
        "maxSurge and maxUnavailable cannot both be 0.",
    ),
    (
        "surge-and-unavailable",
        surge(maxSurge="1", maxUnavailable="1"),
        "InvalidParameter",
        "maxSurge and maxUnavailable cannot both bigger than 0.",
    ),
    ("pool-drain-timeout", surge(drainTimeoutInMinutes=2), "InvalidParameter", "5 and 1440"),
    ("pool-drain-timeout", surge(drainTimeoutInMinutes=5000), "InvalidParameter", "5 and 1440"),
    ("pool-node-soak", surge(nodeSoakDurationInMinutes=500), "InvalidParameter", "0 and 30"),
    ("spot-price", {**SPOT, "spotMaxPrice": 0}, "InvalidParameter", "five decimal places"),
    ("spot-price", {**SPOT, "spotMaxPrice": 0.123456}, "InvalidParameter", "five decimal"),
    ("pool-pods-too-few", {"maxPods": 9}, "InsufficientMaxPods", "9"),
    ("pool-pods-too-many", {"maxPods": 251}, "MaxPodsLimitExceeded", "251"),
    (
        "pool-pods-in-all",
        {"count": 2, "maxPods": 10},
        "InsufficientAgentPoolMaxPodsPerAgentPool",
        "20 pods",
    ),
    ("pool-os-disk-size", {"osDiskSizeGB": 10}, "InvalidParameter", "30 and 2048"),
    ("pool-os-disk-size", {"osDiskSizeGB": 99999}, "InvalidParameter", "30 and 2048"),
    (
        "ephemeral-disk",
        {"vmSize": "Standard_D4s_v5", "osDiskType": "Ephemeral"},
        "VMSizeDoesNotSupportEphemeralOS",
        "The Virtual Machine size Standard_D4s_v5 does not support Ephemeral OS disk.",
    ),
    (
        "ephemeral-disk-fits",
        {"vmSize": "Standard_D8ds_v4", "osDiskType": "Ephemeral", "osDiskSizeGB": 310},
        "VMCannotFitEphemeralOSDisk",
        "The virtual machine size Standard_D8ds_v4 has a cache size of 214748364800 bytes and "
        "temporary disk size of 322122547200 bytes, but the OS disk requires 332859965440 bytes.",
    ),
    (
        "kubelet-disk",
        {"vmSize": "Standard_B2s", "kubeletDiskType": "Temporary"},
        "VMTemporaryDiskTooSmall",
        "has a max temporary disk size of 8589934592 bytes, but the kubelet disk requires "
        "32212254720 bytes. Use a VM size with larger temporary disk or use the OS disk for",
    ),
    *(
        (
            "mig-size",
            {"vmSize": size, "gpuInstanceProfile": "MIG1g"},
            "InvalidParameter",
            f"MIG1g is not supported on VM size {size}",
        )
        for size in (T4, CPU, "Standard_NV6ads_A10_v5")
    ),
    (
        "gpu-without-driver",
        {"vmSize": "Standard_ND96isr_MI300X_v5"},
        "BadRequest",
        "AMD Instinct MI300X",
    ),
    *(
        ("amd-gpu-os", {**AMD, "osSKU": sku}, "InvalidParameter", "Standard_ND96isr_MI300X_v5")
        for sku in ("AzureLinux", "AzureLinux3")
    ),
    # Ephemeral is what AKS fills in for this size.
    (
        "pool-deallocate-ephemeral",
        {"vmSize": T4, "scaleDownMode": "Deallocate"},
        "InvalidParameter",
        "needs a managed OS disk",
    ),
    (
        "gpu-skip-tag",
        {"vmSize": T4, "tags": {"SkipGPUDriverInstall": "true"}},
        "BadRequest",
        "SkipGPUDriverInstall",
    ),
    (
        "managed-gpu-autoscaler",
        {**MANAGED, "enableAutoScaling": True, "minCount": 0, "maxCount": 3},
        "InvalidParameter",
        "the cluster autoscaler is not supported on managed GPU node pools",
    ),
    ("managed-gpu-nvidia", {**MANAGED, "vmSize": CPU}, "InvalidParameter", "with NVIDIA GPUs"),
]

# What is sent, and where it is on record that AKS takes it.
POOLS_TAKEN: list[tuple[Sent, str]] = [
    ({}, "aso (18)"),
    ({**SYSTEM, "vmSize": "Standard_DS2_v2"}, "Managed 128 on DS2_v2 (4,294)"),
    ({**SYSTEM, "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}, "the rule's own words"),
    ({**SYSTEM, "nodeTaints": ["sku=gpu:PreferNoSchedule"]}, "the rule's own words"),
    ({**SYSTEM, "maxPods": 30}, "maxPods 30 for plugin azure (570)"),
    ({"osSKU": "AzureLinux", "nodeTaints": [], "nodeLabels": {}}, "nodeTaints [] (3,056)"),
    (
        {
            "scaleSetPriority": "Regular",
            "scaleSetEvictionPolicy": "Delete",
            "spotMaxPrice": -1,
            "mode": "User",
            "kubeletDiskType": "OS",
        },
        "what `az` sends (4,948)",
    ),
    ({**SPOT, "spotMaxPrice": 88.88888}, "create_spot_node_pool_msi (36)"),
    ({**SPOT, **surge()}, "upgradeSettings {} (35)"),
    (surge(maxSurge="1", maxUnavailable="0"), "maxUnavailable 0 is filled in (94)"),
    (surge(drainTimeoutInMinutes=5, nodeSoakDurationInMinutes=30), "2023-09..2024-09 (5)"),
    (surge(undrainableNodeBehavior="Cordon"), "2023-09..2024-09 (5)"),
    (surge(maxSurge="0", maxUnavailable="1"), "page: Upgrade node pools, rolling"),
    ({"maxPods": 250}, "azure with overlay (201)"),
    ({"maxPods": 10, "count": 3}, "page: IP address planning in AKS"),
    ({"osDiskSizeGB": 0}, "page: create or update an agent pool"),
    ({"osDiskType": "Managed"}, "Managed without a size (40)"),
    (
        {"vmSize": T4, "scaleDownMode": "Deallocate", "osDiskType": "Managed"},
        "page: Use scale-down mode in AKS",
    ),
    (
        {"vmSize": "Standard_DS2_v2", "osDiskType": "Ephemeral", "osDiskSizeGB": 60},
        "Ephemeral 60 GB on DS2_v2 (44)",
    ),
    ({"vmSize": T4, "osDiskType": "Ephemeral"}, "NC4as_T4_v3 is ephemeral by default (4)"),
    ({"vmSize": "Standard_D4ds_v6", "osDiskType": "Ephemeral"}, "on NVMe: the size is not known"),
    ({"vmSize": "Standard_D8ds_v5", "kubeletDiskType": "Temporary"}, "page: concepts of storage"),
    (label("node.kubernetes.io/lifecycle", "spot"), "issue: Azure/AKS#1937"),
    (label("kubelet.kubernetes.io/team", "ml"), "the rule's own words"),
    (label("example.com/kubernetes.io"), "a domain of its own"),
    ({"vmSize": A100, "gpuInstanceProfile": "MIG3g"}, "MIG3g (14)"),
    ({"vmSize": T4, "gpuProfile": {"driver": "None"}}, "driver None (1, new)"),
    (AMD, "page: AKS release notes of 2025-10"),
    ({**AMD, "osSKU": "Ubuntu"}, "page: Use AMD GPUs on AKS"),
    (
        {"vmSize": "Standard_NV4ads_V710_v5", "gpuProfile": {"driver": "None"}},
        "page: AKS release notes of 2025-10",
    ),
    ({"workloadRuntime": "OCIContainer"}, "the default"),
    ({"availabilityZones": ["1", "2"], "tags": {"team": "ml"}}, "availability_zones_msi"),
]


@pytest.mark.parametrize(("rule", "sent", "code", "words"), POOLS_REFUSED)
def test_an_invalid_pool_is_refused(
    today: Azure, rule: str, sent: Sent, code: str, words: str
) -> None:
    """Nearly all of these were taken, and a stack that had them was green here alone."""
    refused = put_pool(today, sent)
    error = refused.body.get("error", refused.body)
    status = 501 if code == "NotImplemented" else 400
    assert (refused.status, error.get("code")) == (status, code), refused
    assert words in error["message"]
    assert error.get("target") == target(rule, sent)


@pytest.mark.parametrize(("sent", "source"), POOLS_TAKEN)
def test_a_valid_pool_is_accepted(today: Azure, sent: Sent, source: str) -> None:
    taken = put_pool(today, sent)
    assert taken.status == 201, (source, taken.body)


def target(name: str, sent: Sent) -> str | None:
    path = RULES[name].target
    pair = next(iter((sent.get("nodeLabels") or {"": ""}).items()))
    return path.replace("{label}", "=".join(map(str, pair))) if path else None


@pytest.mark.parametrize(
    ("rule", "name", "cluster", "sent", "code"),
    [
        ("pool-name", "Gpu", "overlay", {}, "InvalidParameter"),
        ("pool-name", "a23456789012x", "overlay", {}, "InvalidParameter"),
    ],
)
def test_a_pool_that_conflicts_with_its_name_or_cluster_is_refused(
    today: Azure, rule: str, name: str, cluster: str, sent: Sent, code: str
) -> None:
    refused = put_pool(today, sent, name, cluster)
    assert (refused.status, refused.body["code"]) == (400, code)
    assert refused.body.get("target") == RULES[rule].target


def test_preview_versions_have_their_own_rules(today: Azure) -> None:
    """`test_aks_create_with_managed_system_pool` (2, 2025-07); Upgrade node pools, rolling."""
    preview = "?api-version=2026-08-02-preview"
    both = surge(maxSurge="1", maxUnavailable="1")
    assert put_pool(today, both, version=preview).status == 201
    tainted = {**SYSTEM, "nodeInitializationTaints": ["a=b:NoExecute"]}
    refused = put_pool(today, tainted, version=preview)
    assert (refused.status, refused.body["code"]) == (400, "SystemPoolHasRestrictedTaint")


def test_a_pool_with_an_ephemeral_disk_is_not_set_to_deallocate(today: Azure) -> None:
    """`pool-deallocate-ephemeral` was taken at an update too: az aks nodepool update does it."""
    name = unique("p")
    assert put_pool(today, {"vmSize": T4}, name).status == 201
    wait_until_made(today, f"{CLUSTERS}/overlay/agentPools/{name}")
    refused = put_pool(today, {"vmSize": T4, "scaleDownMode": "Deallocate"}, name)
    assert refused.body.get("target") == "agentPoolProfile.scaleDownMode"


def test_an_existing_pool_can_shrink_below_thirty_pods(today: Azure) -> None:
    """AKS looks at a new pool alone: Azure/AKS#1422."""
    put_pool(today, {"count": 3, "maxPods": 10}, "shrinks")
    path = f"{CLUSTERS}/overlay/agentPools/shrinks"
    wait_until_made(today, path)
    assert put_pool(today, {"count": 1, "maxPods": 10}, "shrinks").status == 200


def network(**profile: Any) -> Sent:
    return {"networkProfile": profile}


AZURE = {"networkPlugin": "azure"}
OVERLAY = {**AZURE, "networkPluginMode": "overlay"}
SERVICES = {"serviceCidr": "10.20.0.0/16", "dnsServiceIP": "10.20.0.10"}
SUBNET = {"vnetSubnetID": f"/subscriptions/s{GROUP}/x/virtualNetworks/v/subnets/one"}


def api(**profile: Any) -> Sent:
    return {"apiServerAccessProfile": profile}


POOL = {"name": "system", "mode": "System", "vmSize": CPU, "count": 1}


def with_pool(**profile: Any) -> Sent:
    return {"agentPoolProfiles": [POOL | profile]}


# By rule: properties, or the keys beside them under "", and what comes back.
CLUSTERS_REFUSED: list[tuple[str, Sent, str, str]] = [
    ("cluster-location", {"": {"location": "atlantis"}}, "LocationNotAvailableForResourceType", ""),
    ("cluster-dns-prefix", {"dnsPrefix": "x" * 60}, "InvalidParameter", "1 to 54"),
    ("cluster-dns-prefix", {"dnsPrefix": "a_b"}, "InvalidParameter", "1 to 54"),
    (
        "cluster-identity-type",
        {"": {"identity": {"userAssignedIdentities": {}}}},
        "InvalidRequestContent",
        "'type'",
    ),
    (
        "cluster-identity-id",
        {"": {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"banana": {}}}}},
        "LinkedInvalidPropertyId",
        "Property id 'banana' at path '' is invalid. Expect fully qualified resource Id that start "
        "with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.",
    ),
    (
        "cluster-subnet-id",
        {"agentPoolProfiles": [POOL, {**POOL, "name": "two", "vnetSubnetID": "banana"}]},
        "LinkedInvalidPropertyId",
        "'properties.agentPoolProfiles[1].vnetSubnetID'",
    ),
    ("cluster-pools-said", {"agentPoolProfiles": []}, "InvalidParameter", "agentPoolProfiles"),
    # The last one was made.
    (
        "cluster-pools-of-one-name",
        {"agentPoolProfiles": [POOL, {**POOL, "count": 3}]},
        "InvalidParameter",
        "several pools have the name system",
    ),
    ("cluster-dns-prefix-said", {"dnsPrefix": None}, "InvalidParameter", "dnsPrefix is missing"),
    ("cluster-identity-said", {"": {"identity": None}}, "InvalidParameter", "servicePrincipal"),
    (
        "cluster-identity-type-known",
        {"": {"identity": {"type": "banana"}}},
        "InvalidParameter",
        "Only SystemAssigned, UserAssigned and None are allowed.",
    ),
    *(
        (f"cluster-networkProfile-{name}", network(**{name: "banana"}), code, "banana")
        for name, code in {
            "networkPlugin": "UnknownNetworkPlugin",
            "networkPluginMode": "InvalidParameter",
            "networkPolicy": "InvalidParameter",
            "networkDataplane": "InvalidParameter",
            "loadBalancerSku": "InvalidLoadBalancerSku",
            "outboundType": "UnsupportedOutboundType",
        }.items()
    ),
    (
        "cluster-node-group-there",
        {"nodeResourceGroup": "Another"},
        "NodeResourceGroupAlreadyExists",
        "already exists, please provide a new one.",
    ),
    (
        "cluster-pools-most",
        {"agentPoolProfiles": [POOL | {"name": f"p{number}"} for number in range(101)]},
        "MaxAgentPoolCountReached",
        "100",
    ),
    (
        "cluster-load-balancer-basic",
        network(loadBalancerSku="basic"),
        "InvalidParameter",
        "no longer supported",
    ),
    (
        "cluster-node-group-length",
        {"nodeResourceGroup": "g" * 90},
        "InvalidParameter",
        "The length of the node resource group name is too long. The maximum length is 80 and the "
        "length of the value provided is 90.",
    ),
    (
        "cluster-node-group-own",
        {"nodeResourceGroup": "Refusals"},
        "NodeResourceGroupSameAsResourceGroup",
        "which is not allowed, please provide a different node resource group.",
    ),
    ("cluster-podCidr-range", network(**OVERLAY, podCidr="x"), "CidrStringParseError", "'x'"),
    (
        "cluster-serviceCidr-range",
        network(serviceCidr="nonsense", dnsServiceIP="10.0.0.10"),
        "CidrStringParseError",
        "nonsense",
    ),
    (
        "cluster-policy-azure",
        network(networkPlugin="kubenet", networkPolicy="azure"),
        "NetworkPolicyAzureNotSupportedForKubenet",
        "",
    ),
    (
        "cluster-policy-cilium",
        network(**OVERLAY, networkPolicy="cilium"),
        "NetworkPolicyNotSupported",
        "Network Policy cilium requires NetworkDataplane cilium",
    ),
    (
        "cluster-dataplane-cilium",
        network(**OVERLAY, networkDataplane="cilium", networkPolicy="azure"),
        "BadRequest",
        "Cilium dataplane requires network policy cilium.",
    ),
    (
        "cluster-services-size",
        network(serviceCidr="10.0.0.0/8", dnsServiceIP="10.0.0.10"),
        "InvalidParameter",
        "smaller than /12",
    ),
    (
        "cluster-services-link-local",
        network(serviceCidr="169.254.0.0/20", dnsServiceIP="169.254.0.10"),
        "InvalidParameter",
        "reserved",
    ),
    (
        "cluster-pods-reserved",
        network(**OVERLAY, podCidr="172.16.0.0/12"),
        "InvalidParameter",
        "reserved",
    ),
    (
        "cluster-pods-and-services",
        network(**OVERLAY, podCidr="10.0.0.0/16"),
        "PodCidrOverlapServiceCidr",
        "10.0.0.0/16",
    ),
    (
        "cluster-pods-too-few",
        network(**OVERLAY, podCidr="10.250.0.0/25"),
        "InsufficientPodCidr",
        "for 0 nodes",
    ),
    (
        "cluster-dns-in-services",
        network(serviceCidr="10.200.0.0/16", dnsServiceIP="10.0.0.10"),
        "DnsServiceIpOutOfServiceCidr",
        "The DNS service IP 10.0.0.10 is out of the range defined by service CIDR 10.200.0.0/16.",
    ),
    (
        "cluster-dns-first",
        network(**SERVICES | {"dnsServiceIP": "10.20.0.1"}),
        "DnsServiceIpConflicting",
        "",
    ),
    # Settings no longer judge it, and here it was green too.
    (
        "cluster-dns-address",
        network(**SERVICES | {"dnsServiceIP": "10.20.0.300"}),
        "InvalidParameter",
        "'10.20.0.300' is not an IP address",
    ),
    (
        "cluster-dns-last",
        network(**SERVICES | {"dnsServiceIP": "10.20.255.255"}),
        "DnsBroadcastAddressConflicting",
        "",
    ),
    (
        "cluster-routes-and-balancer",
        network(outboundType="userDefinedRouting", loadBalancerProfile={"idleTimeoutInMinutes": 9}),
        "InvalidUserDefinedRoutingWithLoadBalancerProfile",
        "are mutually exclusive",
    ),
    # A program's own subnet is an output, which no argument's rule can read.
    (
        "cluster-nat-with-subnet",
        {**network(outboundType="managedNATGateway"), **with_pool(**SUBNET)},
        "InvalidParameter",
        "Outbound type is managedNATGateway but agent pool '' is using custom VNet",
    ),
    (
        "cluster-routes-without-subnet",
        network(outboundType="userDefinedRouting"),
        "InvalidParameter",
        "subnet",
    ),
    (
        "cluster-nat-without-subnet",
        network(outboundType="userAssignedNATGateway"),
        "UserAssignedNATGatewayWithManagedVNetNotAllowed",
        "",
    ),
    ("cluster-long-term-tier", {"supportPlan": "AKSLongTermSupport"}, "BadRequest", "Premium"),
    (
        "cluster-local-accounts",
        {"disableLocalAccounts": True},
        "BadRequest",
        "Since kubernetes version 1.25, disableLocalAccounts can only be set on Azure AD",
    ),
    (
        "cluster-administrators",
        {"aadProfile": {"managed": True, "adminGroupObjectIDs": ["admins"]}},
        "InvalidAdminGroupObjectID",
        "admins",
    ),
    # The server made as many addresses as were asked for, and answered nobody meanwhile.
    (
        "cluster-load-balancer-addresses",
        network(loadBalancerProfile={"managedOutboundIPs": {"count": 10**9}}),
        "InvalidParameter",
        "it was 1000000000. It must be between 1 and 100.",
    ),
    (
        "cluster-nat-addresses",
        network(natGatewayProfile={"managedOutboundIPProfile": {"count": 17}}),
        "InvalidParameter",
        "between 1 and 16.",
    ),
    (
        "cluster-private-ranges",
        api(enablePrivateCluster=True, authorizedIPRanges=["1.2.3.4/32"]),
        "InvalidParameter",
        "private",
    ),
    (
        "cluster-private-names",
        api(enablePrivateCluster=True, privateDNSZone="none", enablePrivateClusterPublicFQDN=False),
        "NonePrivateDNSZonePublicFQDNDisabledError",
        "",
    ),
    (
        "cluster-gateway-api",
        {"ingressProfile": {"gatewayAPI": {"installation": "standard"}}},
        "BadRequest",
        "requires at least one implementation",
    ),
]

GATEWAY = {"gatewayAPI": {"installation": "Standard"}}
CLUSTERS_TAKEN: list[tuple[Sent, str]] = [
    ({"ingressProfile": {"gatewayAPI": {"installation": "Disabled"}}}, "the default"),
    (
        {"ingressProfile": GATEWAY, "serviceMeshProfile": {"mode": "Istio"}},
        "managed_gateway_requires_service_mesh (2025-10)",
    ),
    (
        {
            "ingressProfile": {
                **GATEWAY,
                "webAppRouting": {
                    "gatewayAPIImplementations": {"appRoutingIstio": {"mode": "enabled"}}
                },
            }
        },
        "approuting_gateway_istio_enable_disable (2026-04)",
    ),
    ({}, "aso (10)"),
    ({"": {"sku": {"name": "base", "tier": "standard"}}}, "any case, as the CLI's users write it"),
    ({"": {"sku": {"name": "Base", "tier": "Premium"}}}, "issue: Azure/AKS#4707"),
    (
        {"": {"sku": {"name": "Base", "tier": "Premium"}}, "supportPlan": "AKSLongTermSupport"},
        "page: Long-term support in AKS",
    ),
    (network(networkPlugin="Azure"), "page: AKS release notes of 2026-08-07"),
    (network(**OVERLAY, networkDataplane="cilium", networkPolicy="cilium"), "n=201, overlay"),
    (network(**OVERLAY, networkDataplane="cilium"), "networkPolicy cilium is filled in (84)"),
    (network(**OVERLAY, podCidr="100.64.0.0/16"), "page: Azure CNI Overlay (RFC 6598)"),
    (network(**OVERLAY, podCidr="10.250.0.0/24"), "a /24 for the one node"),
    (network(networkPlugin="none"), "create_with_network_plugin_none (21)"),
    (network(networkPlugin="kubenet", networkPolicy="calico"), "page: Use network policies"),
    (network(**SERVICES), "page: IP address planning in AKS"),
    (
        {**network(outboundType="userDefinedRouting"), **with_pool(**SUBNET)},
        "page: Customize cluster egress with outbound types",
    ),
    (network(outboundType="managedNATGateway"), "page: Create a managed NAT gateway"),
    (api(enablePrivateCluster=True), "create_private_cluster"),
    (
        api(enablePrivateCluster=True, enablePrivateClusterPublicFQDN=False),
        "page: Create a private AKS cluster: without a zone, it is the system's",
    ),
    (
        api(privateDNSZone="none", enablePrivateClusterPublicFQDN=False),
        "a cluster that is not private has no zone",
    ),
    (api(authorizedIPRanges=["1.2.3.4/32", "AzureCloud"]), "page: service tags (preview)"),
    ({"aadProfile": {"managed": True}, "disableLocalAccounts": True}, "aadProfile, managed (9)"),
    ({"autoUpgradeProfile": {"upgradeChannel": "node-image"}}, "update_with_auto_upgrade"),
    ({"nodeResourceGroup": "x" * 80}, "the rule's own words"),
    ({"nodeProvisioningProfile": {"mode": "Auto"}}, "automatic_sku"),
    ({"": {"tags": {"a": "x" * 256, **{str(n): "" for n in range(49)}}}}, "the limit itself"),
]


def put_cluster(azure: Azure, sent: Sent, name: str = "") -> Any:
    body = new_cluster(**{key: value for key, value in sent.items() if key})
    body |= sent.get("", {})
    return azure.call("PUT", f"{CLUSTERS}/{name or unique('c')}{V}", body)


@pytest.mark.parametrize(("rule", "sent", "code", "words"), CLUSTERS_REFUSED)
def test_an_invalid_cluster_is_refused(
    today: Azure, rule: str, sent: Sent, code: str, words: str
) -> None:
    """Nearly all of these were taken, and a stack that had them was green here alone."""
    refused = put_cluster(today, sent)
    error = refused.body.get("error", refused.body)
    assert (refused.status, error.get("code")) == (400, code), refused
    assert words in error["message"]
    assert error.get("target") == RULES[rule].target


@pytest.mark.parametrize(
    ("tags", "code", "words"),
    [
        ({str(n): "" for n in range(51)}, "InvalidTags", "50"),
        ({"a<b": "x"}, "InvalidTagNameCharacters", "The tag names 'a<b' have reserved characters"),
        ({"cost/center": "x"}, "InvalidTagNameCharacters", "cost/c"),
        ({"a": "x" * 257}, "InvalidTags", "256"),
    ],
)
def test_tags_of_pools_and_clusters_have_the_limits_of_all(
    today: Azure, tags: Sent, code: str, words: str
) -> None:
    """Nobody judged those of pools: AKS puts them on scale sets, and Azure says it late."""
    for refused in (put_pool(today, {"tags": tags}), put_cluster(today, {"": {"tags": tags}})):
        error = refused.body["error"]
        assert (refused.status, error["code"]) == (400, code), refused
        assert words in error["message"]
        assert error.get("target") is None


@pytest.mark.parametrize(("sent", "source"), CLUSTERS_TAKEN)
def test_a_valid_cluster_is_accepted(today: Azure, sent: Sent, source: str) -> None:
    taken = put_cluster(today, sent)
    assert taken.status == 201, (source, taken.body)


@pytest.mark.parametrize(
    ("rule", "name", "words"),
    [
        ("cluster-name", "a-", "1 to 63"),
        ("cluster-name-reserved", "azure", '"azure" managed cluster name is invalid because it is'),
        ("cluster-name-reserved", "login1", "'LOGIN' and 'XBOX' can't be used at the start"),
        ("cluster-name-reserved", "omsagent-aks-dev-microsoft", "'MICROSOFT' and 'WINDOWS' can't"),
    ],
)
def test_an_invalid_cluster_name_is_refused(today: Azure, rule: str, name: str, words: str) -> None:
    refused = put_cluster(today, {}, name)
    assert (refused.status, refused.body["code"]) == (400, "InvalidParameter")
    assert words in refused.body["message"]
    assert refused.body["target"] == RULES[rule].target


def test_the_generated_name_of_the_node_resource_group_is_limited(today: Azure) -> None:
    """It was cut at 80 characters, and taken."""
    refused = put_cluster(today, {}, "c" * 63)
    assert (refused.status, refused.body["code"]) == (400, "InvalidParameter")
    assert "length of the value provided is 82" in refused.body["message"]


def test_the_oidc_issuer_cannot_be_disabled(today: Azure) -> None:
    """`cluster-issuer-off`: it was taken, and workload identities broke on Azure alone."""
    name = unique("issuer")
    assert put_cluster(today, {"oidcIssuerProfile": {"enabled": True}}, name).status == 201
    wait_until_made(today, f"{CLUSTERS}/{name}")
    refused = put_cluster(today, {"oidcIssuerProfile": {"enabled": False}}, name)
    assert (refused.status, refused.body["code"]) == (400, "OIDCIssuerFeatureCannotBeDisabled")
    assert refused.body["message"] == "OIDC issuer feature cannot be disabled."


def test_two_clusters_do_not_share_a_node_resource_group(today: Azure) -> None:
    """`cluster-node-group-there`: the group of another cluster's nodes is there as well."""
    assert put_cluster(today, {"nodeResourceGroup": "MC_shared"}, unique("one")).status == 201
    other = put_cluster(today, {"nodeResourceGroup": "mc_SHARED"}, unique("other"))
    assert (other.status, other.body["code"]) == (400, "NodeResourceGroupAlreadyExists")


def test_the_driver_can_be_changed_to_none_where_the_old_tag_skipped_it() -> None:
    """Azure/azure-cli#32531: it is the one change of a driver that AKS makes."""
    before = {"gpuProfile": {"driver": "Install"}, "tags": {"skipGPUdriverInstall": "true"}}
    skipped = {"gpuProfile": {"driver": "None"}}
    unchanged("pool", before, skipped, skipped)
    for tags in ({}, {"SkipGPUDriverInstall": "false"}):
        with pytest.raises(errors.ArmError, match="PropertyChangeNotAllowed"):
            unchanged("pool", before | {"tags": tags}, skipped, skipped)
    with pytest.raises(errors.ArmError, match="PropertyChangeNotAllowed"):
        unchanged("pool", before | skipped, before, before)


def pool_case(**values: Any) -> Case:
    return Case(
        name="gpu",
        sent=values,
        values={"mode": "User", "count": 0, **values},
        cluster={},
        group="g",
        location="eastus",
        api_version="2026-08-01",
        today=date(2026, 11, 22),
    )


def is_refused(rules_: tuple[Rule, ...], case: Case) -> bool:
    try:
        judge(rules_, case)
    except errors.ArmError:
        return True
    return False


@pytest.mark.parametrize("rule", sorted(RULES))
def test_each_enumeration_has_its_values_in_any_case(rule: str) -> None:
    known_rule = RULES[rule]
    only = re.search(r"Only (.*) are allowed", known_rule.error.message)
    if only is None or rule == "pool-mode":
        return
    for value in re.split(", | and ", only[1]):
        for spelled in (value, value.lower(), value.upper()):
            assert not is_refused(
                (known_rule,), replace(pool_case(), values=at_path(known_rule.at, spelled))
            )
    values = at_path(known_rule.at, "banana")
    assert is_refused((known_rule,), replace(pool_case(), values=values))


def at_path(path: str, value: object) -> Sent:
    result = value
    for name in reversed(path.split(".")):
        is_list = name.endswith("[]")
        result = {name.removesuffix("[]"): [result] if is_list else result}
    return cast(Sent, result)


def test_each_rule_has_a_request_that_breaks_it() -> None:
    shown = {row[0] for row in (*POOLS_REFUSED, *CLUSTERS_REFUSED)} | SHOWN_BY_A_TEST
    # Each of them has a request in test_enumerations.py.
    shown |= {name for name, rule in RULES.items() if "are allowed." in rule.error.message}
    known = {*RULES}
    assert known - shown == set()
    assert shown - known == set()


SHOWN_BY_A_TEST = {
    "pool-most",
    "pool-name",
    "cluster-name",
    "cluster-name-reserved",
    "cluster-issuer-off",
}


def test_a_cluster_has_a_hundred_pools_at_most() -> None:
    """`pool-most`: 137 were made, while the cluster itself said `maxAgentPools: 100`."""
    case = replace(pool_case(mode="User", count=0), name="more")
    full = replace(case, others=[f"p{number}" for number in range(100)])
    assert not is_refused(rules("pool_result"), case)
    assert is_refused(rules("pool_result"), full)
