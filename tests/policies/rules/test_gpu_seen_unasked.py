"""A workload of the program with GPUs that it did not ask for: nobody else knew of it."""

from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from aks_catalogue.gpu_isolation import AGENTS
from components.isolation_policies import hide_gpus
from policies.rules.gpu_seen_unasked import gpu_seen_unasked
from tests.policies.gpu_stacks import (
    NO_DRIVER,
    SPECIALIZED,
    TOLERATION,
    daemon_set,
    pool,
    together,
)
from tests.policies.policy_harness import Resource, findings

CUDA = "nvcr.io/nvidia/cuda:12.5.0-base-ubuntu22.04"
ALL = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
VOID = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
GPU = {"limits": {"nvidia.com/gpu": "1"}}
NONE = {"limits": {"nvidia.com/gpu": "0"}}


def workload(
    namespace: Any = "apps", image: Any = CUDA, tolerates: Any = None, **more: Any
) -> Resource:
    container = {"name": "app", "image": image, **more}
    tolerations = [TOLERATION] if tolerates is None else tolerates
    spec = {"containers": [container], "tolerations": tolerations}
    return Resource(
        type="kubernetes:apps/v1:Deployment",
        name="app",
        properties={"metadata": {"namespace": namespace}, "spec": {"template": {"spec": spec}}},
    )


def told(*resources: Resource) -> list[str]:
    return findings(gpu_seen_unasked, *together(*resources))


SEES = [
    "The container app can run on the pool gpu, and has all GPUs there that its environment or its "
    "image names, past the scheduler and whoever asked for them."
]


@pytest.mark.parametrize("image", [CUDA, "pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime"])
@pytest.mark.parametrize("resources", [{}, {"limits": {"cpu": "1"}}, NONE])
def test_an_image_with_cuda_and_no_request(image: str, resources: dict[str, Any]) -> None:
    assert told(pool(), workload(image=image, resources=resources)) == SEES


@pytest.mark.parametrize(
    "more",
    [
        {"env": ALL},
        {"env": ALL, "resources": GPU},
        {"env": ALL, "image": "busybox"},
        {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}]},
    ],
)
def test_a_variable_by_hand(more: dict[str, Any]) -> None:
    assert told(pool(), workload(**more)) == SEES


@pytest.mark.parametrize(
    "quiet",
    [
        workload(resources=GPU),
        workload(env=VOID),
        workload(image="busybox"),
        workload(image="nginx:1.29"),
        *(
            workload(image=image)
            for image in (
                "barracuda/waf:1",
                "registry:5000/gpu-dashboard/frontend:1",
                "app:1.2-nogpu",
                "rocm/app:gpu",
                "nvcr.io/nvidia/mellanox/k8s-rdma-shared-dev-plugin:1",
                "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.0-ubuntu22.04",
            )
        ),
        workload(image="nvcr.io/nvidia/k8s/dcgm-exporter:4.4.0", env=ALL),
        workload(resources={"claims": [{"name": "gpu"}]}),
        workload(env=[*ALL, *VOID]),
        workload(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": ""}]),
        workload(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {}}}]),
        # It does not get there.
        workload(tolerates=[]),
        # Agents that need all GPUs.
        workload("gpu-operator"),
        daemon_set(TOLERATION),
        # Not known yet.
        workload(image=UNKNOWN_STRING_VALUE),
        workload(tolerates=[{"key": UNKNOWN_STRING_VALUE}]),
    ],
)
def test_what_sees_nothing_or_may_passes(quiet: Resource) -> None:
    assert told(pool(), quiet) == []


@pytest.mark.parametrize(
    "changes",
    [{"osType": "Windows"}, SPECIALIZED, NO_DRIVER, {"count": 0, "enableAutoScaling": False}],
)
def test_a_pool_of_which_it_is_not_known_passes(changes: dict[str, Any]) -> None:
    assert told(pool(**changes), workload()) == []


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (hide_gpus(AGENTS), False),
        (UNKNOWN_OBJECT_VALUE, False),
        ({"mutations": [{"jsonPatch": {"expression": "[]"}}]}, True),
    ],
)
def test_a_policy_of_the_stack_closes_it(spec: Any, says: bool) -> None:
    policy = Resource(
        type="kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy",
        name="isolation",
        properties={"spec": spec},
    )
    assert bool(told(pool(), policy, workload())) is says
