from typing import Any

import pytest

from policies.rules.gpu_software_images import gpu_software_images
from tests.policies.policy_harness import Resource, findings

ALLOWED = {"registries": ["mcr.microsoft.com", "nvcr.io/nvidia", "docker.io/library"]}
RELEASE = "kubernetes:helm.sh/v3:Release"
OPERATOR = {"driver": {"enabled": True, "repository": "nvcr.io/nvidia"}}


@pytest.mark.parametrize(
    ("image", "count"),
    [
        ("mcr.microsoft.com/oss/nvidia/k8s-device-plugin:v0.18.2", 0),
        ("nvcr.io/nvidia/cloud-native/x@sha256:abc", 0),
        ("nginx:1", 0),
        ("evil.example/k8s-device-plugin:v0.18.2", 1),
        ("nvcr.io/nvidia-lookalike/x", 1),
        ("someone/k8s-device-plugin", 1),
    ],
)
def test_images_of_other_registries_are_found(image: str, count: int) -> None:
    containers = [{"name": "plugin", "image": image}]
    plugin = Resource(
        type="kubernetes:apps/v1:DaemonSet",
        properties={"spec": {"template": {"spec": {"containers": containers}}}},
    )
    assert len(findings(gpu_software_images, plugin, config=ALLOWED)) == count
    assert not findings(gpu_software_images, plugin)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({**OPERATOR, "toolkit": {"repository": "evil.example/x"}}, "values.toolkit.repository"),
        ({"image": {"registry": "evil.example"}}, "values.image.registry"),
        ({"gpu-operator": {"validator": {"image": "evil.example/v"}}}, "validator.image"),
        ({"driver": {"manager": {"repository": "evil.example"}}}, "driver.manager.repository"),
    ],
)
def test_values_of_charts_are_judged_too(values: dict[str, Any], place: str) -> None:
    """A colleague's values chose a privileged image, and one approval was enough."""
    release = Resource(type=RELEASE, properties={"chart": "gpu-operator", "values": values})
    (found,) = findings(gpu_software_images, release, config=ALLOWED)
    assert place in found
    fine = Resource(type=RELEASE, properties={"chart": "gpu-operator", "values": OPERATOR})
    assert not findings(gpu_software_images, fine, config=ALLOWED)


def test_a_container_without_an_image_is_no_finding() -> None:
    """A patch leaves the image out: it was found to be of Docker Hub."""
    pods = {"spec": {"containers": [{"name": "plugin"}]}}
    patch = Resource(
        type="kubernetes:apps/v1:DaemonSetPatch", properties={"spec": {"template": pods}}
    )
    only = {"registries": ["mcr.microsoft.com"]}
    assert not findings(gpu_software_images, patch, config=only)
