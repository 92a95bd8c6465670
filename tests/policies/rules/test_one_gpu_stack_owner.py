from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from aks_catalogue import gpu_operator
from aks_catalogue.sizes import gpu_sizes
from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from policies.rules.one_gpu_stack_owner import one_gpu_stack_owner
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
    unclear,
)
from tests.policies.policy_harness import Resource, findings
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
    possible = unclear(one_gpu_stack_owner, *stack, **config)
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


# Where a DaemonSet lands; None: that is possible.
EXPECTED = {True: [IMAGE_TOO], None: [possibly(IMAGE_TOO)], False: []}


# How selectors and tolerations are read, tests/aks_catalogue/test_scheduling.py has for all.
@pytest.mark.parametrize(
    ("taints", "new", "lands"),
    [
        (["a=b:PreferNoSchedule"], [], True),
        (["sku=gpu:NoSchedule"], [], True),
        (["sku=gpu:NoSchedule", "a=b:NoSchedule"], [], False),
        # Somebody may take these away.
        ([], ["a=b:NoSchedule"], None),
    ],
)
def test_tolerations(taints: list[str], new: list[str], lands: bool | None) -> None:
    gpu = pool(nodeTaints=taints, nodeInitializationTaints=new, **SPECIALIZED)
    assert owner(gpu, daemon_set(TOLERATION)) == EXPECTED[lands]
    assert owner(gpu, daemon_set(TOLERATE_ALL)) == [IMAGE_TOO]


@pytest.mark.parametrize(
    ("selector", "lands"),
    [
        ({POOL_LABEL: "gpu"}, True),
        ({POOL_LABEL: "other"}, False),
        ({"agentpool": "gpu", "accelerator": "nvidia"}, True),
        ({"accelerator": "amd"}, False),
        ({"kubernetes.azure.com/accelerator": "nvidia"}, True),
        ({"kubernetes.azure.com/scalesetpriority": "spot"}, False),
        ({"kubernetes.io/os": "linux", "kubernetes.azure.com/mode": "user"}, True),
        ({"kubernetes.io/os": "windows"}, False),
        ({INSTANCE_TYPE: "Standard_NC8as_T4_v3"}, True),
        ({"own": "yes"}, True),
        ({"nobody": "has it"}, False),
        ({"kubernetes.io/arch": "amd64"}, True),
        ({"kubernetes.io/arch": "arm64"}, False),
        # What others set on nodes can be anything, unless the program sets it.
        ({"topology.kubernetes.io/zone": "eastus-1"}, None),
        ({"nvidia.com/gpu.present": "true"}, None),
        ({"nvidia.com/mig.capable": "true"}, True),
    ],
)
def test_node_selectors(selector: dict[str, str], lands: bool | None) -> None:
    labels = {"own": "yes", "nvidia.com/mig.capable": "true"}
    found = owner(
        pool(nodeLabels=labels, **SPECIALIZED), daemon_set(TOLERATION, nodeSelector=selector)
    )
    assert found == EXPECTED[lands]


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
    # By their label two releases of the operator were one.
    twice = (release("gpu-operator", name=n, **OPERATOR_LANDS, **DRIVER_BY_AKS) for n in "de")
    (found,) = owner(pool(), *twice)
    assert "from the GPU Operator d and from the GPU Operator e." in found


def test_the_plugins_chart_has_default_tolerations_and_a_default_affinity() -> None:
    conventional = pool(nodeTaints=["nvidia.com/gpu=present:NoSchedule"], **SPECIALIZED)
    # Its affinity asks for labels that are discovered on nodes.
    found = possibly(IMAGE_TOO).replace("the DaemonSet plugin", "the Helm release release")
    chart = "nvidia-device-plugin"
    assert owner(conventional, release(chart)) == [found]
    assert owner(pool(**SPECIALIZED), release(chart)) == []
    # A program that sets NVIDIA's label on its pool has said where it runs.
    labelled: dict[str, Any] = {"nodeLabels": {"nvidia.com/gpu.present": "true"}}
    (certain,) = owner(pool(**SPECIALIZED, **labelled), release(chart, tolerations=[TOLERATION]))
    assert " gets the device plugin" in certain


@pytest.mark.parametrize("kind", ["helm.sh/v3:Release", "helm.sh/v4:Chart"])
def test_the_operator_brings_both(kind: str) -> None:
    properties = {"chart": "gpu-operator", "values": OPERATOR_LANDS}
    operator = Resource(type=f"kubernetes:{kind}", name="o", properties=properties)
    assert owner(pool(**NO_DRIVER), operator) == []
    assert owner(pool(), operator) == [TWO_DRIVERS]
    plugin = daemon_set(TOLERATION)
    assert owner(pool(**NO_DRIVER), plugin, operator) == [
        f"This pool gets the device plugin from the DaemonSet plugin and from the GPU Operator. "
        f"{TWICE}"
    ]


@pytest.mark.parametrize("driver", gpu_operator.PROFILES)
def test_the_values_of_this_project_have_one_owner(driver: str) -> None:
    taints = ["sku=gpu:NoSchedule"]
    gpu = pool(nodeTaints=taints, gpuProfile={"driver": gpu_operator.PROFILES[driver].pools_driver})
    values = gpu_operator.values(driver, taints, {}, has_mig=False)
    assert owner(gpu, release("gpu-operator", **values)) == []


def test_the_operators_parts_can_be_turned_off() -> None:
    no_plugin = release("gpu-operator", **OPERATOR_LANDS, devicePlugin={"enabled": "false"})
    assert owner(pool(**NO_DRIVER), daemon_set(TOLERATION), no_plugin) == []
    no_driver = release("gpu-operator", **OPERATOR_LANDS, **DRIVER_BY_AKS)
    assert owner(pool(**NO_DRIVER), no_driver) == [f"This pool {NO_ONE}"]
    no_policy = release("gpu-operator", **OPERATOR_LANDS, clusterPolicy={"deployCR": False})
    assert owner(pool(), daemon_set(TOLERATION), no_policy) == []


@pytest.mark.parametrize(
    ("switch", "told"),
    [
        ("operands", []),
        ("driver", [" gets the device plugin"]),
        ("device-plugin", [" gets its driver"]),
    ],
)
def test_labels_keep_the_operators_parts_away(switch: str, told: list[str]) -> None:
    """Stacks with both have pools for each: the operator leaves out what the labels say."""
    label = {f"nvidia.com/gpu.deploy.{switch}": "false"}
    operator = release("gpu-operator", **OPERATOR_LANDS)
    found = owner(pool(nodeLabels=label), daemon_set(TOLERATION), operator)
    assert [words in text for words, text in zip(told, found, strict=True)] == [True] * len(told)
    # Others' plugins do not look at the operator's labels.
    assert owner(pool(nodeLabels=label, **SPECIALIZED), daemon_set(TOLERATION)) == [IMAGE_TOO]


# Nobody.


def test_a_pool_without_a_driver() -> None:
    bare = pool(**NO_DRIVER)
    assert owner(bare) == [f"This pool {NO_ONE}"]
    assert owner(bare, owner="the platform team's operator") == []
    # One that the taints keep away helps nothing.
    assert owner(bare, release("gpu-operator")) == [f"This pool {NO_ONE}"]


def test_an_operator_of_which_only_the_settings_are_here_may_bring_one() -> None:
    """Somebody else installs it: what it brings is not certain."""
    policy = Resource(type="kubernetes:nvidia.com/v1:ClusterPolicy", name="p", properties={})
    (found,) = owner(pool(**NO_DRIVER), policy)
    assert found.startswith("What p (kubernetes:nvidia.com/v1:ClusterPolicy) installs is not seen")
    kyverno = Resource(type="kubernetes:kyverno.io/v1:ClusterPolicy", properties={})
    assert owner(pool(), kyverno) == []


def test_the_driver_comes_from_aks_where_the_table_says_so() -> None:
    """On NCC40ads_H100_v5 AKS installs no driver; the operator that brings one was refused."""
    sizes = {size.aks_driver: size.name for size in gpu_sizes().values() if size.is_nvidia}
    expected = {True: [TWO_DRIVERS], None: [possibly(TWO_DRIVERS)], False: []}
    for aks_driver, vm_size in sizes.items():
        both = owner(pool(vmSize=vm_size), release("gpu-operator", **OPERATOR_LANDS))
        assert both == expected[aks_driver]
        (alone,) = owner(pool(vmSize=vm_size)) or [""]
        assert ("on which AKS installs no driver" in alone) == (aks_driver is False)


# Inline pools, and several clusters.


def test_an_inline_pool_uses_the_headers_of_its_cluster() -> None:
    properties = {"agentPoolProfiles": [{"name": "a", "vmSize": CPU}, VALID], **SPECIALIZED}
    cluster = Resource(type="aks-preview:containerservice:ManagedCluster", properties=properties)
    (found,) = owner(cluster, daemon_set(TOLERATION))
    assert found.startswith("The inline pool agentPoolProfiles[1] gets the device plugin from")


POOL_IN_A = replace(pool(**SPECIALIZED), made_of={"resourceName": ["a"]})
PLUGIN = replace(daemon_set(TOLERATION), provider="provider")
REFERENCE = Resource(type="pulumi:pulumi:StackReference", name="platform", properties={})
EKS = Resource(type="eks:index:Cluster", name="eks", properties={})


def clusters(kubeconfig: str, *made_of: str, names: str = "ab") -> list[Resource]:
    """Clusters, and a provider for one of them."""
    provider = Resource(
        type="pulumi:providers:kubernetes",
        name="provider",
        properties={"kubeconfig": kubeconfig},
        made_of={"kubeconfig": made_of} if made_of else {},
    )
    each = (Resource(type=CLUSTER.type, name=name, properties={"name": name}) for name in names)
    return [*each, provider]


@pytest.mark.parametrize(
    ("stack", "lands"),
    [
        (clusters("known", "a"), True),
        (clusters("known", "b"), False),
        (clusters("known", "a", "b"), None),
        # Nothing is said of a kubeconfig from elsewhere: it can be that of either.
        (clusters("known"), None),
        # The result of the usual function has no dependencies before the first update.
        (clusters(UNKNOWN_STRING_VALUE), None),
        (clusters(UNKNOWN_STRING_VALUE, names="a"), True),
        (clusters("known", names="a"), None),
        # Another stack does not have the kubeconfig of a cluster that this one makes.
        ([REFERENCE, *clusters("known", "platform")], False),
        # What goes to a cluster of EKS was held to land in the stack's only cluster of AKS.
        ([EKS, *clusters(UNKNOWN_STRING_VALUE, "eks", names="a")], None),
    ],
)
def test_a_daemon_set_runs_only_in_its_cluster(stack: list[Resource], lands: bool | None) -> None:
    assert owner(*stack, POOL_IN_A, PLUGIN) == EXPECTED[lands]


@pytest.mark.parametrize("named", ["other", "A", "", "/subscriptions/s/managedClusters/other"])
def test_a_pool_of_another_cluster_is_recognized_by_the_clusters_name(named: str) -> None:
    """With one cluster in the stack, its plugin was held to be for pools of all clusters."""
    key = "kubernetesClusterId" if "/" in named else "resourceName"
    elsewhere = replace(pool(**SPECIALIZED, **{key: named}), made_of={"tags": []})
    found = owner(*clusters(UNKNOWN_STRING_VALUE, names="a"), elsewhere, PLUGIN)
    assert found == ([] if named.endswith("other") else [possibly(IMAGE_TOO)])


def test_software_in_the_stacks_cluster_is_not_for_pools_of_other_clusters() -> None:
    """Before the first update, the plugin of the only new cluster was told to be for all pools."""
    cluster, provider, plugin = together(daemon_set())
    own = cluster, replace(provider, made_of={}), plugin
    stack, rule = (*own, pool(resourceName="shared")), device_plugin_tolerates_pools
    assert (findings(rule, *stack), unclear(rule, *stack)) == ([], [])


# What is not certain.


def test_what_cannot_be_known_is_possible() -> None:
    # An unknown size can have GPUs of another vendor.
    new = pool(vmSize="Standard_NC9_v9", **SPECIALIZED)
    assert owner(new, daemon_set(TOLERATION)) == [possibly(IMAGE_TOO)]
    values = {"chart": "gpu-operator", "values": OPERATOR_LANDS, "valueYamlFiles": [{}]}
    operator = Resource(type="kubernetes:helm.sh/v3:Release", properties=values)
    assert owner(pool(), operator) == [possibly(TWO_DRIVERS)]


def test_an_odd_value_of_a_gpu_pool_is_refused() -> None:
    """It was told as a rule that could not run, which refuses nothing."""
    odd = pool(nodeTaints="sku=gpu:NoSchedule", **SPECIALIZED)
    stack = together(odd, daemon_set(TOLERATION))
    assert findings(one_gpu_stack_owner, *stack) == [
        "This pool cannot be judged: nodeTaints is not a list. Correct it."
    ]
    assert unclear(one_gpu_stack_owner, *stack) == []


# What is not known yet.


def test_what_is_unknown_hides_no_other() -> None:
    unknown = pool("a", vmSize=UNKNOWN_STRING_VALUE)
    assert owner(
        unknown, pool("b", **NO_DRIVER), pool("c", **SPECIALIZED), daemon_set(TOLERATION)
    ) == [
        IMAGE_TOO,
        not_known("string value at .vmSize", "a"),
        f"This pool {NO_ONE}",
    ]
    image = daemon_set(TOLERATION, image=UNKNOWN_STRING_VALUE, name="unknown")
    place = daemon_set({"key": UNKNOWN_STRING_VALUE, "operator": "Exists"}, name="unknown")
    for other in (image, place):
        found = owner(pool(**SPECIALIZED), other, daemon_set(TOLERATION))
        assert found[0] == IMAGE_TOO
        assert found[1].startswith("can't run: string value at .spec.template.spec.")


@pytest.mark.parametrize(
    "unknown",
    [
        release(UNKNOWN_STRING_VALUE),
        Resource(
            type="kubernetes:helm.sh/v3:Release",
            properties={"chart": "gpu-operator", "values": UNKNOWN_OBJECT_VALUE},
        ),
        release("gpu-operator", daemonsets={"tolerations": [{"key": UNKNOWN_STRING_VALUE}]}),
    ],
)
def test_unknown_software_can_be_the_owner(unknown: Resource) -> None:
    (found,) = owner(pool(**NO_DRIVER), unknown)
    assert found.startswith("can't run: ")


DRA_LANDS: dict[str, Any] = {"kubeletPlugin": {"tolerations": [TOLERATE_ALL], "affinity": {}}}
DRA: dict[str, Any] = {"gpuResourcesEnabledOverride": True, **DRA_LANDS}
ONLY_DRA: dict[str, Any] = {"gpuCluster": {"deployCR": True}, "clusterPolicy": {"deployCR": False}}


@pytest.mark.parametrize(
    "driver",
    [
        release("nvidia-dra-driver-gpu", **DRA),
        release("oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu", **DRA),
        release("gpu-operator", **ONLY_DRA, **OPERATOR_LANDS),
    ],
    ids=["first name", "project", "operator"],
)
def test_a_dra_driver_beside_a_device_plugin(driver: Resource) -> None:
    """Both give away the same GPU. A rule said so with certainty, and was taken away."""
    assert owner(pool(), driver) == []
    for beside, plugin in (
        ([pool(**MANAGED)], "AKS, which manages its GPUs"),
        ([pool(), daemon_set(TOLERATION)], "the DaemonSet plugin"),
    ):
        (text,) = owner(*beside, driver)
        assert f" gets the device plugin from {plugin}, and a DRA driver from" in text


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
