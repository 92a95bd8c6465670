"""The two rules on images, on containers wherever they are."""

from collections.abc import Mapping
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.container_image_pinned import container_image_pinned
from policies.rules.container_image_registry import container_image_registry
from tests.policies.policy_harness import Resource, findings

MCR = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin"
DIGEST = f"sha256:{'0' * 64}"


def workload(resource_type: str, *images: str, key: str = "containers") -> Resource:
    pods: dict[str, Any] = {key: [{"name": f"c{n}", "image": one} for n, one in enumerate(images)]}
    spec: Mapping[str, Any]
    if resource_type.endswith(":Pod"):
        spec = pods
    elif resource_type.endswith(":CronJob"):
        spec = {"jobTemplate": {"spec": {"template": {"spec": pods}}}}
    else:
        spec = {"template": {"spec": pods}}
    return Resource(type=resource_type, properties={"spec": spec})


def job(*images: str) -> Resource:
    return workload("kubernetes:batch/v1:Job", *images)


def test_an_image_that_is_accepted_is_let_through() -> None:
    demo = "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
    config = {"acceptedImages": [demo]}
    (found,) = findings(container_image_pinned, job(demo, "busybox"), config=config)
    assert "busybox" in found


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (f"{MCR}:v0.18.2", None),
        (f"{MCR}:1.11", None),
        (f"nvcr.io/nvidia/pytorch@{DIGEST}", None),
        (f"nvcr.io/nvidia/pytorch:latest@{DIGEST}", None),
        ("nvcr.io/nvidia/pytorch:24.05-py3", None),
        ("registry.k8s.io:5000/a:20240501", None),
        ("registry/a:3f9c2ab", None),
        ("mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu", "the tag gpu"),
        ("busybox:latest", "the tag latest"),
        ("busybox:1", "the tag 1"),
        ("busybox", "no tag"),
        # A port is no tag.
        ("registry.k8s.io:5000/a", "no tag"),
    ],
)
def test_images_are_named_by_a_version(image: str, said: str | None) -> None:
    found = findings(container_image_pinned, job(image))
    assert found == (
        [
            f"The container c0 uses {image}, with {said}: what runs changes when somebody pushes "
            "an image. Use a tag with a version, or a digest."
        ]
        if said
        else []
    )


@pytest.mark.parametrize("key", ["containers", "initContainers"])
@pytest.mark.parametrize(
    "resource_type",
    [
        "kubernetes:core/v1:Pod",
        "kubernetes:core/v1:ReplicationController",
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:apps/v1:DaemonSetPatch",
        "kubernetes:apps/v1beta2:Deployment",
        "kubernetes:extensions/v1beta1:ReplicaSet",
        "kubernetes:apps/v1:StatefulSet",
        "kubernetes:batch/v1:Job",
        "kubernetes:batch/v1beta1:CronJob",
    ],
)
def test_wherever_the_containers_are(resource_type: str, key: str) -> None:
    found = findings(
        container_image_pinned, workload(resource_type, "a:latest", "b:1.2", "c", key=key)
    )
    assert [text.split()[2] for text in found] == ["c0", "c2"]


def test_resources_without_pods_pass() -> None:
    other = workload("kubernetes:core/v1:Service", "a:latest")
    assert findings(container_image_pinned, other) == []


def test_an_image_that_is_not_known_yet_hides_no_other() -> None:
    found = findings(container_image_pinned, job(UNKNOWN_STRING_VALUE, "a:latest"))
    assert [text.split()[2] for text in found[:-1]] == ["c1"]
    assert found[-1].startswith("can't run: string value at .spec.template.spec.containers.0.image")


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (f"{MCR}:v0.18.2", 0),
        ("mcr.microsoft.com.evil.example/a:1.2", 1),
        ("nvcr.io/nvidia/pytorch:24.05", 0),
        ("nvcr.io/nvidiaa/pytorch:24.05", 1),
        ("busybox:1.36", 0),
        ("docker.io/library/busybox:1.36", 0),
        ("someone/busybox:1.36", 1),
        ("localhost/a:1.2", 1),
    ],
)
def test_registries(image: str, found: int) -> None:
    allowed = {"registries": ["mcr.microsoft.com", "nvcr.io/nvidia", "docker.io/library/"]}
    assert len(findings(container_image_registry, job(image), config=allowed)) == found
    assert findings(container_image_registry, job(image)) == []


ONE_IMAGE = [
    f"{registry}{path}nginx{tail}"
    for registry, path in (
        ("", ""),
        ("", "library/"),
        ("docker.io/", ""),
        ("docker.io/", "library/"),
        ("index.docker.io/", ""),
        ("index.docker.io/", "library/"),
    )
    for tail in (":1.27", f"@{DIGEST}", f":1.27@{DIGEST}")
]


@pytest.mark.parametrize("image", ONE_IMAGE)
def test_one_image_by_all_of_its_names(image: str) -> None:
    for registry, found in (
        ("docker.io", 0),
        ("docker.io/library", 0),
        ("docker.io/library/nginx", 0),
        ("index.docker.io", 0),
        ("index.docker.io/library/", 0),
        ("docker.io/nginx", 1),
        ("mcr.microsoft.com", 1),
    ):
        config = {"registries": [registry]}
        assert len(findings(container_image_registry, job(image), config=config)) == found


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("index.docker.io/someone/a:1.2", "docker.io/someone/a"),
        ("docker.io/someone/a:1.2", "docker.io/someone/a"),
        ("docker.io/a:1.2", "docker.io/library/a"),
        # A path of one part is a matter of that registry alone.
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause"),
        ("localhost/a:1.2", "localhost/a"),
        ("docker.io.example:5000/a:1.2", "docker.io.example:5000/a"),
    ],
)
def test_images_have_one_normalized_name(image: str, repository: str) -> None:
    config = {"registries": ["nvcr.io"]}
    assert findings(container_image_registry, job(image), config=config) == [
        f"The container c0 uses {image}, from {repository}, which is not allowed. Use an image "
        "from nvcr.io."
    ]


def test_an_image_of_another_registry_is_reported_with_its_registry() -> None:
    config = {"registries": ["mcr.microsoft.com", "nvcr.io"]}
    assert findings(container_image_registry, job("someone/a:1.2"), config=config) == [
        "The container c0 uses someone/a:1.2, from docker.io/someone/a, which is not allowed. Use "
        "an image from mcr.microsoft.com, nvcr.io."
    ]


def templates(kind: str, spec: dict[str, Any]) -> Resource:
    return Resource(type=f"kubernetes:{kind}", properties=spec)


PODS = {"template": {"spec": {"containers": [{"name": "a", "image": "busybox"}]}}}


@pytest.mark.parametrize(
    "resource",
    [
        templates("core/v1:PodTemplate", PODS),
        templates("core/v1:PodList", {"items": [{"spec": PODS["template"]["spec"]}]}),
        templates("apps/v1:DeploymentList", {"items": [{"spec": PODS}]}),
        templates("ray.io/v1:RayCluster", {"spec": {"workerGroupSpecs": [PODS]}}),
        templates("ray.io/v1:RayJob", {"spec": {"rayClusterSpec": {"headGroupSpec": PODS}}}),
        templates("batch.volcano.sh/v1alpha1:Job", {"spec": {"tasks": [PODS]}}),
        templates(
            "jobset.x-k8s.io/v1alpha2:JobSet", {"spec": {"jobs": [{"template": {"spec": PODS}}]}}
        ),
        templates(
            "kubeflow.org/v1:PyTorchJob", {"spec": {"pytorchReplicaSpecs": {"Worker": PODS}}}
        ),
    ],
    ids=lambda one: one.type,
)
def test_in_any_workload_with_a_template_of_pods(resource: Resource) -> None:
    """Only Kubernetes' own workloads were looked at."""
    (found,) = findings(container_image_pinned, resource)
    assert "busybox" in found


def test_values_of_charts_are_not_judged() -> None:
    values = {"containers": [{"image": "busybox"}], "spec": UNKNOWN_STRING_VALUE}
    release = templates("helm.sh/v3:Release", {"chart": "a", "values": values})
    assert findings(container_image_pinned, release) == []


def test_only_the_pod_templates_of_a_custom_resource_must_be_known() -> None:
    known = templates("ray.io/v1:RayCluster", {"status": UNKNOWN_STRING_VALUE, "spec": PODS})
    assert len(findings(container_image_pinned, known)) == 1
    unknown = templates("ray.io/v1:RayCluster", {"spec": UNKNOWN_STRING_VALUE})
    (said,) = findings(container_image_pinned, unknown)
    assert said.startswith("can't run: ")
