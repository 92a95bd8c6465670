from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from aks_catalogue.sizes import GpuSize, gpu_sizes
from policies import gpu_nodes
from policies.rules.device_plugin_tolerates_pools import (
    device_plugin_tolerates_pools,
    device_plugin_toleration_unclear,
)
from policies.rules.one_gpu_stack_owner import gpu_stack_owner_unclear, one_gpu_stack_owner
from tests.policies.gpu_stacks import (
    MANAGED,
    NO_DRIVER,
    POOL_LABEL,
    SPECIALIZED,
    TOLERATION,
    asks,
    daemon_set,
    not_known,
    pool,
    release,
    required,
    together,
)
from tests.policies.policy_harness import Resource, findings, findings_by_name
from tests.policies.pool_variants import CLUSTER, CPU, VALID

TWICE = (
    "Two device plugins on a node make its GPUs disappear: keep all but one off the pool, with "
    "node affinity or taints."
)
IMAGE_TOO = (
    f"This pool gets the device plugin from the specialized image and from the DaemonSet plugin. "
    f"{TWICE}"
)
NO_ONE = (
    "has gpuProfile.driver None, and nothing in this stack installs one, so pods cannot use its "
    "GPUs. Add the NVIDIA GPU Operator, let AKS install the driver, or set the rule's owner to who "
    "installs it."
)
TWO_DRIVERS = (
    "This pool gets its driver from AKS and from the GPU Operator. Set gpuProfile.driver of the "
    "pool to None, or driver.enabled of the GPU Operator to false."
)
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
TOLERATE_ALL: dict[str, Any] = {"operator": "Exists"}
OPERATOR_LANDS: dict[str, Any] = {"daemonsets": {"tolerations": [TOLERATE_ALL]}}
DRIVER_BY_AKS: dict[str, Any] = {"driver": {"enabled": False}}


def owner(*resources: Resource, **config: Any) -> list[str]:
    """What both rules say: of what is certain, "gets", and of what is possible, "can get"."""
    stack = together(*resources)
    certain = findings(one_gpu_stack_owner, *stack)
    possible = findings(gpu_stack_owner_unclear, *stack, config=config)
    assert not any(" can get " in text for text in certain)
    assert not any(" gets " in text for text in possible)
    return [*dict.fromkeys([*certain, *possible])]


def possibly(text: str) -> str:
    return text.replace(" gets ", " can get ")


def test_one_owner_passes() -> None:
    assert owner(pool(), daemon_set(TOLERATION)) == []
    assert owner(pool(**SPECIALIZED)) == []
    assert owner(pool(**MANAGED)) == []
    assert owner(pool(**NO_DRIVER), release("gpu-operator", **OPERATOR_LANDS)) == []
    assert owner(pool(), release("gpu-operator", **OPERATOR_LANDS, **DRIVER_BY_AKS)) == []
    assert owner(pool(vmSize=CPU, **NO_DRIVER)) == []


# Which pools a DaemonSet lands on; None: that is possible.
EXPECTED = {True: [IMAGE_TOO], None: [possibly(IMAGE_TOO)], False: []}


@pytest.mark.parametrize(
    ("tolerations", "taints", "lands"),
    [
        ([], [], True),
        ([], ["sku=gpu:NoSchedule"], False),
        ([], ["sku=gpu:PreferNoSchedule"], True),
        ([TOLERATION], ["sku=gpu:NoSchedule"], True),
        ([TOLERATION], ["sku=other:NoSchedule"], False),
        ([TOLERATION], ["sku=gpu:NoExecute"], False),
        ([TOLERATION], ["sku=gpu:NoSchedule", "a=b:NoSchedule"], False),
        ([TOLERATION, {"key": "a", "operator": "Exists"}],
         ["sku=gpu:NoSchedule", "a=b:NoExecute"], True),
        ([{"key": "sku", "value": "gpu"}], ["sku=gpu:NoExecute"], True),
        ([{"key": "sku"}], ["sku:NoSchedule"], True),
        ([TOLERATE_ALL], ["sku=gpu:NoSchedule", "a=b:NoExecute"], True),
        ([{"operator": "Exists", "effect": "NoExecute"}], ["sku=gpu:NoSchedule"], False),
    ],
)  # fmt: skip
def test_tolerations(tolerations: list[dict[str, Any]], taints: list[str], lands: bool) -> None:
    found = owner(pool(nodeTaints=taints, **SPECIALIZED), daemon_set(*tolerations))
    assert found == ([IMAGE_TOO] if lands else [])


def test_azure_taints_spot_nodes_by_itself() -> None:
    spot = pool(scaleSetPriority="Spot", **SPECIALIZED)
    spot_toleration = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}
    assert owner(spot, daemon_set(TOLERATION)) == []
    assert owner(spot, daemon_set(TOLERATION, spot_toleration)) == [IMAGE_TOO]


@pytest.mark.parametrize(
    ("selector", "lands"),
    [
        ({}, True),
        ({POOL_LABEL: "gpu"}, True),
        ({POOL_LABEL: "other"}, False),
        ({"agentpool": "gpu", "accelerator": "nvidia"}, True),
        ({"accelerator": "amd"}, False),
        ({"kubernetes.azure.com/accelerator": "nvidia"}, True),
        ({"kubernetes.azure.com/scalesetpriority": "spot"}, False),
        ({"kubernetes.io/os": "linux", "kubernetes.azure.com/mode": "user"}, True),
        ({"kubernetes.io/os": "windows"}, False),
        ({"node.kubernetes.io/instance-type": "Standard_NC8as_T4_v3"}, True),
        ({"own": "yes"}, True),
        ({"own": "no"}, False),
        ({"nobody": "has it"}, False),
        ({"kubernetes.io/arch": "amd64"}, True),
        ({"kubernetes.io/arch": "arm64"}, False),
        # What others set on nodes can be anything.
        ({"topology.kubernetes.io/zone": "eastus-1", "nvidia.com/gpu.present": "true"}, None),
    ],
)
def test_node_selectors(selector: dict[str, str], lands: bool | None) -> None:
    labelled = pool(nodeLabels={"own": "yes"}, **SPECIALIZED)
    found = owner(labelled, daemon_set(TOLERATION, nodeSelector=selector))
    assert found == EXPECTED[lands]


@pytest.mark.parametrize(
    ("terms", "lands"),
    [
        ([[asks(POOL_LABEL, "In", "a", "gpu")]], True),
        ([[asks(POOL_LABEL, "In", "a")]], False),
        ([[asks(POOL_LABEL, "NotIn", "a")]], True),
        ([[asks(POOL_LABEL, "NotIn", "gpu", "a")]], False),
        ([[asks("nobody", "NotIn", "a")]], True),
        ([[asks("own", "Exists")]], True),
        ([[asks("nobody", "Exists")]], False),
        ([[asks("own", "DoesNotExist")]], False),
        ([[asks("nobody", "DoesNotExist")]], True),
        ([[asks("number", "Gt", "6")]], True),
        ([[asks("number", "Gt", "7")]], False),
        ([[asks("number", "Lt", "8")]], True),
        ([[asks("number", "Lt", "7")]], False),
        ([[asks("own", "Gt", "1")]], False),
        ([[asks("nobody", "Lt", "1")]], False),
        # All of a term, one of the terms.
        ([[asks("own", "Exists"), asks("nobody", "Exists")]], False),
        ([[asks("nobody", "Exists")], [asks("own", "Exists")]], True),
        ([[]], False),
        ([[asks("feature.node.kubernetes.io/pci-10de.present", "In", "true")]], None),
        ([[asks("nvidia.com/gpu.count", "Gt", "1")], [asks("own", "Exists")]], True),
        ([[asks("amd.com/gpu.family", "DoesNotExist")]], None),
    ],
)
def test_required_affinity(terms: list[list[dict[str, Any]]], lands: bool | None) -> None:
    labelled = pool(nodeLabels={"own": "yes", "number": "7"}, **SPECIALIZED)
    found = owner(labelled, daemon_set(TOLERATION, affinity=required(*terms)))
    assert found == EXPECTED[lands]


@pytest.mark.parametrize(
    ("vm_size", "asked", "lands"),
    [
        # The node's label is the size as Azure writes it, however the program does.
        ("standard_nc8as_t4_v3", asks(INSTANCE_TYPE, "In", "Standard_NC8as_T4_v3"), True),
        ("standard_nc8as_t4_v3", asks(INSTANCE_TYPE, "NotIn", "Standard_NC8as_T4_v3"), False),
        # How Azure writes a size that is not in the tables, nobody knows here.
        ("standard_nc9_v9", asks(INSTANCE_TYPE, "NotIn", "Standard_NC9_v9"), None),
    ],
)
def test_size_labels_have_azures_spelling(
    vm_size: str, asked: dict[str, Any], lands: bool | None
) -> None:
    written = pool(vmSize=vm_size, **SPECIALIZED)
    assert owner(written, daemon_set(TOLERATION, affinity=required([asked]))) == EXPECTED[lands]


def test_preferred_affinity_excludes_no_node() -> None:
    preferred: dict[str, Any] = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}
    }
    found = owner(pool(**SPECIALIZED), daemon_set(TOLERATION, affinity=preferred))
    assert found == [IMAGE_TOO]


@pytest.mark.parametrize(
    ("image", "command", "is_plugin"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", None, True),
        ("nvidia/k8s-device-plugin:1.11", None, True),
        ("registry:5000/k8s-device-plugin@sha256:0", ["nvidia-device-plugin"], True),
        # The image has other programs in it; AMD's plugin has the same name.
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", ["gpu-feature-discovery"], False),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", ["/usr/bin/mps-control-daemon"], False),
        ("rocm/k8s-device-plugin:1.25", None, False),
        ("nvcr.io/nvidia/dcgm-exporter:4.0", None, False),
    ],
)
def test_device_plugins_are_recognized_by_image_and_command(
    image: str, command: list[str] | None, is_plugin: bool
) -> None:
    more: dict[str, Any] = {"container": {"command": command}} if command else {}
    found = owner(pool(**SPECIALIZED), daemon_set(TOLERATION, image=image, **more))
    assert found == ([IMAGE_TOO] if is_plugin else [])


# Who the owners are.


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        (SPECIALIZED, "the specialized image"),
        (
            {"customHeaders": {
                "AKSHTTPCustomFeatures": "Microsoft.ContainerService/GPUDedicatedVHDPreview"
            }},
            "the specialized image",
        ),
        (MANAGED, "AKS, which manages its GPUs"),
        ({"tags": {"EnableManagedGPUExperience": "true"}}, "AKS, which manages its GPUs"),
    ],
)  # fmt: skip
def test_pools_with_a_built_in_plugin(changes: dict[str, Any], label: str) -> None:
    assert owner(pool(**changes), daemon_set(TOLERATION)) == [
        f"This pool gets the device plugin from {label} and from the DaemonSet plugin. {TWICE}"
    ]


def test_two_plugins_of_the_stack() -> None:
    first, second = daemon_set(TOLERATION, name="a"), daemon_set(TOLERATION, name="b")
    anywhere = required([asks("kubernetes.io/os", "In", "linux")])
    chart = release("nvidia-device-plugin", name="c", tolerations=[TOLERATION], affinity=anywhere)
    assert owner(pool(), first, second, chart) == [
        "This pool gets the device plugin from the DaemonSet a and from the DaemonSet b and from "
        f"the Helm release c. {TWICE}"
    ]


@pytest.mark.parametrize(
    "chart",
    [
        "nvidia-device-plugin",
        "nvdp/nvidia-device-plugin",
        "oci://registry.example/charts/nvidia-device-plugin",
        "./charts/nvidia-device-plugin/",
        "https://nvidia.github.io/k8s-device-plugin/nvidia-device-plugin-0.18.2.tgz",
    ],
)
def test_the_plugins_chart_has_default_tolerations(chart: str) -> None:
    conventional = pool(nodeTaints=["nvidia.com/gpu=present:NoSchedule"], **SPECIALIZED)
    # Its affinity asks for labels that are discovered on nodes.
    found = possibly(IMAGE_TOO).replace("the DaemonSet plugin", "the Helm release release")
    assert owner(conventional, release(chart)) == [found]
    # Of this taint it knows nothing, unless it is told.
    assert owner(pool(**SPECIALIZED), release(chart)) == []
    assert owner(pool(**SPECIALIZED), release(chart, tolerations=[TOLERATION])) == [found]
    assert owner(conventional, release(chart, nodeSelector={"own": "yes"})) == []


@pytest.mark.parametrize(
    "operator",
    [
        release("gpu-operator", **OPERATOR_LANDS),
        Resource(
            type="kubernetes:helm.sh/v4:Chart",
            properties={"chart": "gpu-operator", "values": OPERATOR_LANDS},
        ),
        Resource(
            type="kubernetes:nvidia.com/v1:ClusterPolicy", properties={"spec": OPERATOR_LANDS}
        ),
    ],
    ids=lambda found: found.type,
)
def test_the_operator_brings_both(operator: Resource) -> None:
    assert owner(pool(**NO_DRIVER), operator) == []
    assert owner(pool(), operator) == [TWO_DRIVERS]
    plugin = daemon_set(TOLERATION)
    assert owner(pool(**NO_DRIVER), plugin, operator) == [
        f"This pool gets the device plugin from the DaemonSet plugin and from the GPU Operator. "
        f"{TWICE}"
    ]


def test_two_releases_of_the_operator_are_two() -> None:
    """By their label they were one."""
    first, second = (
        release("gpu-operator", name=name, **OPERATOR_LANDS, **DRIVER_BY_AKS) for name in "ab"
    )
    assert owner(pool(), first, second) == [
        "This pool gets the device plugin from the GPU Operator a and from the GPU Operator b. "
        f"{TWICE}"
    ]
    # A release and the operator's settings beside it are one.
    settings = Resource(
        type="kubernetes:nvidia.com/v1:ClusterPolicy",
        name="c",
        properties={"spec": {**OPERATOR_LANDS, **DRIVER_BY_AKS}},
    )
    assert owner(pool(), first, settings) == []


def test_the_operators_parts_can_be_turned_off() -> None:
    no_plugin = release("gpu-operator", **OPERATOR_LANDS, devicePlugin={"enabled": False})
    assert owner(pool(**NO_DRIVER), daemon_set(TOLERATION), no_plugin) == []
    no_driver = release("gpu-operator", **OPERATOR_LANDS, **DRIVER_BY_AKS)
    assert owner(pool(**NO_DRIVER), no_driver) == [f"This pool {NO_ONE}"]


@pytest.mark.parametrize(
    "label", ["nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.driver"]
)
def test_labels_keep_the_operator_away(label: str) -> None:
    operator = release("gpu-operator", **OPERATOR_LANDS)
    assert owner(pool(nodeLabels={label: "false"}), operator) == []
    assert owner(pool(nodeLabels={label: "true"}), operator) == [TWO_DRIVERS]
    assert owner(pool(nodeLabels={label: "false"}, **NO_DRIVER), operator) == [
        f"This pool {NO_ONE}"
    ]


@pytest.mark.parametrize(
    "label", ["nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.device-plugin"]
)
def test_labels_keep_the_operators_plugin_away(label: str) -> None:
    operator = release("gpu-operator", **OPERATOR_LANDS, **DRIVER_BY_AKS)
    plugin = daemon_set(TOLERATION)
    both = (
        "This pool gets the device plugin from the DaemonSet plugin and from the GPU Operator. "
        f"{TWICE}"
    )
    assert owner(pool(nodeLabels={label: "false"}), plugin, operator) == []
    assert owner(pool(nodeLabels={label: "true"}), plugin, operator) == [both]
    # Others' plugins do not look at the operator's labels.
    image_too = pool(nodeLabels={label: "false"}, **SPECIALIZED)
    assert owner(image_too, plugin) == [IMAGE_TOO]


def test_each_label_switches_off_only_its_part() -> None:
    operator = release("gpu-operator", **OPERATOR_LANDS)
    plugin = daemon_set(TOLERATION)
    no_plugin = pool(nodeLabels={"nvidia.com/gpu.deploy.device-plugin": "false"})
    assert owner(no_plugin, plugin, operator) == [TWO_DRIVERS]
    no_driver = pool(nodeLabels={"nvidia.com/gpu.deploy.driver": "false"})
    (found,) = owner(no_driver, plugin, operator)
    assert found.startswith("This pool gets the device plugin from the DaemonSet plugin and from")


def test_a_chart_is_recognized_by_its_cluster_policy() -> None:
    chart = Resource(
        type="kubernetes:helm.sh/v4:Chart", name="c", properties={"chart": "gpu-operator"}
    )
    inside = Resource(
        type="kubernetes:nvidia.com/v1:ClusterPolicy",
        name="p",
        properties={"spec": {**OPERATOR_LANDS, **DRIVER_BY_AKS}},
    )
    untainted = pool(nodeTaints=[])
    assert owner(untainted, chart) == [TWO_DRIVERS]
    assert owner(untainted, chart, inside) == []


def test_other_cluster_policies_are_not_the_operators() -> None:
    kyverno = Resource(
        type="kubernetes:kyverno.io/v1:ClusterPolicy", properties={"spec": OPERATOR_LANDS}
    )
    assert owner(pool(), kyverno) == []


# Nobody.


def test_a_pool_without_a_driver() -> None:
    bare = pool(**NO_DRIVER)
    assert owner(bare) == [f"This pool {NO_ONE}"]
    assert owner(bare, owner="the platform team's operator") == []
    assert owner(bare, release("gpu-operator", **OPERATOR_LANDS)) == []


SIZES = [size for size in gpu_sizes().values() if size.is_nvidia]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
def test_the_driver_comes_from_aks_where_the_table_says_so(size: GpuSize) -> None:
    """On NCC40ads_H100_v5 AKS installs no driver; the operator that brings one was refused."""
    found = owner(pool(vmSize=size.name), release("gpu-operator", **OPERATOR_LANDS))
    expected = {True: [TWO_DRIVERS], None: [possibly(TWO_DRIVERS)], False: []}
    assert found == expected[size.aks_driver]
    alone = owner(pool(vmSize=size.name))
    assert [f"{size.name}, on which AKS installs no driver" in text for text in alone] == (
        [True] if size.aks_driver is False else []
    )


def test_an_operator_that_the_taints_keep_away_helps_nothing() -> None:
    assert owner(pool(**NO_DRIVER), release("gpu-operator")) == [f"This pool {NO_ONE}"]


def test_amd_gpus_are_not_judged() -> None:
    assert owner(pool(vmSize="Standard_ND96isr_MI300X_v5", **NO_DRIVER)) == []


# Inline pools, and several clusters.


def test_an_inline_pool_uses_the_headers_of_its_cluster() -> None:
    properties = {"agentPoolProfiles": [{"name": "a", "vmSize": CPU}, VALID], **SPECIALIZED}
    cluster = Resource(type="aks-preview:containerservice:ManagedCluster", properties=properties)
    (found,) = owner(cluster, daemon_set(TOLERATION))
    assert found.startswith(
        "The inline pool agentPoolProfiles[1] gets the device plugin from the s"
    )


def in_cluster(found: Resource, cluster: str, provider: str = "") -> Resource:
    made_of = {"resourceName": [cluster]}
    return Resource(
        type=found.type, name=found.name, properties=found.properties,
        made_of={} if provider else made_of, provider=provider,
    )  # fmt: skip


def clusters(kubeconfig: str, *made_of: str) -> list[Resource]:
    """Two clusters, and a provider for one of them."""
    return [
        *(Resource(type=CLUSTER.type, name=name, properties={}) for name in ("a", "b")),
        Resource(
            type="pulumi:providers:kubernetes",
            name="provider",
            properties={"kubeconfig": kubeconfig},
            made_of={"kubeconfig": made_of} if made_of else {},
        ),
    ]


def named_clusters(kubeconfig: str) -> list[Resource]:
    """The same, with their names in Azure."""
    *those, provider = clusters(kubeconfig)
    return [*(replace(one, properties={"resourceName": one.name}) for one in those), provider]


def test_a_daemon_set_runs_only_in_its_cluster() -> None:
    pool_in_a = in_cluster(pool(**SPECIALIZED), "a")
    plugin = in_cluster(daemon_set(TOLERATION), "", "provider")
    assert owner(*clusters("known", "a"), pool_in_a, plugin) == [IMAGE_TOO]
    assert owner(*clusters("known", "b"), pool_in_a, plugin) == []
    # Nothing is said of a kubeconfig from elsewhere: it can be that of either.
    assert owner(*clusters("known"), pool_in_a, plugin) == [possibly(IMAGE_TOO)]


def test_the_cluster_of_a_kubeconfig_can_be_unknown() -> None:
    """Two clusters and the usual call for credentials: the rule told of a value, and no way out."""
    pool_in_a = in_cluster(pool(**SPECIALIZED), "a")
    plugin = in_cluster(daemon_set(TOLERATION), "", "provider")
    (said,) = owner(*clusters(UNKNOWN_STRING_VALUE), pool_in_a, plugin)
    assert "the cluster of the provider provider is unknown: it can be any of a, b" in said
    assert "Output.all(cluster.id, kubeconfig)" in said
    # To a pool of another stack's cluster that does not matter.
    elsewhere = replace(pool(**SPECIALIZED, resourceName="shared"), made_of={"tags": []})
    assert owner(*named_clusters(UNKNOWN_STRING_VALUE), elsewhere, plugin) == []


def test_software_in_the_stacks_cluster_is_not_for_pools_of_other_clusters() -> None:
    """Before the first update, the plugin of the only new cluster was told to be for all pools."""
    cluster, provider, plugin = together(daemon_set())
    own = cluster, replace(provider, made_of={}), plugin
    elsewhere = pool(resourceName="shared")
    for rule in (
        one_gpu_stack_owner, gpu_stack_owner_unclear,
        device_plugin_tolerates_pools, device_plugin_toleration_unclear,
    ):  # fmt: skip
        for pool_of_others in (elsewhere, pool(**SPECIALIZED, resourceName="shared")):
            assert findings(rule, *own, pool_of_others) == []


def test_software_in_another_stacks_cluster_is_not_for_this_stacks_pools() -> None:
    reference = Resource(type="pulumi:pulumi:StackReference", name="platform", properties={})
    cluster, provider, pool_in_it, plugin = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    theirs = replace(provider, made_of={"kubeconfig": ["platform"]}, properties={"kubeconfig": "a"})
    assert owner(reference, cluster, theirs, pool_in_it, plugin) == []
    # A pool of which the stack does not make the cluster can be in that one.
    elsewhere = replace(pool_in_it, made_of={"resourceName": ["platform"]})
    assert owner(reference, theirs, elsewhere, plugin) == [possibly(IMAGE_TOO)]


def test_a_pool_is_in_the_cluster_that_its_resource_name_depends_on() -> None:
    """Also where something else of it, as a tag, comes of another cluster."""
    tagged = replace(
        pool(**SPECIALIZED), made_of={"tags": ["b"], "resourceName": ["a"]}, name="tagged"
    )
    plugin = in_cluster(daemon_set(TOLERATION), "", "provider")
    assert owner(*clusters("known", "b"), tagged, plugin) == []
    assert owner(*clusters("known", "a"), tagged, plugin) == [IMAGE_TOO]
    # One of another stack's cluster, with a tag that comes of this one's.
    *those, provider = named_clusters("known")
    provider = replace(provider, made_of={"kubeconfig": ["b"]})
    shared = replace(pool(**SPECIALIZED, resourceName="shared"), made_of={"tags": ["b"]})
    assert owner(*those, provider, shared, plugin) == []


def test_the_stack_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each pair of pool and plugin: a stack of 20 clusters took ten seconds."""
    looked: list[str] = []

    def is_cluster(kind: str) -> bool:
        looked.append(kind)
        return kind == CLUSTER.type

    monkeypatch.setattr(gpu_nodes, "is_cluster", is_cluster)
    many = [pool(f"p{n}") for n in range(9)] + [daemon_set(name=f"d{n}") for n in range(9)]
    stack = together(*many)
    owner(*stack)
    assert len(looked) <= 2 * len(stack)


def test_a_kubeconfig_of_another_cloud_is_not_for_the_only_aks_cluster() -> None:
    """What goes to a cluster of EKS was held to land in the stack's only cluster of AKS."""
    eks = Resource(type="eks:index:Cluster", name="eks", properties={})
    elsewhere = Resource(
        type="pulumi:providers:kubernetes",
        name="elsewhere",
        properties={"kubeconfig": UNKNOWN_STRING_VALUE},
        made_of={"kubeconfig": ["eks"]},
    )
    cluster, _, pool_in_it = together(pool(**SPECIALIZED))
    plugin = in_cluster(daemon_set(TOLERATION), "", "elsewhere")
    stack = eks, elsewhere, cluster, pool_in_it, plugin
    assert findings(one_gpu_stack_owner, *stack) == []
    assert findings(gpu_stack_owner_unclear, *stack) == [possibly(IMAGE_TOO)]


@pytest.mark.parametrize("named", ["other", "OWN", None])
def test_a_pool_of_another_cluster_is_recognized_by_the_clusters_name(named: str | None) -> None:
    """With one cluster in the stack, its plugin was held to be for pools of all clusters."""
    elsewhere = pool(**SPECIALIZED, **({"resourceName": named} if named else {}))
    stack = together(daemon_set(TOLERATION))
    found = findings(gpu_stack_owner_unclear, *stack, elsewhere)
    assert found == ([] if named == "other" else [possibly(IMAGE_TOO)])
    assert findings(one_gpu_stack_owner, *stack, elsewhere) == []


def test_without_a_cluster_in_the_stack_a_conflict_is_only_possible() -> None:
    loose = pool(**SPECIALIZED), daemon_set(TOLERATION)
    assert findings(one_gpu_stack_owner, *loose) == []
    assert findings(gpu_stack_owner_unclear, *loose) == [possibly(IMAGE_TOO)]


def test_plugins_that_share_the_nodes_between_them_are_one() -> None:
    """Two DaemonSets, by a label that NVIDIA's discovery sets: they were refused as two on a node,
    since each of them can be on any."""
    key = "nvidia.com/mig.capable"
    one, other = (
        daemon_set(TOLERATION, name=name, affinity=required([asks(key, operator, "true")]))
        for name, operator in (("a", "In"), ("b", "NotIn"))
    )
    assert owner(pool(), one, other) == []
    (found,) = owner(pool(), one, other, daemon_set(TOLERATION, name="c"))
    assert " can get " in found


@pytest.mark.parametrize(
    ("vm_size", "lands"),
    [
        ("Standard_ND128isr_NDR_GB200_v6", True),
        ("Standard_ND96isr_H100_v5", False),
        # A size that nobody knows can have either.
        ("Standard_NC9_v9", None),
    ],
)
def test_a_plugin_for_each_architecture(vm_size: str, lands: bool | None) -> None:
    arm = daemon_set(TOLERATION, nodeSelector={"kubernetes.io/arch": "arm64"})
    others = daemon_set(TOLERATION, name="b", nodeSelector={"kubernetes.io/arch": "amd64"})
    assert owner(pool(vmSize=vm_size), arm, others) == []
    assert owner(pool(vmSize=vm_size, **SPECIALIZED), arm) == EXPECTED[lands]


def test_an_unknown_size_can_have_gpus_of_another_vendor() -> None:
    new = pool(vmSize="Standard_NC9_v9", **SPECIALIZED)
    assert owner(new, daemon_set(TOLERATION)) == [possibly(IMAGE_TOO)]


def test_values_in_a_file_are_only_possible() -> None:
    values = {"chart": "gpu-operator", "values": OPERATOR_LANDS, "valueYamlFiles": [{}]}
    operator = Resource(type="kubernetes:helm.sh/v3:Release", properties=values)
    assert owner(pool(), operator) == [possibly(TWO_DRIVERS)]


def test_a_release_of_the_plugins_chart_can_omit_the_plugin() -> None:
    discovery = release("nvidia-device-plugin", devicePlugin={"enabled": False})
    assert owner(pool(**SPECIALIZED, nodeTaints=[]), discovery) == []


# What is not known yet.


def test_findings_name_their_pool() -> None:
    found = findings_by_name(
        one_gpu_stack_owner,
        *together(pool("a"), pool("b", **SPECIALIZED), daemon_set(TOLERATION)),
    )
    assert [name for name, _ in found] == ["b"]


def test_an_unknown_pool_hides_no_other() -> None:
    unknown = pool("a", vmSize=UNKNOWN_STRING_VALUE)
    assert owner(
        unknown, pool("b", **NO_DRIVER), pool("c", **SPECIALIZED), daemon_set(TOLERATION)
    ) == [
        IMAGE_TOO,
        not_known("string value at .vmSize", "a"),
        f"This pool {NO_ONE}",
    ]


def test_unknown_software_can_be_the_owner() -> None:
    for unknown in (release(UNKNOWN_STRING_VALUE), Resource(
        type="kubernetes:helm.sh/v3:Release",
        properties={"chart": "gpu-operator", "values": UNKNOWN_OBJECT_VALUE},
    )):  # fmt: skip
        (found,) = owner(pool(**NO_DRIVER), unknown)
        assert found.startswith("can't run: ")


def test_software_with_an_unknown_place_can_be_the_owner() -> None:
    tolerations = [{"key": UNKNOWN_STRING_VALUE, "operator": "Exists"}]
    (found,) = owner(
        pool(**NO_DRIVER), release("gpu-operator", daemonsets={"tolerations": tolerations})
    )
    assert found.startswith("can't run: string value at .values.daemonsets.tolerations.0.key")


def test_an_operator_with_an_unknown_label_can_be_the_owner() -> None:
    labels = {"nvidia.com/gpu.deploy.driver": UNKNOWN_STRING_VALUE}
    plugins = [daemon_set(TOLERATION, name=name) for name in ("a", "b")]
    operator = release("gpu-operator", **OPERATOR_LANDS)
    twice, cannot_run = owner(pool(nodeLabels=labels, **NO_DRIVER), *plugins, operator)
    assert twice == (
        "This pool gets the device plugin from the DaemonSet a and from the DaemonSet b and from "
        f"the GPU Operator. {TWICE}"
    )
    assert cannot_run.startswith("can't run: string value at .nodeLabels")


def test_the_place_of_a_plugin_is_not_that_of_the_driver() -> None:
    unknown = daemon_set({"key": UNKNOWN_STRING_VALUE, "operator": "Exists"})
    cannot_run, missing = owner(pool(**NO_DRIVER), unknown)
    assert missing == f"This pool {NO_ONE}"
    assert cannot_run.startswith("can't run: ")


def test_an_unknown_daemon_set_hides_no_other() -> None:
    unknown = daemon_set(TOLERATION, image=UNKNOWN_STRING_VALUE, name="unknown")
    found = owner(pool(**SPECIALIZED), unknown, daemon_set(TOLERATION))
    assert found[0] == IMAGE_TOO
    assert found[1].startswith("can't run: string value at .spec.template.spec.containers.0.image")
    assert len(found) == 2


def test_names_are_read_only_if_selectors_use_them() -> None:
    nameless = pool(**{**SPECIALIZED, "agentPoolName": UNKNOWN_STRING_VALUE})
    assert owner(nameless, daemon_set(TOLERATION)) == [IMAGE_TOO]
    (found,) = owner(nameless, daemon_set(TOLERATION, nodeSelector={POOL_LABEL: "gpu"}))
    assert found.startswith("can't run: string value at .agentPoolName")


DRA_LANDS: dict[str, Any] = {"kubeletPlugin": {"tolerations": [TOLERATE_ALL], "affinity": {}}}
DRA: dict[str, Any] = {"gpuResourcesEnabledOverride": True, **DRA_LANDS}
PLUGIN_LANDS: dict[str, Any] = {"tolerations": [TOLERATE_ALL], "affinity": {}}


@pytest.mark.parametrize(
    "chart",
    [
        "nvidia-dra-driver-gpu",
        "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu",
    ],
)
@pytest.mark.parametrize(
    ("beside", "plugin"),
    [
        ([pool(**MANAGED)], "AKS, which manages its GPUs"),
        ([pool(), daemon_set(TOLERATION)], "the DaemonSet plugin"),
        (
            [pool(), release("nvidia-device-plugin", "chart", **PLUGIN_LANDS)],
            "the Helm release chart",
        ),
        (
            [pool(), release("gpu-operator", "op", **OPERATOR_LANDS, **DRIVER_BY_AKS)],
            "the GPU Operator",
        ),
    ],
    ids=["managed", "DaemonSet", "chart of the plugin", "operator"],
)
def test_a_dra_driver_beside_a_device_plugin(
    chart: str, beside: list[Resource], plugin: str
) -> None:
    """Both give away the same GPU. A rule said so with certainty, and was taken away."""
    driver = release(chart, **DRA)
    assert owner(pool(), driver) == []
    assert owner(*beside, driver) == [
        f"This pool gets the device plugin from {plugin}, and a DRA driver from the DRA driver "
        "release. Each gives the same GPUs to pods: keep one of them off the pool, or set "
        "resources.gpus.enabled of the DRA driver to false."
    ]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({**DRA, "resources": {"gpus": {"enabled": False}}}, ""),
        ({"gpuResourcesEnabledOverride": True, "kubeletPlugin": {"affinity": {}}}, ""),
        # Current versions of the chart give no GPUs without the setting.
        (DRA_LANDS, "can get the device plugin"),
    ],
    ids=["links", "taints", "default"],
)
def test_a_dra_driver_that_may_give_no_gpus(values: dict[str, Any], says: str) -> None:
    """GB200 pools use it for their links, beside a device plugin."""
    found = owner(pool(**MANAGED), release("nvidia-dra-driver-gpu", **values))
    assert [says in text for text in found] == [True] * bool(says)


def test_an_operator_with_its_dra_driver() -> None:
    only_dra: dict[str, Any] = {
        "gpuCluster": {"deployCR": True},
        "clusterPolicy": {"deployCR": False},
    }
    operator = release("gpu-operator", **only_dra, **OPERATOR_LANDS)
    assert owner(pool(), operator) == []
    [text] = owner(pool(**MANAGED), operator)
    assert "and a DRA driver from the GPU Operator" in text
