import json
from typing import Any

import pytest

from stack_settings.model import Settings
from stack_settings.reading import SettingsError, load

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
OLD = {"name": "gpu", "vmSize": "Standard_NC6"}


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


def pool_version(cluster: dict[str, Any], **pool: Any) -> str | None:
    return read(cluster=cluster, gpuPools=[{**POOL, **pool}]).gpu_pools[0].kubernetes_version


def test_a_pool_has_its_clusters_version_or_an_older_one() -> None:
    """GPU pools had no version: they stayed behind until AKS refused the next upgrade."""
    assert pool_version({"kubernetesVersion": "1.35"}) == "1.35"
    assert pool_version({"kubernetesVersion": "1.35", "upgradeChannel": "patch"}) == "1.35"
    assert pool_version({"kubernetesVersion": "1.35"}, kubernetesVersion="1.34") == "1.34"
    assert pool_version({}) is None
    assert pool_version({}, kubernetesVersion="1.34") == "1.34"
    for existing in (True, "True"):
        theirs = {"name": "theirs", "existing": existing}
        assert pool_version(theirs, kubernetesVersion="1.34") == "1.34"


@pytest.mark.parametrize(
    ("cluster", "version", "reason"),
    [
        ({"kubernetesVersion": "1.35"}, "1.36", "1.36 is newer than the cluster's 1.35: "),
        ({"kubernetesVersion": "1.35.1"}, "1.31", "1.31 is more than 3 minor versions older"),
        ({"upgradeChannel": "stable"}, "1.34", "stable upgrades the version"),
        ({"kubernetesVersion": "1.35", "upgradeChannel": "patch"}, "1.34.4", "patch upgrades the"),
    ],
)
def test_a_pool_version_that_conflicts_with_the_cluster_is_refused(
    cluster: dict[str, Any], version: str, reason: str
) -> None:
    (message,) = mistakes(cluster=cluster, gpuPools=[{**POOL, "kubernetesVersion": version}])

    assert message.startswith(f"gpuPools[0].kubernetesVersion: {reason}")


def test_further_system_pools_replace_the_first_one() -> None:
    """The first one is part of the cluster's own request: nothing but a new cluster replaced it."""
    more = {"name": "system2", "count": 3}
    stack = read(
        cluster={"kubernetesVersion": "1.35"}, systemPool={"removed": True}, systemPools=[more]
    )

    (pool,) = stack.system_pools
    assert (pool.name, pool.count, pool.kubernetes_version) == ("system2", 3, "1.35")
    assert stack.first_pool == []


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
        assert f"'aks-gpu-{stack}' is not a valid" in reason.replace(", is not", " is not"), path
    named = {"resourceGroup": {"name": "own"}, "cluster": {"name": "own"}}
    load(configuration(**named), stack, pytest.fail)


def test_all_mistakes_are_reported_at_once_by_key() -> None:
    messages = mistakes(
        clustr="mine",
        cluster={"existing": True, "kubernetesVersion": "latest"},
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
        "gpuPools[1].maxCount",
        "gpuPools[2].name",
        "gpuPools[2].count",
        "gpuPools[2].vmsize",
        "gpuPools[3].customHeaders",
        "gpuPools[3].osType",
        "clustr",
        "gpuPools[1].name",
        "gpuPools[3].name",
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
        ({"gpuPools": [{"vmSize": "Standard_NC8as_T4_v3"}]}, "gpuPools[0].name: is required"),
        (
            {"gpuPools": [{**POOL, "minCount": 3, "maxCount": 1}]},
            "gpuPools[0].maxCount: 1 is less than minCount, 3",
        ),
        (
            {"cluster": {"existing": "True"}},
            "cluster.name: is required: set the name of the existing cluster",
        ),
        (
            {"gpuPools": [{**POOL, "name": "system"}]},
            "gpuPools[0].name: 2 pools are named 'system': give each its own name",
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


@pytest.mark.parametrize(
    ("values", "path"),
    [
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


def test_a_reservation_needs_an_identity() -> None:
    """AKS uses no capacity reservation group with a system-assigned identity."""
    group = (
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r"
    )
    pools = [{**POOL, "capacityReservationGroupId": group}]
    (line,) = mistakes(gpuPools=pools)
    assert line.startswith("gpuPools[0].capacityReservationGroupId: requires a user-assigned")
    identity = "/subscriptions/s/.../userAssignedIdentities/i"
    for cluster in ({"userAssignedIdentityId": identity}, {"existing": True, "name": "c"}):
        read(gpuPools=pools, cluster=cluster)


def test_unknown_properties_of_a_cluster_are_refused_unless_aks_preview_sends_them() -> None:
    """Preflight passed them: `systemPool.customHeaders` decides, which is another section."""
    unknown = {"extra": {"fqdnSubdomian": "a", "newer": {}, "location": "westus"}}
    assert [line.partition(": ")[0] for line in mistakes(cluster=unknown)] == [
        "cluster.extra.location",
        "cluster.extra.fqdnSubdomian",
        "cluster.extra.newer",
    ]
    newer: dict[str, Any] = {"extra": {"newer": {}}}
    read(cluster=newer, systemPool={"customHeaders": {}})


@pytest.mark.parametrize("edition", ["article", "today"])
def test_the_plugin_of_the_article_is_refused_for_partitions_and_shared_gpus(edition: str) -> None:
    """Only the component refused it, after preflight had passed it."""
    parts = {"name": "parts", "vmSize": "Standard_NC24ads_A100_v4", "migProfile": "MIG1g"}
    shared = {**POOL, "name": "shared", "sharing": {"timeSlicing": {"replicas": 2}}}
    pools = [POOL, parts, shared, {**parts, "name": "none", "gpuStack": "none"}]
    plugin = {"edition": edition}
    if edition == "today":
        read(gpuPools=pools, devicePlugin=plugin)
        return
    (line,) = mistakes(gpuPools=pools, devicePlugin=plugin)
    assert line == (
        "devicePlugin.edition: the plugin of edition: article does not support MIG or sharing, "
        "which these pools use: parts, shared. Set edition: today"
    )
    read(gpuPools=[POOL], devicePlugin=plugin)


def test_pools_of_the_specialized_image_have_the_newer_properties() -> None:
    """Its header makes aks-preview manage the pool; that of other pools came late, from Azure."""
    newer: dict[str, Any] = {"networkProfile": {"dranet": {}}}
    read([RETIRED_IMAGE], gpuPools=[{**POOL, "image": "specialized", "extra": newer}])
    with pytest.raises(SettingsError, match="is not a property of Azure's API"):
        read(gpuPools=[{**POOL, "extra": newer}])
