"""A stack file and a program that uses the components are told the same mistakes."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest

from aks_catalogue.mistakes import Mistake
from components import (
    AksCluster,
    AksClusterArgs,
    EntraArgs,
    ExistingAksCluster,
    ExistingAksClusterArgs,
    ExistingResourceGroup,
    ExistingResourceGroupArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    NetworkArgs,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SharingArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
    TimeSlicingArgs,
)
from components.arguments import check
from components.declared import camel_case, rules_of
from stack_settings.reading import SettingsError, load
from stack_settings.section import SECTIONS, Section
from stack_settings.stack_file import parse
from tests.conftest import Deploy

T4 = {"vmSize": "Standard_NC8as_T4_v3"}
A100 = {"vmSize": "Standard_NC24ads_A100_v4"}
GB300 = {"vmSize": "Standard_ND128isr_GB300_v6"}
SCALED = {"minCount": 1, "maxCount": 2}
TWO = {"timeSlicing": {"replicas": 2}}
NAMES = {"resource_group_name": "g", "cluster_name": "c"}
PLACE = {**NAMES, "location": "eastus"}


def cluster(**args: Any) -> AksCluster:
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5")
    if isinstance(entra := args.get("entra"), dict):
        args["entra"] = EntraArgs(**entra)
    return AksCluster("it", AksClusterArgs(**{**PLACE, "system_pool": pool, **args}))


def gpu_pool(**args: Any) -> GpuNodePool:
    if isinstance(sharing := args.get("sharing"), dict):
        slicing = sharing.get("timeSlicing")
        args["sharing"] = SharingArgs(
            mps=sharing.get("mps"), time_slicing=TimeSlicingArgs(**slicing) if slicing else None
        )
    named = {**NAMES, "pool_name": "gpu", "vm_size": T4["vmSize"], **args}
    return GpuNodePool("it", GpuNodePoolArgs(**named))


def further_system_pool(**args: Any) -> SystemNodePool:
    named = {**NAMES, "pool_name": "more", "vm_size": "Standard_D4ds_v5", **args}
    return SystemNodePool("it", SystemNodePoolArgs(**named))


def plugin(**args: Any) -> NvidiaDevicePlugin:
    pools = [PluginPoolArgs(pool_name="gpu")]
    return NvidiaDevicePlugin("it", NvidiaDevicePluginArgs(**{"pools": pools, **args}))


def group(**args: Any) -> ResourceGroup:
    return ResourceGroup(
        "it", ResourceGroupArgs(**{"resource_group_name": "g", "location": "eastus", **args})
    )


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
    ("gpuPools[0]", {"count": 1001}, "count"),
    ("gpuPools[0]", {"minCount": -1, "maxCount": 1}, "minCount"),
    ("gpuPools[0]", {"minCount": 0, "maxCount": 0}, "maxCount"),
    ("gpuPools[0]", {"minCount": 3, "maxCount": 6}, "maxCount"),
    ("gpuPools[0]", {"count": 2, "minCount": 3, "maxCount": 6}, "maxCount"),
    ("gpuPools[0]", {"count": 7, "minCount": 3, "maxCount": 6}, "maxCount"),
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
    ("gpuPools[0]", {"sharing": {"timeSlicing": {"replicas": -4}}}, "sharing.timeSlicing.replicas"),
    ("gpuPools[0]", {"sharing": {"mps": {"replicas": 4}}}, "sharing.mps"),
    ("gpuPools[0]", {"sharing": {"mps": {}, **TWO}}, "sharing.mps"),
    ("gpuPools[0]", {"sharing": {}}, "sharing.timeSlicing"),
    ("gpuPools[0]", {"labels": {"accelerator": "x"}}, "labels.accelerator"),
    ("gpuPools[0]", {"labels": {"a b": "x"}}, 'labels["a b"]'),
    (
        "gpuPools[0]",
        {"labels": {"node-role.kubernetes.io/gpu": "x"}},
        'labels["node-role.kubernetes.io/gpu"]',
    ),
    ("gpuPools[0]", {"labels": {"agentpool": "other"}}, "labels.agentpool"),
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
    ("gpuPools[0]", {"maxPods": 9}, "maxPods"),
    ("gpuPools[0]", {"maxPods": 251}, "maxPods"),
    ("gpuPools[0]", {"spot": True, "maxUnavailable": "1"}, "maxUnavailable"),
    ("gpuPools[0]", {"drainTimeoutMinutes": 4}, "drainTimeoutMinutes"),
    ("gpuPools[0]", {"drainTimeoutMinutes": 1441}, "drainTimeoutMinutes"),
    ("gpuPools[0]", {"nodeSoakMinutes": -1}, "nodeSoakMinutes"),
    ("gpuPools[0]", {"nodeSoakMinutes": 31}, "nodeSoakMinutes"),
    ("gpuPools[0]", {"undrainableNodeBehavior": "cordon"}, "undrainableNodeBehavior"),
    ("gpuPools[0]", {"customHeaders": {"a b": "c"}}, 'customHeaders["a b"]'),
    ("gpuPools[0]", {"customHeaders": {"Accept": "c"}}, "customHeaders.Accept"),
    ("gpuPools[0]", {"customHeaders": {"a": "b", "A": "b"}}, "customHeaders.A"),
    ("gpuPools[0]", {"customHeaders": {"a": "b\nc"}}, "customHeaders.a"),
    ("gpuPools[0]", {"gpuStack": "managed", "minCount": 0, "maxCount": 3}, "maxCount"),
    ("gpuPools[0]", {"gpuStack": "managed", "maxCount": 3}, "maxCount"),
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
    ("cluster", {"name": "a.b", "dnsPrefix": "a"}, "name"),
    ("cluster", {"name": "-a", "dnsPrefix": "a"}, "name"),
    ("cluster", {"name": "m\u00fcnchen", "dnsPrefix": "a"}, "name"),
    ("cluster", {"name": "my_cluster"}, "dnsPrefix"),
    ("cluster", {"name": "c" * 55}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": "a.b"}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": "-a"}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": ""}, "dnsPrefix"),
    ("cluster", {"dnsPrefix": "a" * 55}, "dnsPrefix"),
    ("cluster", {"kubernetesVersion": "1.35.2", "upgradeChannel": "patch"}, "upgradeChannel"),
    ("cluster", {"kubernetesVersion": "1.35", "upgradeChannel": "stable"}, "upgradeChannel"),
    ("cluster", {"kubernetesVersion": "1.35", "upgradeChannel": "rapid"}, "upgradeChannel"),
    ("gpuPools[0]", {"kubernetesVersion": "1.9"}, "kubernetesVersion"),
    ("gpuPools[0]", {"kubernetesVersion": "newest"}, "kubernetesVersion"),
    ("cluster", {"skuTier": "Gold"}, "skuTier"),
    ("cluster", {"authorizedIpRanges": ["here"]}, "authorizedIpRanges[0]"),
    # prod opened its API server to a range that nobody has, and nothing said so.
    ("cluster", {"authorizedIpRanges": ["0.0.0.0/0", "203.0.113.0/24"]}, "authorizedIpRanges[1]"),
    ("cluster", {"authorizedIpRanges": ["198.51.100.7/32"]}, "authorizedIpRanges[0]"),
    ("cluster", {"authorizedIpRanges": ["2001:db8:1::/48"]}, "authorizedIpRanges[0]"),
    ("network", {"podCidr": "192.0.2.0/24"}, "podCidr"),
    ("cluster", {"authorizedIpRanges": [""]}, "authorizedIpRanges[0]"),
    ("cluster", {"userAssignedIdentityId": "own"}, "userAssignedIdentityId"),
    ("cluster", {"disableLocalAccounts": True}, "disableLocalAccounts"),
    ("cluster", {"disableLocalAccounts": True, "entra": {}}, "disableLocalAccounts"),
    ("cluster.entra", {"adminGroupObjectIds": ["admins"]}, "adminGroupObjectIds[0]"),
    ("network", {"podCidr": ""}, "podCidr"),
    ("network", {"serviceCidr": ""}, "serviceCidr"),
    ("cluster", {"upgradeChannel": "x"}, "upgradeChannel"),
    ("cluster", {"nodeOsUpgradeChannel": "x"}, "nodeOsUpgradeChannel"),
    ("network", {"mode": "x"}, "mode"),
    ("network", {"subnetId": "n"}, "subnetId"),
    ("network", {"podCidr": "here"}, "podCidr"),
    ("network", {"serviceCidr": "here"}, "serviceCidr"),
    ("network", {"serviceCidr": "10.0.0.0/8", "dnsServiceIp": "10.0.0.10"}, "serviceCidr"),
    ("network", {"podCidr": "10.0.0.0/14"}, "serviceCidr"),
    ("network", {"serviceCidr": "10.244.0.0/20", "dnsServiceIp": "10.244.0.10"}, "serviceCidr"),
    (
        "network",
        {"podCidr": "10.20.0.0/16", "serviceCidr": "10.20.0.0/20", "dnsServiceIp": "10.20.0.10"},
        "serviceCidr",
    ),
    ("network", {"serviceCidr": "10.2.0.0/16", "dnsServiceIp": "10.2.0.1"}, "dnsServiceIp"),
    ("network", {"serviceCidr": "10.2.0.0/16", "dnsServiceIp": "10.2.255.255"}, "dnsServiceIp"),
    ("network", {"dnsServiceIp": "10.0.0.10"}, "dnsServiceIp"),
    ("network", {"serviceCidr": "10.0.0.0/16", "dnsServiceIp": "there"}, "dnsServiceIp"),
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
    assert [mistake.path for mistake in from_settings(part, properties)] == [f"{part}.{path}"]


@pytest.mark.parametrize("section", SECTIONS.values())
def test_a_section_has_the_rules_of_its_arguments(section: type[Section]) -> None:
    """A stack file and a component are told the same: what a component refuses has a line there."""
    for doubtful in (False, True):
        of_section = section.rules(doubtful=doubtful)
        for property_, rules in rules_of(section.arguments, doubtful=doubtful).items():
            name = re.sub(f"^{camel_case(section.named)}$", "name", property_)
            assert name.removesuffix("[]") not in section.known_keys() or (
                list(of_section[name])[: len(rules)] == rules
            )


def test_each_wrong_entry_of_a_map_is_a_mistake_of_its_own() -> None:
    """All wrong headers of a pool were one sentence of clauses, at the place of `customHeaders`."""
    wrong = {
        "customHeaders": {"host": "x", "fine": "x", "a b": "y"},
        "labels": {"a b": "x", "agentpool": "x"},
    }
    in_stack_file = from_settings("gpuPools[0]", wrong)

    assert [mistake.path.removeprefix("gpuPools[0].") for mistake in in_stack_file] == [
        "customHeaders.host",
        'customHeaders["a b"]',
        'labels["a b"]',
        "labels.agentpool",
    ]
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        gpu_pool(custom_headers=wrong["customHeaders"], labels=wrong["labels"])
    reported = [f"gpuPools[0].{each['property_path']}" for each in refused.value.errors or ()]
    assert sorted(reported) == sorted(mistake.path for mistake in in_stack_file)
    file = parse(
        "config:\n  aks-gpu:gpuPools:\n  - customHeaders:\n      host: x\n      a b: y\n", "stack"
    )
    assert [file.with_place(mistake)[-11:] for mistake in in_stack_file[:2]] == [
        "(stack:4:7)",
        "(stack:5:7)",
    ]


@pytest.mark.parametrize("make", [group, cluster])
def test_components_report_the_long_name_of_a_region_as_a_stack_file(
    deploy: Deploy, make: Callable[..., object]
) -> None:
    """`West Europe` was refused in a stack file by a pattern, and taken by every component."""
    with pytest.raises(SettingsError) as in_stack_file:
        load({"aks-gpu:location": "West Europe"}, "test", pytest.fail)

    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError) as refused:
            make(location="West Europe")
        assert str(refused.value) == f"it: {in_stack_file.value}"

    assert not deploy(program).registered


@pytest.mark.parametrize("make", [group, cluster, gpu_pool, further_system_pool])
@pytest.mark.parametrize(
    "tags", [{"a/b": "hidden"}, {"a": "hidden" * 50}, {"a": "b", "c" * 513: ""}]
)
def test_every_component_reports_wrong_tags_as_a_stack_file_without_the_values(
    deploy: Deploy, make: Callable[..., object], tags: dict[str, str]
) -> None:
    """Azure refused them, after the stack had begun."""
    (in_stack_file,) = from_settings("tags", tags)
    assert in_stack_file.path.startswith("tags")

    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError) as refused:
            make(tags=tags)
        assert str(refused.value) == f"it: {in_stack_file}"
        assert "hidden" not in str(refused.value)

    assert not deploy(program).registered


@pytest.mark.parametrize(
    ("part", "properties"),
    [
        ("gpuPools[0]", {"vmSize": "Standard_NC8as_T4_v4"}),
        ("gpuPools[0]", {"vmSize": "Standard_NC6"}),
        ("gpuPools[0]", {"gpuStack": "specialized-image"}),
        ("gpuPools[0]", {**A100, "migProfile": "MIG1g", "sharing": TWO}),
        ("gpuPools[0]", {**SCALED, "sharing": {"timeSlicing": {"replicas": 2, "rename": True}}}),
        ("gpuPools[0]", {**A100, **SCALED, "migProfile": "MIG1g", "migStrategy": "mixed"}),
        ("gpuPools[0]", {"minCount": 0, "maxCount": 2, "sharing": TWO}),
        ("systemPool", {"vmSize": "Standard_ND1_v9"}),
        ("cluster", {"kubernetesVersion": "1.99"}),
        # Clusters that are there have them, and new ones are refused.
        ("cluster", {"name": "Azure"}),
        ("cluster", {"name": "login-gpu"}),
        ("cluster", {"name": "for-windows"}),
        ("network", {"serviceCidr": "8.8.0.0/16", "dnsServiceIp": "8.8.0.10"}),
        ("network", {"serviceCidr": "169.254.0.0/20", "dnsServiceIp": "169.254.0.10"}),
        ("network", {"podCidr": "172.16.0.0/12"}),
    ],
)
def test_a_stack_file_is_warned(part: str, properties: dict[str, Any]) -> None:
    warnings: list[str] = []
    assert from_settings(part, properties, warnings.append) == []
    assert warnings


def test_a_component_warns_of_all_its_arguments(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, _: messages.append(text))
    pool = SystemPoolArgs(vm_size="Standard_ND1_v9")
    network = NetworkArgs(pod_cidr="172.16.0.0/12")
    deploy(lambda: cluster(kubernetes_version="1.99", system_pool=pool, network=network))
    assert [message.split()[0] for message in messages] == ["Kubernetes", "Standard_ND1_v9", "AKS"]


def test_an_existing_cluster_may_have_any_name() -> None:
    """A stack of pools for `aks-windows-prod` could not be used."""
    messages: list[str] = []
    assert (
        from_settings("cluster", {"name": "aks-windows", "existing": True}, messages.append) == []
    )
    assert messages == []


def test_all_mistakes_of_a_component_are_reported_at_once(deploy: Deploy) -> None:
    network = NetworkArgs(mode="x", pod_cidr="here")
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5", gpu_stack="x", zones=["4"])

    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError) as refused:
            cluster(sku_tier="Gold", network=network, system_pool=pool)
        assert str(refused.value).splitlines() == [
            "it: skuTier: must be 'Free', 'Standard' or 'Premium', not 'Gold'",
            "it: systemPool.zones[0]: must be '1', '2' or '3', not '4'",
            "it: systemPool.gpuStack: must be 'device-plugin', 'managed', "
            "'operator', 'specialized-image' or 'none', not 'x'",
            "it: network.mode: must be 'overlay' or 'subnet', not 'x'",
            "it: network.podCidr: 'here' is not an IP range: use CIDR "
            "notation, such as 10.0.0.0/16",
        ]

    assert not deploy(program).registered


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExistingAksCluster(
            "it", ExistingAksClusterArgs(resource_group_name="g", cluster_name="c" * 64)
        ),
        lambda: ExistingResourceGroup(
            "it", ExistingResourceGroupArgs(resource_group_name="g" * 91)
        ),
    ],
)
def test_names_of_existing_resources_are_validated(
    deploy: Deploy, make: Callable[[], object]
) -> None:
    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError):
            make()

    assert not deploy(program).registered


def test_entra_needs_groups_only_where_there_are_no_local_accounts(deploy: Deploy) -> None:
    """AKS takes Entra without either; `entra: {}` was refused."""
    assert from_settings("cluster", {"entra": {}}) == []
    groups = pulumi.Output.from_input(["a"])
    deploy(lambda: cluster(entra={}))
    deploy(lambda: cluster(disable_local_accounts=True, entra={"admin_group_object_ids": groups}))
    deploy(lambda: cluster(disable_local_accounts=True, entra={"azure_rbac": True}))


def test_a_header_for_the_image_needs_the_image() -> None:
    """A component has no property `image`, so it names another remedy."""
    args = GpuNodePoolArgs(
        resource_group_name="g",
        cluster_name="c",
        pool_name="gpu",
        vm_size=T4["vmSize"],
        custom_headers={"usegpudedicatedvhd": "true"},
    )
    with pytest.raises(pulumi.InputPropertiesError, match="set gpuStack: specialized-image"):
        check("it", args)


@pytest.mark.parametrize(
    "later",
    [
        {"vm_size": "Standard_D4ds_v5"},
        {"count": -1},
        {"zones": ["4"]},
        {"labels": {"accelerator": "x"}},
        {"spot_max_price": 0.5},
    ],
)
def test_an_output_is_not_validated_before_it_is_known(
    deploy: Deploy, later: dict[str, Any]
) -> None:
    deploy(
        lambda: gpu_pool(**{name: pulumi.Output.from_input(value) for name, value in later.items()})
    )


def test_a_list_that_contains_an_output_is_not_validated(deploy: Deploy) -> None:
    deploy(lambda: gpu_pool(zones=["4", pulumi.Output.from_input("1")]))


def test_pools_of_the_device_plugin_are_validated() -> None:
    """A misspelled GPU stack left the pool out in silence: it had no plugin, and so no GPUs."""
    pools = [
        PluginPoolArgs(pool_name="good"),
        PluginPoolArgs(pool_name="gpu", gpu_stack="device_plugin", node_taints=["a=b"]),
    ]
    with pytest.raises(pulumi.InputPropertiesError) as caught:
        plugin(pools=pools)
    assert re.findall(r"pools\[1\]\.\w+(?:\[0\])?", str(caught.value)) == [
        "pools[1].gpuStack",
        "pools[1].nodeTaints[0]",
    ]


def test_a_value_of_the_wrong_type_is_a_mistake() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="labels: cannot be None"):
        gpu_pool(labels=None)
    with pytest.raises(pulumi.InputPropertiesError, match="customHeaders: cannot be"):
        gpu_pool(custom_headers={"UseGPUDedicatedVHD": True})


@pytest.mark.parametrize("zones", [["2"], []])
def test_a_placement_group_goes_with_one_zone(zones: list[str]) -> None:
    assert (
        from_settings("gpuPools[0]", {"zones": zones, "proximityPlacementGroupId": PLACEMENT}) == []
    )
