"""A pod that asks for GPUs and fits no pool: told before an update waits half an hour for it."""

from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from policies.rules.gpu_workload_fits import gpu_workload_fits
from tests.policies.gpu_stacks import (
    MANAGED,
    OWN_CLUSTER,
    TOLERATION,
    asks,
    daemon_set,
    pool,
    release,
    required,
    together,
)
from tests.policies.policy_harness import Resource, findings

T4 = "Standard_NC8as_T4_v3"
SKU = "the pod does not tolerate its taint sku=gpu:NoSchedule"


def plugin(**more: Any) -> Resource:
    return daemon_set({"operator": "Exists"}, **more)


def job(
    count: Any = "1", resource: str = "nvidia.com/gpu", kind: str = "batch/v1:Job", **pods: Any
) -> Resource:
    resources = {"limits": {resource: count}, **pods.pop("more", {})}
    container = {"name": "train", "image": "train", "resources": resources}
    spec = {"containers": [container], "tolerations": [TOLERATION], **pods}
    return Resource(
        type=f"kubernetes:{kind}", name="train", properties={"spec": {"template": {"spec": spec}}}
    )


def queued() -> Resource:
    """A job of Kueue's, which gives it tolerations when it is admitted."""
    one = job(tolerations=[])
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "team"}}
    return replace(one, properties={"metadata": labels, **one.properties})


def told(*resources: Resource) -> list[str]:
    return findings(gpu_workload_fits, *together(*resources))


def nearest(*misfits: str, asked: str = "1 nvidia.com/gpu", name: str = "gpu") -> list[str]:
    return [
        f"A pod asks for {asked}, and fits no pool of its cluster. The nearest is {name}: "
        f"{'; '.join(misfits)}."
    ]


@pytest.mark.parametrize(
    "fitting",
    [
        job(),
        job(1),
        job("0"),
        job(nodeSelector={"agentpool": "gpu"}),
        job(more={"requests": {"cpu": "7500m", "memory": "50Gi"}}),
        job(affinity=required([asks("accelerator", "In", "nvidia")])),
        job(resource="amd.com/gpu"),
        # Some software may set such a label.
        job(nodeSelector={"nvidia.com/gpu.product": "Tesla-T4"}),
        job(nodeSelector={"topology.disk.csi.azure.com/zone": "westeurope-1"}),
        # Another plugin's.
        job(more={"limits": {"nvidia.com/gpu": "1", "nvidia.com/hostdev": "1"}}),
        # The tolerations are in what it patches, in a ResourceFlavor, or in the workflow.
        job(kind="apps/v1:DeploymentPatch", tolerations=[]),
        job(kind="argoproj.io/v1alpha1:Workflow", tolerations=[]),
        queued(),
    ],
)
def test_what_fits_passes(fitting: Resource) -> None:
    assert told(pool(vmSize=T4), plugin(), fitting) == []


@pytest.mark.parametrize(
    ("workload", "misfit"),
    [
        (job(tolerations=[]), SKU),
        (
            job(nodeSelector={"agentpool": "gpus"}),
            "its nodes do not have agentpool=gpus, which the pod selects",
        ),
        (
            job(affinity=required([asks("agentpool", "In", "a", "b")])),
            "its nodes do not have agentpool In (a, b), which the pod selects",
        ),
        (
            job(more={"requests": {"cpu": "16"}}),
            "a node has 8 vCPUs, and the pod asks for 16",
        ),
        (
            job(more={"requests": {"memory": "64Gi"}}),
            "a node has 56 GiB of memory, and the pod asks for 64 GiB",
        ),
    ],
)
def test_what_does_not_fit_is_told(workload: Resource, misfit: str) -> None:
    assert told(pool(vmSize=T4), plugin(), workload) == nearest(misfit)


def test_arm_nodes_run_nothing_for_amd64_alone() -> None:
    """An image for other CPUs ends with "exec format error", again and again."""
    arm = pool(vmSize="Standard_ND128isr_GB300_v6")
    image = "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    sample = job(containers=[{"name": "train", "image": image, "resources": resources}])
    misfit = f"its nodes have Arm CPUs, and the image {image} is for amd64 alone"
    assert told(arm, plugin(), sample) == nearest(misfit)
    selecting = job(nodeSelector={"kubernetes.io/arch": "amd64"})
    misfit = "its nodes do not have kubernetes.io/arch=amd64, which the pod selects"
    assert told(arm, plugin(), selecting) == nearest(misfit)
    affine = job(affinity=required([asks("kubernetes.io/arch", "In", "amd64")]))
    misfit = "its nodes do not have kubernetes.io/arch In (amd64), which the pod selects"
    assert told(arm, plugin(), affine) == nearest(misfit)
    # Nothing is known of other images, and one of a new registry is not known at all.
    assert told(arm, plugin(), job()) == []
    container = {"name": "train", "image": UNKNOWN_STRING_VALUE}
    own = [{**container, "resources": {"limits": {"nvidia.com/gpu": "64"}}}]
    for vm_size, gpus in ((T4, 1), ("Standard_ND128isr_GB300_v6", 4)):
        misfit = f"a node has {gpus} nvidia.com/gpu, and the pod asks for 64"
        assert told(pool(vmSize=vm_size), plugin(), job(containers=own)) == nearest(
            misfit, asked="64 nvidia.com/gpu"
        )
    assert told(pool(vmSize=T4), plugin(), sample) == []


def test_gpus_of_a_node_are_counted() -> None:
    misfit = "a node has 1 nvidia.com/gpu, and the pod asks for 8"
    assert told(pool(vmSize=T4), plugin(), job("8")) == nearest(misfit, asked="8 nvidia.com/gpu")
    # Containers run together; init containers one by one.
    asking = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    both = job(containers=[asking, {**asking, "name": "b"}])
    misfit = "a node has 1 nvidia.com/gpu, and the pod asks for 2"
    assert told(pool(vmSize=T4), plugin(), both) == nearest(misfit, asked="2 nvidia.com/gpu")
    in_turns = job(initContainers=[asking, asking])
    assert told(pool(vmSize=T4), plugin(), in_turns) == []


def test_gpus_that_may_be_cut_are_not_counted() -> None:
    """A strategy of the plugin decides how many there are, and what they are called."""
    mixed = plugin(container={"env": [{"name": "MIG_STRATEGY", "value": "mixed"}]})
    slices: dict[str, Any] = {"vmSize": "Standard_NC24ads_A100_v4", "gpuInstanceProfile": "MIG1g"}
    for divided in (pool(**slices), pool(**slices, **MANAGED)):
        assert told(divided, mixed, job("7")) == []
        assert told(divided, mixed, job(resource="nvidia.com/mig-1g.10gb")) == []
    whole = pool(vmSize=T4, **MANAGED)
    misfit = "its nodes offer nvidia.com/gpu, not nvidia.com/mig-1g.10gb"
    assert told(whole, job(resource="nvidia.com/mig-1g.10gb")) == nearest(
        misfit, asked="1 nvidia.com/mig-1g.10gb"
    )


def test_shares_are_not_counted() -> None:
    """A file of the plugin decides how many there are, and what they are called."""
    sharing = plugin(container={"env": [{"name": "CONFIG_FILE", "value": "/config/config.yaml"}]})
    assert told(pool(vmSize=T4), sharing, job("4", "nvidia.com/gpu.shared")) == []
    chart = release("nvidia-device-plugin", config={"name": "shares"}, tolerations=[TOLERATION])
    assert told(pool(vmSize=T4), chart, job("4")) == []


def test_a_taint_with_the_name_of_the_resource_may_be_tolerated() -> None:
    """An API server with ExtendedResourceToleration adds the toleration."""
    named = pool(vmSize=T4, nodeTaints=["nvidia.com/gpu=present:NoSchedule"])
    assert told(named, plugin(), job(tolerations=[])) == []


def test_a_cluster_without_gpus_is_named() -> None:
    cpu = pool(vmSize="Standard_D4ds_v5", nodeTaints=None)
    assert told(cpu, job()) == [
        "A pod asks for 1 nvidia.com/gpu, and this stack has no pool with NVIDIA GPUs for its "
        "cluster. Add one; or remove the request; or except it, if another stack has the pool."
    ]


def test_a_pool_that_stays_empty_fits_nobody() -> None:
    misfit = "it has no nodes, and does not grow"
    empty = pool(vmSize=T4, count=0, enableAutoScaling=False)
    assert told(empty, plugin(), job()) == nearest(misfit)
    growing = pool(vmSize=T4, count=0, enableAutoScaling=True, minCount=0, maxCount=1)
    assert told(growing, plugin(), job()) == []


@pytest.mark.parametrize(
    "more",
    [
        # Nodes that Karpenter makes may fit.
        Resource(type="kubernetes:karpenter.sh/v1:NodePool", name="n", properties={"spec": {}}),
        # What cannot be read may fit.
        pool("other", vmSize=UNKNOWN_STRING_VALUE),
    ],
)
def test_where_more_is_possible_nothing_is_said(more: Resource) -> None:
    assert told(pool(vmSize=T4), plugin(), more, job(tolerations=[])) == []


@pytest.mark.parametrize(
    "more",
    [
        {"nodeProvisioningProfile": {"mode": "Auto"}},
        {"sku": {"name": "Automatic"}},
        {"aiToolchainOperatorProfile": {"enabled": True}},
    ],
)
def test_on_a_cluster_that_makes_its_own_nodes_nothing_is_said(more: dict[str, Any]) -> None:
    automatic = Resource(
        type=OWN_CLUSTER.type, name="own", properties={"resourceName": "own", **more}
    )
    assert told(automatic, pool(vmSize=T4), plugin(), job(tolerations=[])) == []


def test_on_a_cluster_of_another_stack_nothing_is_said() -> None:
    """It may have pools that this stack does not see."""
    elsewhere = Resource(
        type="pulumi:providers:kubernetes", name="theirs", properties={"kubeconfig": "a text"}
    )
    workload = job(tolerations=[])
    away = Resource(
        type=workload.type, name="train", properties=workload.properties, provider="theirs"
    )
    assert findings(gpu_workload_fits, elsewhere, pool(vmSize=T4), away) == []


@pytest.mark.parametrize(
    "workload",
    [
        job(UNKNOWN_STRING_VALUE),
        job(nodeSelector=UNKNOWN_OBJECT_VALUE),
        job(tolerations=[{"key": UNKNOWN_STRING_VALUE}]),
    ],
)
def test_what_is_not_known_yet_is_not_judged(workload: Resource) -> None:
    """A first preview knows little: the rule would say at each that it cannot run."""
    assert told(pool(vmSize=T4), plugin(), workload) == []
