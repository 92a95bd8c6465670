import contextlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue import clusters, resource_groups
from aks_catalogue.sizes import AS_OF
from aks_catalogue.today import TODAY_VARIABLE
from stack_settings.model import Cluster, Settings
from stack_settings.reading import SettingsError, load
from tests.bench import ROOT

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
A100 = {"name": "gpu", "vmSize": "Standard_NC24ads_A100_v4"}
OLD = {"name": "gpu", "vmSize": "Standard_NC6"}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"


def configuration(**values: Any) -> dict[str, str]:
    """A stack's configuration as the engine hands it over: texts, and JSON for what is not."""
    return {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }


def read(warnings: list[str] | None = None, **values: Any) -> Settings:
    messages: list[str] = []
    stack = load(configuration(**values), "test", messages.append)
    assert messages == (warnings or [])
    return stack


def mistakes(**values: Any) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(configuration(**values), "test", lambda warning: pytest.fail(f"no warning: {warning}"))
    return str(refused.value).splitlines()


def test_configuration_of_other_namespaces_is_ignored() -> None:
    assert load({"azure-native:location": "westeurope"}, "test", pytest.fail) == read()


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"count": 18, "maxUnavailable": "1"}, None),
        ({"count": 0, "minCount": 0, "maxCount": 36, "maxSurge": "18"}, None),
        ({"count": 18, "maxSurge": "100%"}, None),
        ({"count": 18, "spot": True}, None),
        (
            {},
            "count: is 1, and Azure gives Standard_ND128isr_GB300_v6 only in racks of 18 nodes: "
            "use a multiple of 18, such as 18",
        ),
        (
            {"count": 36},
            "maxSurge: is 10% by default, so an upgrade of 36 nodes adds 4, and Azure gives "
            "Standard_ND128isr_GB300_v6 only in racks of 18 nodes: set maxUnavailable, such as 1, "
            "to upgrade without extra nodes, or maxSurge: 18",
        ),
    ],
)
def test_what_comes_in_racks_has_the_nodes_of_whole_ones(
    keys: dict[str, Any], reason: str | None
) -> None:
    """Azure says so once everything else has been made, and of an upgrade months later."""
    pool = {"name": "rack", "vmSize": "standard_nd128isr_gb300_v6", "gpuStack": "none", **keys}
    if reason is None:
        assert read(gpuPools=[pool]).gpu_pools[0].name == "rack"
    else:
        assert mistakes(gpuPools=[pool]) == [f"gpuPools[0].{reason}"]


def pool_version(cluster: dict[str, Any], **pool: Any) -> str:
    return read(cluster=cluster, gpuPools=[{**POOL, **pool}]).gpu_pools[0].kubernetes_version


def test_a_pool_has_its_clusters_version_or_an_older_one() -> None:
    """GPU pools had no version: they stayed behind until AKS refused the next upgrade."""
    assert pool_version({"kubernetesVersion": "1.35"}) == "1.35"
    assert pool_version({"kubernetesVersion": "1.35", "upgradeChannel": "patch"}) == "1.35"
    assert pool_version({"kubernetesVersion": "1.35"}, kubernetesVersion="1.34") == "1.34"
    assert pool_version({}) == ""
    assert pool_version({}, kubernetesVersion="1.34") == "1.34"
    theirs = {"name": "theirs", "existing": True}
    assert pool_version(theirs, kubernetesVersion="1.34") == "1.34"


@pytest.mark.parametrize(
    ("cluster", "version", "reason"),
    [
        ({"kubernetesVersion": "1.35"}, "1.36", "1.36 is newer than the cluster's 1.35: "),
        ({"kubernetesVersion": "1.35.1"}, "1.35.2", "1.35.2 is newer than the cluster's 1.35.1: "),
        ({"kubernetesVersion": "1.35.1"}, "1.31", "1.31 is more than 3 minor versions older"),
        ({"upgradeChannel": "stable"}, "1.34", "stable upgrades the version"),
        ({"upgradeChannel": "rapid"}, "1.34", "rapid upgrades the version"),
        ({"kubernetesVersion": "1.35", "upgradeChannel": "patch"}, "1.34.4", "patch upgrades the"),
    ],
)
def test_a_pool_version_that_conflicts_with_the_cluster_is_refused(
    cluster: dict[str, Any], version: str, reason: str
) -> None:
    (message,) = mistakes(cluster=cluster, gpuPools=[{**POOL, "kubernetesVersion": version}])

    assert message.startswith(f"gpuPools[0].kubernetesVersion: {reason}")


@pytest.mark.parametrize(
    "cluster",
    [
        {"kubernetesVersion": "1.35", "upgradeChannel": "patch"},
        {"kubernetesVersion": "1.35.2", "upgradeChannel": "node-image"},
        {"upgradeChannel": "stable"},
        {"name": "c" * 54},
        {"name": "my_cluster", "dnsPrefix": "My-Cluster-1"},
        {"name": "my_cluster", "existing": True},
        {"dnsPrefix": "1"},
    ],
)
def test_valid_versions_and_names_of_clusters_are_accepted(cluster: dict[str, Any]) -> None:
    read(cluster=cluster)


def test_further_system_pools_replace_the_first_one() -> None:
    """The first one is part of the cluster's own request: nothing but a new cluster replaced it."""
    more = {"name": "system2", "count": 3}
    stack = read(
        cluster={"kubernetesVersion": "1.35"}, systemPool={"removed": True}, systemPools=[more]
    )

    (pool,) = stack.system_pools
    assert (pool.name, pool.count, pool.kubernetes_version) == ("system2", 3, "1.35")
    assert stack.first_pool == []


@pytest.mark.parametrize(
    ("pools", "path"),
    [
        ([{"name": "system"}], "systemPools[0].name"),
        ([{"name": "two", "vmSize": "Standard_NC8as_T4_v3"}], "systemPools[0].vmSize"),
        ([{"name": "two", "count": 0}], "systemPools[0].count"),
        ([{"name": "two", "minCount": 0, "maxCount": 2}], "systemPools[0].minCount"),
        ([{"name": "two", "kubernetesVersion": "1.36"}], "systemPools[0].kubernetesVersion"),
    ],
)
def test_mistakes_in_further_system_pools_are_reported_by_key(
    pools: list[dict[str, Any]], path: str
) -> None:
    messages = mistakes(cluster={"kubernetesVersion": "1.35"}, systemPools=pools)

    assert [line.partition(":")[0] for line in messages] in ([path], ["systemPool.name", path])


def test_the_first_system_pool_is_not_removed_without_another() -> None:
    (message,) = mistakes(systemPool={"removed": True})

    assert message.startswith("systemPools: a cluster needs a system pool")


def test_numbers_and_booleans_are_read_from_strings() -> None:
    stack = read(allowRetired="true", location="westeurope", gpuPools=[{**POOL, "count": "2"}])

    assert (stack.allow_retired, stack.location) == (True, "westeurope")
    assert stack.gpu_pools[0].count == 2


def test_settings_that_an_existing_cluster_would_ignore_are_refused() -> None:
    """It was passed over in silence."""
    messages = mistakes(
        cluster={"existing": True, "name": "theirs", "kubernetesVersion": "1.35", "private": False},
        network={"subnetId": "/subnets/nodes", "mode": "overlay"},
        systemPool={"count": 3},
        gpuPools=[POOL],
    )
    reason = "has no effect on an existing cluster (cluster.existing: true): remove this key"
    keys = ("cluster.kubernetesVersion", "cluster.private", "network.mode", "systemPool.count")
    assert messages == [f"{key}: {reason}" for key in keys]

    there = {"existing": True, "name": "theirs"}
    read(cluster=there, network={"subnetId": "/subnets/nodes"}, gpuPools=[POOL])


@pytest.mark.parametrize("stack", ["dev", "Team-7", "x" * 46])
def test_group_and_cluster_are_named_by_their_stack(stack: str) -> None:
    """Two people who set no name met in `myAKSCluster`, the cluster of a published article."""
    for keys in ({}, {"cluster": {"protect": False}, "resourceGroup": {"name": ""}}):
        made = load(configuration(**keys), stack, pytest.fail)
        assert (made.resource_group.name, made.cluster.name) == (f"aks-gpu-{stack}",) * 2
    own = load(configuration(cluster={"name": "own"}), stack, pytest.fail)
    assert (own.resource_group.name, own.cluster.name) == (f"aks-gpu-{stack}", "own")


@pytest.mark.parametrize(
    ("stack", "keys"),
    [
        ("prod.eu", ["cluster.name"]),
        ("eu.", ["resourceGroup.name", "cluster.name"]),
        ("eu-", ["cluster.name"]),
        ("x" * 83, ["resourceGroup.name", "cluster.name"]),
        ("x" * 47, ["cluster.dnsPrefix"]),
        ("prod_eu", ["cluster.dnsPrefix"]),
    ],
)
def test_a_stack_whose_name_makes_none_for_azure_has_to_set_it(stack: str, keys: list[str]) -> None:
    with pytest.raises(SettingsError) as refused:
        load({}, stack, pytest.fail)
    assert [mistake.path for mistake in refused.value.mistakes] == keys
    for path, reason in refused.value.mistakes:
        assert "set" in reason
        assert f"'aks-gpu-{stack}' is not a valid" in reason.replace(", is not", " is not"), path
    named = {"resourceGroup": {"name": "own"}, "cluster": {"name": "own"}}
    load(configuration(**named), stack, pytest.fail)


@given(st.from_regex(r"[a-zA-Z0-9_.-]{1,100}", fullmatch=True))
def test_every_stack_has_valid_names_or_is_told_to_set_them(stack: str) -> None:
    with contextlib.suppress(SettingsError):
        made = load({}, stack, lambda _: None)
        assert resource_groups.NAME.fullmatch(made.resource_group.name)
        assert clusters.DNS_PREFIX.fullmatch(made.cluster.name)


DEFAULTS = Cluster.model_validate({}).model_dump(by_alias=True)


@pytest.mark.parametrize("key", sorted(DEFAULTS.keys() - {"existing", "name"}))
def test_keys_of_a_new_cluster_are_refused_for_an_existing_one(key: str) -> None:
    messages = mistakes(cluster={"existing": True, "name": "theirs", key: DEFAULTS[key]})
    assert [line.partition(":")[0] for line in messages] == [f"cluster.{key}"]


def test_all_mistakes_are_reported_at_once_by_key() -> None:
    messages = mistakes(
        clustr="mine",
        cluster={"existing": True, "kubernetesVersion": "1.x"},
        systemPool={"count": 0},
        gpuPools=[
            {"name": "GPU", "vmSize": "Standard_D4ds_v5"},
            {**OLD, "minCount": 2, "maxCount": 1},
            {"vmSize": "Standard_NC8as_T4_v3", "count": "many", "vmsize": "x"},
            {**POOL, "osType": "Windows", "customHeaders": "a=b=c"},
        ],
    )

    assert [line.partition(":")[0] for line in messages] == [
        "cluster.name",
        "cluster.kubernetesVersion",
        "systemPool.count",
        "gpuPools[0].name",
        "gpuPools[0].vmSize",
        "gpuPools[1].name",
        "gpuPools[1].maxCount",
        "gpuPools[2].name",
        "gpuPools[2].count",
        "gpuPools[2].vmsize",
        "gpuPools[3].name",
        "gpuPools[3].customHeaders",
        "gpuPools[3].osType",
        "clustr",
    ]


RETIRED_IMAGE = (
    "AKS retired the header UseGPUDedicatedVHD on 2025-01-10: use the regular image, with NVIDIA's "
    "device plugin or GPU Operator."
)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"clustr": {}}, "clustr: is not a key of a stack file: did you mean cluster?"),
        (
            {"network": {"mod": "overlay"}},
            "network.mod: is not a key of a stack file: did you mean mode?",
        ),
        (
            {"gpuPools": [{**POOL, "vmsize": "x"}]},
            "gpuPools[0].vmsize: is not a key of a stack file: did you mean vmSize?",
        ),
        (
            {"gpuPools": [{**POOL, "mincount": 0, "maxCount": 2}]},
            "gpuPools[0].mincount: is not a key of a stack file: did you mean minCount?",
        ),
        (
            {"gpuPools": [{"name": "gpu", "vmsize": "Standard_NC8as_T4_v3"}]},
            "gpuPools[0].vmsize: is not a key of a stack file: did you mean vmSize?",
        ),
        (
            {"resourceGroup": {"tags": {"team": "a"}}},
            "resourceGroup.tags: is not a key of this section, but of the stack: use aks-gpu:tags",
        ),
        (
            {"location": "West Europe"},
            "location: 'West Europe' is not the short name of a region: use westeurope",
        ),
        (
            {"location": "here!"},
            "location: 'here!' is not a region: use a short name, such as westeurope",
        ),
        ({"gpuPools": ["x"]}, "gpuPools[0]: must be a map of keys, not 'x'"),
        ({"gpuPools": ""}, "gpuPools: is empty: it must be a list"),
        (
            {"gpuPools": [{**POOL, "count": "three"}]},
            "gpuPools[0].count: must be a whole number, not 'three'",
        ),
        (
            {"gpuPools": [{**POOL, "customHeaders": ["a"]}]},
            'gpuPools[0].customHeaders: must be a map, or a string such as a=b,c=d, not ["a"]',
        ),
        (
            {"cluster": {"kubernetesVersion": "1.35"}, "gpuIsolation": {"enabled": True}},
            "gpuIsolation.enabled: needs Kubernetes 1.36, the first version whose API server "
            "changes pods by a policy of its own: set cluster.kubernetesVersion to 1.36 or newer",
        ),
        (
            {"gpuIsolation": {"enabled": True, "exemptNamespaces": ["Bad_Name"]}},
            "gpuIsolation.exemptNamespaces[0]: 'Bad_Name' is not a valid namespace: use 1 to 63 "
            "lowercase letters, digits and '-', starting and ending with a letter or digit",
        ),
        (
            {"registry": {"name": "images", "registryId": "/subscriptions/s/registries/r"}},
            "registry.name: is for a new registry: remove it, or registryId of the one that exists",
        ),
        (
            {"registry": {"registryId": "ours"}},
            "registry.registryId: 'ours' is not the resource ID of a registry: use "
            "/subscriptions/.../registries/NAME",
        ),
        ({"sampleJob": {"image": ""}}, "sampleJob.image: is empty: name an image, or remove it"),
        ({"gpuPools": [{"vmSize": "Standard_NC8as_T4_v3"}]}, "gpuPools[0].name: is required"),
        (
            {"gpuPools": [{**POOL, "name": "gpu-1"}]},
            "gpuPools[0].name: 'gpu-1' is not a valid pool name: use 1 to 12 lowercase letters "
            "and digits, starting with a letter",
        ),
        (
            {"gpuPools": [{**POOL, "name": "system"}]},
            "gpuPools[0].name: 2 pools are named 'system': give each pool its own name",
        ),
        (
            {"gpuPools": [{**POOL, "vmSize": "Standard_D4ds_v5"}]},
            "gpuPools[0].vmSize: 'Standard_D4ds_v5' has no GPUs: use a GPU size, such as "
            "Standard_NC8as_T4_v3",
        ),
        (
            {"gpuPools": [{**POOL, "vmSize": "Standard_NV24ads_V710_v5"}]},
            "gpuPools[0].vmSize: Standard_NV24ads_V710_v5 has AMD GPUs, which the NVIDIA driver "
            "and device plugin do not support: use a size such as Standard_NV72ads_A10_v5, "
            "Standard_NV12ads_A10_v5, Standard_NV6ads_A10_v5, or set gpuStack: none",
        ),
        (
            {
                "gpuPools": [
                    {
                        "name": "gpu",
                        "vmSize": "Standard_ND96isr_MI300X_v5",
                        "gpuStack": "none",
                        "osSku": "AzureLinux3",
                    }
                ]
            },
            "gpuPools[0].osSku: AKS does not support AzureLinux3 on sizes with AMD GPUs, such as "
            "Standard_ND96isr_MI300X_v5: use Ubuntu, or remove it",
        ),
        (
            {"gpuPools": [{**A100, "image": "specialized"}]},
            "gpuPools[0].customHeaders: Standard_NC24ads_A100_v4 supports only generation 2 VMs, "
            "and the specialized image defaults to generation 1: add usegen2vm=true",
        ),
        (
            {"devicePlugin": {"namespace": "kube-system"}},
            "devicePlugin.createNamespace: the namespace kube-system exists in every cluster: "
            "set createNamespace: false",
        ),
        (
            {
                "gpuPools": [{**A100, "migProfile": "MIG1g"}],
                "devicePlugin": {"edition": "article"},
            },
            "devicePlugin: the plugin of edition: article does not support MIG, which these "
            "pools use: gpu. Set edition: today",
        ),
        (
            {"gpuPools": [{**POOL, "image": "specialized", "gpuStack": "device-plugin"}]},
            "gpuPools[0].gpuStack: is 'device-plugin', but image: specialized contains the "
            "driver and device plugin: remove image or gpuStack",
        ),
        (
            {"gpuStack": "specialized-image", "gpuPools": [{**POOL, "image": "regular"}]},
            "gpuPools[0].gpuStack: is specialized-image, but image: regular contains no driver "
            "and no device plugin: set gpuStack: device-plugin for this pool, or image: "
            "specialized",
        ),
        (
            {"gpuPools": [{**POOL, "customHeaders": {"usegpudedicatedvhd": "true"}}]},
            "gpuPools[0].customHeaders: UseGPUDedicatedVHD=true requests the specialized image, "
            "but gpuStack is device-plugin: set image: specialized, which sends the header",
        ),
        (
            {"gpuPools": [{**POOL, "migProfile": "MIG1g"}]},
            "gpuPools[0].migProfile: Standard_NC8as_T4_v3 does not support MIG: use a size with "
            "A100, H100 or H200 GPUs, such as Standard_NC24ads_A100_v4",
        ),
        (
            {"gpuPools": [{**A100, "migProfile": "MIG5g"}]},
            "gpuPools[0].migProfile: 'MIG5g' is not a MIG profile: use one of MIG1g, MIG2g, "
            "MIG3g, MIG4g, MIG7g",
        ),
        (
            {"gpuPools": [{**POOL, "osType": "Windows"}]},
            "gpuPools[0].osType: is 'Windows': GPU pools support only Linux",
        ),
        (
            {"gpuPools": [{**POOL, "minCount": 3, "maxCount": 1}]},
            "gpuPools[0].maxCount: 1 is less than minCount, 3",
        ),
        (
            {"gpuPools": [{**POOL, "minCount": 3}]},
            "gpuPools[0].maxCount: minCount and maxCount belong together: set both, or neither",
        ),
        (
            {"gpuPools": [{**POOL, "spot": True, "maxSurge": "1"}]},
            "gpuPools[0].maxSurge: AKS upgrades spot pools without extra nodes: remove maxSurge, "
            "or spot",
        ),
        (
            {"gpuPools": [{**POOL, "spotMaxPrice": 1.5}]},
            "gpuPools[0].spotMaxPrice: applies only to spot pools: set spot: true, or remove it",
        ),
        (
            {"gpuPools": [{**POOL, "spot": True, "spotMaxPrice": 0}]},
            "gpuPools[0].spotMaxPrice: is 0.0: use a price above 0 with at most 5 decimals, or "
            "-1 for the on-demand price",
        ),
        (
            {"gpuPools": [{**POOL, "labels": {"kubernetes.azure.com/a": "b"}}]},
            'gpuPools[0].labels["kubernetes.azure.com/a"]: is reserved for AKS and Kubernetes: '
            "use another name",
        ),
        (
            {"gpuPools": [{**POOL, "labels": {"team": "hunter2!", "c": ""}}]},
            "gpuPools[0].labels.team: is not a valid label: use a name, optionally with a "
            "DNS prefix and '/', and a value; name and value have at most 63 letters, digits, "
            "'-', '_' and '.', and start and end with a letter or digit",
        ),
        (
            {"gpuPools": [{**POOL, "taints": ["gpu"]}]},
            "gpuPools[0].taints[0]: 'gpu' is not a valid taint: use key=value:effect, where "
            "effect is NoSchedule, PreferNoSchedule or NoExecute",
        ),
        (
            {"cluster": {"existing": True}},
            "cluster.name: is required: set the name of the existing cluster",
        ),
        (
            {"resourceGroup": {"existing": True}},
            "resourceGroup.name: is required: set the name of the existing resource group",
        ),
        (
            {"resourceGroup": {"name": "gpu/a"}},
            "resourceGroup.name: 'gpu/a' is not a valid resource group name: use 1 to 90 letters, "
            "digits, '.', '_', '-', '(' and ')', not ending with a period",
        ),
        (
            {"cluster": {"kubernetesVersion": "latest"}},
            "cluster.kubernetesVersion: 'latest' is not a version: use the form 1.35 or 1.35.2",
        ),
        (
            {"cluster": {"private": True, "authorizedIpRanges": ["10.0.0.0/8"]}},
            "cluster.authorizedIpRanges: a private cluster has no public API server: remove "
            "authorizedIpRanges, or private",
        ),
        (
            {"cluster": {"oidcIssuer": False, "workloadIdentity": True}},
            "cluster.workloadIdentity: requires the OIDC issuer: set oidcIssuer: true",
        ),
        (
            {"network": {"mode": "subnet"}},
            "network.subnetId: is required with mode: subnet: set the resource ID of your subnet",
        ),
        (
            {"network": {"mode": "subnet", "subnetId": SUBNET, "podCidr": "10.0.0.0/16"}},
            "network.podCidr: is only for mode: overlay: remove it, because pods get addresses "
            "of the subnet",
        ),
        (
            {"systemPool": {"count": 0}},
            "systemPool.count: must be at least 1, not 0",
        ),
        (
            {"gpuPools": [{**POOL, "zones": [1]}]},
            "gpuPools[0].zones[0]: must be a string, not 1: use '1'",
        ),
        ({"gpuPools": "[not json"}, "gpuPools: must be a list, not '[not json'"),
    ],
)
def test_messages_name_the_mistake_and_the_remedy(values: dict[str, Any], line: str) -> None:
    assert mistakes(**values) == [line]


@pytest.mark.parametrize("allowed", [True, False])
def test_a_retired_image_is_a_warning(allowed: bool) -> None:
    """A stack from before the day of a retirement goes on to take changes.

    It was a mistake: from that day on not even maxCount could be lowered.
    """
    stack = read(
        [RETIRED_IMAGE],
        allowRetired=allowed,
        systemPool={"vmSize": "Standard_NC6"},
        gpuPools=[{**OLD, "image": "specialized"}],
    )

    assert stack.gpu_pools[0].custom_headers == {"UseGPUDedicatedVHD": "true"}


def test_a_retired_header_is_told_with_what_replaces_it() -> None:
    """An old script's `CustomizedUbuntu` was sent for years, and nobody said that it is `osSku`."""
    told = "AKS retired the header CustomizedUbuntu on 2020-08-31: use osSKU (osSku in a stack"
    read(
        [f"{told} file)."], gpuPools=[{**POOL, "customHeaders": "CustomizedUbuntu=aks-ubuntu-1804"}]
    )
    read(gpuPools=[{**POOL, "customHeaders": "EnableACRTeleport=false,OSImageVersion=1"}])


def test_a_future_retirement_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2023-09-05")
    read(gpuPools=[OLD])


# Names of the N-series that Azure may have one day, and that no table has now.
UNKNOWN_SIZES = st.from_regex(
    r"Standard_N[CDGV]\d{1,3}[a-z]{0,4}(_[A-Z]\d{3})?_v\d", fullmatch=True
)


def test_a_size_without_a_driver_from_aks_is_a_warning() -> None:
    """The advice was from before the GPU Operator: no GPU stack, and both by hand."""
    pool = {**POOL, "vmSize": "Standard_NCC40ads_H100_v5"}
    read(
        [
            f"AKS does not install a GPU driver on Standard_NCC40ads_H100_v5 (as of {AS_OF}): set "
            "gpuStack: operator and gpuOperator.driver: operator, so that NVIDIA's GPU Operator "
            "installs driver and device plugin."
        ],
        gpuPools=[pool],
    )
    # What the warning advises gives none.
    read(gpuPools=[{**pool, "gpuStack": "operator"}], gpuOperator={"driver": "operator"})
    read(gpuPools=[{**pool, "gpuStack": "none"}])


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"clustr": "x"}, "clustr"),
        ({"gpuPools": [{**POOL, "vmSizee": 1}]}, "gpuPools[0].vmSizee"),
        ({"gpuPools": [{**POOL, "conut": "three"}]}, "gpuPools[0].conut"),
    ],
)
def test_a_misspelled_key_with_a_wrong_value_is_one_mistake(
    values: dict[str, Any], path: str
) -> None:
    """It was told of the right key too, which the file does not have."""
    with pytest.raises(SettingsError) as caught:
        load(configuration(**values), "test", lambda _: None)
    assert [mistake.path for mistake in caught.value.mistakes] == [path]


@pytest.mark.parametrize(
    "parts",
    [
        {"sharing": {"timeSlicing": {"replicas": 4}}},
        {"vmSize": "Standard_NC24ads_A100_v4", "migProfile": "MIG1g"},
    ],
)
def test_a_pool_of_parts_that_starts_without_nodes_is_a_warning(parts: dict[str, Any]) -> None:
    """Four pods for one GPU of four shares made four nodes (Azure/AKS#3427), and nobody said so."""

    def warnings(lowest: int, highest: int) -> list[str]:
        found: list[str] = []
        pool = {**POOL, **parts, "minCount": lowest, "maxCount": highest}
        load(configuration(gpuPools=[pool]), "test", found.append)
        return found

    (warning,) = warnings(0, 4)
    assert "gets a node of its own" in warning
    # Does as the warning says; and one node more than none cannot be too many.
    assert warnings(1, 4) == warnings(0, 1) == []


def test_an_amd_size_is_accepted_without_a_gpu_stack() -> None:
    pool = {"name": "amd", "vmSize": "Standard_NV24ads_V710_v5", "gpuStack": "none"}

    assert read(gpuPools=[pool]).gpu_pools[0].vm_size == "Standard_NV24ads_V710_v5"


def test_a_size_is_known_in_any_case_and_written_as_azure_does() -> None:
    pool = {**POOL, "vmSize": "standard_nc8as_t4_v3"}

    assert read(gpuPools=[pool]).gpu_pools[0].vm_size == "Standard_NC8as_T4_v3"


@pytest.mark.parametrize(
    ("stack", "pool", "owner"),
    [
        ({}, {}, "device-plugin"),
        ({}, {"gpuStack": "none"}, "none"),
        ({"gpuStack": "none"}, {}, "none"),
        ({"gpuStack": "none"}, {"gpuStack": "device-plugin"}, "device-plugin"),
        ({}, {"image": "specialized"}, "specialized-image"),
        ({"gpuStack": "none"}, {"image": "specialized"}, "specialized-image"),
        ({"gpuStack": "specialized-image"}, {}, "specialized-image"),
        (
            {"gpuStack": "specialized-image"},
            {"image": "regular", "gpuStack": "device-plugin"},
            "device-plugin",
        ),
    ],
)
def test_each_pool_has_one_owner_of_its_gpu_stack(
    stack: dict[str, Any], pool: dict[str, Any], owner: str
) -> None:
    values = {**stack, "gpuPools": [{**POOL, **pool}]}
    read_stack = load(configuration(**values), "test", lambda _: None)

    assert [pool.name for pool in read_stack.pools_of(owner)] == ["gpu"]


@pytest.mark.parametrize("file", sorted(path.name for path in ROOT.glob("Pulumi.*.yaml")))
def test_each_stack_file_is_valid(file: str) -> None:
    config = yaml.safe_load((ROOT / file).read_text())["config"]
    texts = configuration(**{key.removeprefix("aks-gpu:"): value for key, value in config.items()})

    assert load(texts, "test", lambda _: None).gpu_pools


def test_the_project_file_declares_the_same_keys_with_the_same_defaults() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    declared = {
        key.removeprefix("aks-gpu:"): declaration["default"]
        for key, declaration in project["config"].items()
    }

    assert read(**declared) == read()
    assert set(declared) == {field.alias for field in Settings.model_fields.values()}


def test_all_mistakes_in_gpu_sharing_are_reported_at_once() -> None:
    a100 = {"vmSize": "Standard_NC24ads_A100_v4", "migProfile": "MIG1g"}
    two = {"timeSlicing": {"replicas": 2}}
    pools: list[dict[str, Any]] = [
        {"migStrategy": "single"},
        {**a100, "migStrategy": "both"},
        {**a100, "migStrategy": "mixed", "sharing": two},
        {"gpuStack": "none", "sharing": two},
        {"sharing": {"timeSlicing": {"replicas": "four"}}},
        {"sharing": {"timeSlicing": {"replicas": "4"}}},
        {"sharing": {"timeSlicing": {}}},
        {"sharing": {"timeSlicing": {"replicas": 2, "renameByDefault": True}}},
    ]
    named = [{**POOL, **pool, "name": f"gpu{index}"} for index, pool in enumerate(pools)]

    assert [line.partition(": ")[0] for line in mistakes(gpuPools=named)] == [
        "gpuPools[0].migStrategy",
        "gpuPools[1].migStrategy",
        "gpuPools[2].sharing",
        "gpuPools[3].sharing",
        "gpuPools[4].sharing.timeSlicing.replicas",
        "gpuPools[5].sharing.timeSlicing.replicas",
        "gpuPools[6].sharing.timeSlicing.replicas",
        "gpuPools[7].sharing.timeSlicing.renameByDefault",
    ]


def test_the_articles_plugin_is_refused_with_mig_and_sharing() -> None:
    pools = [{**POOL, "sharing": {"timeSlicing": {"replicas": 2}}}]

    assert mistakes(gpuPools=pools, devicePlugin={"edition": "article"}) == [
        "devicePlugin: the plugin of edition: article does not support sharing, which these pools "
        "use: gpu. Set edition: today"
    ]


def test_a_reservation_needs_an_identity() -> None:
    """AKS uses no capacity reservation group with a system-assigned identity."""
    group = (
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r"
    )
    pools = [{**POOL, "capacityReservationGroupId": group}]
    identity = "/subscriptions/s/.../userAssignedIdentities/i"
    with pytest.raises(SettingsError) as caught:
        load(configuration(gpuPools=pools), "test", lambda _: None)
    assert "gpuPools[0].capacityReservationGroupId: requires a user-assigned" in str(caught.value)
    for cluster in ({"userAssignedIdentityId": identity}, {"existing": True, "name": "c"}):
        load(configuration(gpuPools=pools, cluster=cluster), "test", lambda _: None)
    with pytest.raises(SettingsError, match="no capacity for spot nodes"):
        load(
            configuration(
                gpuPools=[{**pools[0], "spot": True}], cluster={"existing": True, "name": "c"}
            ),
            "test",
            lambda _: None,
        )


def test_pools_of_the_specialized_image_have_the_newer_properties() -> None:
    """Its header makes aks-preview manage the pool; that of other pools came late, from Azure."""
    newer: dict[str, Any] = {"networkProfile": {"dranet": {}}}
    read([RETIRED_IMAGE], gpuPools=[{**POOL, "image": "specialized", "extra": newer}])
    with pytest.raises(SettingsError, match="is not a property of Azure's API 2025-09-01"):
        read(gpuPools=[{**POOL, "extra": newer}])
