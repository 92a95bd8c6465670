"""Each rule of a key: what it refuses, and at which path; and what is only a warning."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from aks_catalogue.mistakes import Mistake
from stack_settings.reading import SettingsError, load

T4 = {"vmSize": "Standard_NC8as_T4_v3"}
A100 = {"vmSize": "Standard_NC24ads_A100_v4"}
GB300 = {"vmSize": "Standard_ND128isr_GB300_v6"}
SCALED = {"minCount": 1, "maxCount": 2}
TWO = {"timeSlicing": {"replicas": 2}}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
PLACEMENT = "/subscriptions/s/providers/Microsoft.Compute/proximityPlacementGroups/p"
# The part of a stack file, the properties that it has there, and the path of what is wrong.
CASES: list[tuple[str, dict[str, Any], str]] = [
    # What a rule compares with stood below: the stack file said nothing of these two.
    ("gpuPools[0]", {"name": "abcdefghij", "replacement": "rotate"}, "name"),
    (
        "gpuPools[0]",
        {"labels": {"aks-gpu/pool": "x"}, "replacement": "rotate"},
        'labels["aks-gpu/pool"]',
    ),
    ("gpuPools[0]", {"gpuStack": "x"}, "gpuStack"),
    ("gpuPools[0]", {"count": -1}, "count"),
    ("gpuPools[0]", {"minCount": -1, "maxCount": 1}, "minCount"),
    ("gpuPools[0]", {"minCount": 0, "maxCount": 0}, "maxCount"),
    ("gpuPools[0]", {"count": 2, "minCount": 3, "maxCount": 6}, "maxCount"),
    ("gpuPools[0]", {**GB300, "count": 20}, "count"),
    (
        "gpuPools[0]",
        {**GB300, "count": 18, "minCount": 1, "maxCount": 18, "maxUnavailable": "1"},
        "minCount",
    ),
    ("gpuPools[0]", {**GB300, "count": 0, "minCount": 0, "maxCount": 20}, "maxCount"),
    ("gpuPools[0]", {**GB300, "count": 18}, "maxSurge"),
    ("gpuPools[0]", {**GB300, "count": 18, "maxSurge": "1"}, "maxSurge"),
    ("gpuPools[0]", {"zones": ["1", "4"]}, "zones[1]"),
    ("gpuPools[0]", {"osSku": "Windows2022"}, "osSku"),
    ("gpuPools[0]", {"osDiskSizeGb": 29}, "osDiskSizeGb"),
    ("gpuPools[0]", {"osDiskType": "Big"}, "osDiskType"),
    ("gpuPools[0]", {"osDiskType": "Ephemeral", "osDiskSizeGb": 400}, "osDiskType"),
    ("gpuPools[0]", {"migStrategy": "single"}, "migStrategy"),
    ("gpuPools[0]", {**A100, "migProfile": "MIG1g", "migStrategy": "none"}, "migStrategy"),
    (
        "gpuPools[0]",
        {**A100, "gpuStack": "none", "migProfile": "MIG1g", "migStrategy": "mixed"},
        "migStrategy",
    ),
    ("gpuPools[0]", {"gpuStack": "none", "sharing": TWO}, "sharing"),
    ("gpuPools[0]", {"gpuStack": "specialized-image", "sharing": TWO}, "sharing"),
    (
        "gpuPools[0]",
        {**A100, "migProfile": "MIG1g", "migStrategy": "mixed", "sharing": TWO},
        "sharing",
    ),
    ("gpuPools[0]", {"sharing": {"timeSlicing": {"replicas": 1}}}, "sharing.timeSlicing.replicas"),
    ("gpuPools[0]", {"sharing": {}}, "sharing.timeSlicing"),
    ("gpuPools[0]", {"labels": {"accelerator": "x"}}, "labels.accelerator"),
    ("gpuPools[0]", {"labels": {"a b": "x"}}, 'labels["a b"]'),
    (
        "gpuPools[0]",
        {"labels": {"node-role.kubernetes.io/gpu": "x"}},
        'labels["node-role.kubernetes.io/gpu"]',
    ),
    ("gpuPools[0]", {"labels": {"agentpool": "other"}}, "labels.agentpool"),
    (
        "gpuPools[0]",
        {"labels": {"kubernetes.azure.com/a": "b"}},
        'labels["kubernetes.azure.com/a"]',
    ),
    ("gpuPools[0]", {"maxSurge": "0"}, "maxSurge"),
    ("gpuPools[0]", {"maxSurge": "some"}, "maxSurge"),
    ("gpuPools[0]", {"maxSurge": "00%", "maxUnavailable": "0"}, "maxSurge"),
    ("gpuPools[0]", {"maxSurge": "1", "maxUnavailable": "20%"}, "maxSurge"),
    ("gpuPools[0]", {"maxUnavailable": "-1"}, "maxUnavailable"),
    ("gpuPools[0]", {"capacityReservationGroupId": "r"}, "capacityReservationGroupId"),
    # Green in every preview and in a rehearsal, and refused by AKS.
    (
        "gpuPools[0]",
        {"zones": ["1", "2"], "proximityPlacementGroupId": PLACEMENT},
        "proximityPlacementGroupId",
    ),
    ("gpuPools[0]", {"spot": True, "maxUnavailable": "1"}, "maxUnavailable"),
    ("gpuPools[0]", {"drainTimeoutMinutes": 4}, "drainTimeoutMinutes"),
    ("gpuPools[0]", {"customHeaders": {"a b": "c"}}, 'customHeaders["a b"]'),
    ("gpuPools[0]", {"customHeaders": {"Accept": "c"}}, "customHeaders.Accept"),
    ("gpuPools[0]", {"customHeaders": {"a": "b", "A": "b"}}, "customHeaders.A"),
    ("gpuPools[0]", {"customHeaders": {"a": "b\nc"}}, "customHeaders.a"),
    ("gpuPools[0]", {"gpuStack": "managed", **A100, "migProfile": "MIG1g"}, "migProfile"),
    ("systemPool", {"gpuStack": "managed", **T4}, "vmSize"),
    ("systemPool", {"name": "a-b"}, "name"),
    ("systemPool", {"minCount": 0, "maxCount": 1}, "minCount"),
    ("systemPool", {"count": 6, "minCount": 1, "maxCount": 5}, "maxCount"),
    ("systemPool", {"zones": ["north"]}, "zones[0]"),
    ("systemPool", {"vmSize": "Standard_D1_v2"}, "vmSize"),
    ("systemPools[0]", {"vmSize": "standard_d1_v2"}, "vmSize"),
    ("systemPools[0]", {"vmSize": "Standard_NC8as_T4_v3"}, "vmSize"),
    ("systemPools[0]", {"count": 0}, "count"),
    ("systemPools[0]", {"minCount": 0, "maxCount": 1}, "minCount"),
    ("cluster", {"name": "c" * 64}, "name"),
    ("cluster", {"name": "m\u00fcnchen", "dnsPrefix": "a"}, "name"),
    ("cluster", {"name": "my_cluster"}, "dnsPrefix"),
    ("cluster", {"name": "c" * 55}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": "a.b"}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": "a" * 55}, "dnsPrefix"),
    ("cluster", {"kubernetesVersion": "1.35.2", "upgradeChannel": "patch"}, "upgradeChannel"),
    ("cluster", {"kubernetesVersion": "1.35", "upgradeChannel": "stable"}, "upgradeChannel"),
    ("cluster", {"skuTier": "Gold"}, "skuTier"),
    # AKS takes a range that nobody has, and prod's API server was closed to all.
    ("cluster", {"authorizedIpRanges": ["0.0.0.0/0", "203.0.113.0/24"]}, "authorizedIpRanges[1]"),
    ("cluster", {"userAssignedIdentityId": "own"}, "userAssignedIdentityId"),
    ("cluster", {"disableLocalAccounts": True}, "disableLocalAccounts"),
    ("cluster", {"disableLocalAccounts": True, "entra": {}}, "disableLocalAccounts"),
    ("cluster.entra", {"adminGroupObjectIds": ["admins"]}, "adminGroupObjectIds[0]"),
    ("cluster", {"upgradeChannel": "x"}, "upgradeChannel"),
    ("cluster", {"nodeOsUpgradeChannel": "x"}, "nodeOsUpgradeChannel"),
    ("network", {"mode": "x"}, "mode"),
    ("network", {"subnetId": "n"}, "subnetId"),
    ("devicePlugin", {"edition": "x"}, "edition"),
    ("devicePlugin", {"namespace": "A"}, "namespace"),
]


def from_settings(
    part: str, properties: Mapping[str, Any], warn: Callable[[str], None] = lambda _: None
) -> list[Mistake]:
    if part == "gpuPools[0]":
        value: Any = [{"name": "gpu", **T4, **properties}]
    elif part == "systemPools[0]":
        value = [{"name": "more", **properties}]
    else:
        inner = part.partition(".")[2]
        value = {inner: properties} if inner else dict(properties)
    try:
        load({f"aks-gpu:{re.split(r'[.[]', part)[0]}": json.dumps(value)}, "test", warn)
    except SettingsError as error:
        return [*error.mistakes]
    return []


@pytest.mark.parametrize(("part", "properties", "path"), CASES)
def test_a_mistake_is_reported_by_key(part: str, properties: dict[str, Any], path: str) -> None:
    (mistake,) = from_settings(part, properties)
    assert mistake.path == f"{part}.{path}"
    # Not that there is no such key: rows of withdrawn ones passed by that.
    assert "is not a key" not in mistake.reason


@pytest.mark.parametrize(
    ("part", "properties"),
    [
        ("gpuPools[0]", {"gpuStack": "specialized-image"}),
        ("gpuPools[0]", {**SCALED, "sharing": {"timeSlicing": {"replicas": 2, "rename": True}}}),
        ("gpuPools[0]", {**A100, **SCALED, "migProfile": "MIG1g", "migStrategy": "mixed"}),
        ("gpuPools[0]", {"minCount": 0, "maxCount": 2, "sharing": TWO}),
        ("gpuPools[0]", {"vmSize": "Standard_NCC40ads_H100_v5"}),
    ],
)
def test_a_stack_file_is_warned(part: str, properties: dict[str, Any]) -> None:
    warnings: list[str] = []
    assert from_settings(part, properties, warnings.append) == []
    assert warnings
