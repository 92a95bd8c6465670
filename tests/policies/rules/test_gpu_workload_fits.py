"""A pod that asks for GPUs and can go to no pool: an update waits half an hour for it."""

from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from policies.rules.gpu_workload_fits import gpu_workload_fits
from tests.policies.gpu_stacks import (
    OWN_CLUSTER,
    TOLERATION,
    asks,
    daemon_set,
    pool,
    required,
    together,
)
from tests.policies.policy_harness import Resource, findings

PLUGIN = daemon_set({"operator": "Exists"})
TAINTED = "it does not tolerate sku=gpu:NoSchedule of gpu"
SELECTS = "it selects labels that gpu does not have"


def job(
    count: Any = "1", resource: str = "nvidia.com/gpu", kind: str = "batch/v1:Job", **pods: Any
) -> Resource:
    container = {"name": "train", "resources": {"limits": {resource: count}}}
    spec = {"containers": [container], "tolerations": [TOLERATION], **pods}
    return Resource(
        type=f"kubernetes:{kind}", name="train", properties={"spec": {"template": {"spec": spec}}}
    )


def queued() -> Resource:
    """A job of Kueue's, which gives it tolerations when it is admitted."""
    one = job(tolerations=[])
    labels = {"labels": {"kueue.x-k8s.io/queue-name": "team"}}
    return replace(one, properties={"metadata": labels, **one.properties})


def cluster_of_ray(workers: Resource) -> Resource:
    """A custom resource can have pod templates anywhere."""
    groups = {"workerGroupSpecs": [workers.properties["spec"]]}
    return replace(workers, type="kubernetes:ray.io/v1:RayCluster", properties={"spec": groups})


def told(*resources: Resource) -> list[str]:
    return findings(gpu_workload_fits, *together(*resources))


@pytest.mark.parametrize(
    "fitting",
    [
        job(),
        job("0", tolerations=[]),
        job(resource="amd.com/gpu", tolerations=[]),
        job(affinity=required([asks("accelerator", "In", "nvidia")])),
        # Some software may set such a label.
        job(nodeSelector={"nvidia.com/gpu.product": "Tesla-T4"}),
        # The tolerations are in what it patches, in a ResourceFlavor, or in the workflow.
        job(kind="apps/v1:DeploymentPatch", tolerations=[]),
        job(kind="argoproj.io/v1alpha1:Workflow", tolerations=[]),
        queued(),
        # A first preview knows little: the rule would say at each that it cannot run.
        job(UNKNOWN_STRING_VALUE),
        job(nodeSelector=UNKNOWN_OBJECT_VALUE),
        job(tolerations=[{"key": UNKNOWN_STRING_VALUE}]),
    ],
)
def test_what_fits_or_may_fit_passes(fitting: Resource) -> None:
    assert told(pool(), PLUGIN, fitting) == []


@pytest.mark.parametrize(
    ("workload", "misfit"),
    [
        (job(tolerations=[]), TAINTED),
        (job(1, "nvidia.com/gpu.shared", tolerations=[]), TAINTED),
        (job(1, "nvidia.com/mig-1g.10gb", tolerations=[]), TAINTED),
        (cluster_of_ray(job(tolerations=[])), TAINTED),
        (job(nodeSelector={"agentpool": "gpus"}), SELECTS),
        (job(nodeSelector={"kubernetes.io/arch": "arm64"}), SELECTS),
        (job(affinity=required([asks("agentpool", "In", "a", "b")])), SELECTS),
    ],
)
def test_what_does_not_fit_is_told(workload: Resource, misfit: str) -> None:
    assert told(pool(), PLUGIN, workload) == [
        f"A pod asks for GPUs and can go to no GPU pool of its cluster: {misfit}."
    ]


def test_each_pool_is_named() -> None:
    cpu = pool("cpu", vmSize="Standard_D4ds_v5", nodeTaints=None)
    (said,) = told(cpu, pool(), pool("b", nodeTaints=["b=c:NoSchedule"]), job(tolerations=[]))
    assert said.endswith(f": {TAINTED}; it does not tolerate b=c:NoSchedule of b.")
    (said,) = told(cpu, job())
    assert said.endswith(": this stack has none, so add one, or except the pod.")


def test_a_taint_with_the_name_of_the_resource_may_be_tolerated() -> None:
    """An API server with ExtendedResourceToleration adds the toleration."""
    named = pool(nodeTaints=["nvidia.com/gpu=present:NoSchedule"])
    assert told(named, PLUGIN, job(tolerations=[])) == []


def cluster(**properties: Any) -> Resource:
    return replace(OWN_CLUSTER, properties={"resourceName": "own", **properties})


@pytest.mark.parametrize(
    "more",
    [
        # Nodes that others make may fit, and what cannot be read or is not seen.
        Resource(type="kubernetes:karpenter.sh/v1:NodePool", name="n", properties={"spec": {}}),
        cluster(nodeProvisioningProfile={"mode": "Auto"}),
        cluster(sku={"name": "Automatic"}),
        cluster(aiToolchainOperatorProfile={"enabled": True}),
        pool("other", vmSize=UNKNOWN_STRING_VALUE),
        Resource(type="kubernetes:yaml/v2:ConfigGroup", name="files", properties={}),
    ],
)
def test_where_more_is_possible_nothing_is_said(more: Resource) -> None:
    assert told(more, pool(), PLUGIN, job(tolerations=[])) == []


def test_on_a_cluster_of_another_stack_nothing_is_said() -> None:
    """It may have pools that this stack does not see."""
    elsewhere = Resource(
        type="pulumi:providers:kubernetes", name="theirs", properties={"kubeconfig": "a text"}
    )
    away = replace(job(tolerations=[]), provider="theirs")
    assert findings(gpu_workload_fits, elsewhere, pool(), away) == []
