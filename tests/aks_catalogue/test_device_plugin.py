"""Which containers run NVIDIA's device plugin."""

from typing import Any

import pytest

from aks_catalogue.device_plugin import is_plugin

NEW = "nvcr.io/nvidia/k8s-device-plugin:v0.18.2"


@pytest.mark.parametrize(
    ("container", "is_it"),
    [
        ({"image": NEW}, True),
        ({"image": NEW, "command": ["nvidia-device-plugin", "--mig-strategy=single"]}, True),
        ({"image": NEW, "command": ["sh", "-c"], "args": ["/usr/bin/nvidia-device-plugin"]}, True),
        # The same image holds these.
        ({"image": NEW, "command": ["config-manager"]}, False),
        ({"image": NEW, "command": ["/usr/bin/gpu-feature-discovery"]}, False),
        ({"image": NEW, "command": ["mps-control-daemon"]}, False),
        ({"image": NEW, "command": ["sh", "-c", "sleep 10"]}, False),
        ({"image": NEW, "command": ["/bin/bash", "-c"], "args": ["/bin/entrypoint.sh"]}, True),
        ({"image": "nvidia/k8s-device-plugin:1.11"}, True),
        ({"image": "registry:5000/k8s-device-plugin@sha256:0"}, True),
        ({"image": "registry/my-k8s-device-plugin:1"}, False),
        # Mirrors whose path is flat have the vendor in the name.
        ({"image": "registry/mirror/nvidia-k8s-device-plugin:1.0"}, True),
        ({"image": "registry/nvcr-io_nvidia_k8s-device-plugin"}, True),
        ({"image": "registry/nvidia-device-plugin:v0.18.2"}, True),
        ({"image": "registry/nvidia-device-plugin:1", "command": ["config-manager"]}, False),
        ({"image": "nvcr.io/nvidia/kubevirt-gpu-device-plugin:v1.2"}, False),
        ({"image": "nvcr.io/nvidia/nvidia-sandbox-device-plugin:v1"}, False),
        ({"image": "nvcr.io/nvidia/gpu-operator:v25.3.0"}, False),
        ({}, False),
        ({"image": "busybox", "command": ["nvidia-device-plugin"]}, False),
        # AMD's plugin is called the same.
        ({"image": "rocm/k8s-device-plugin:1.25.2.8"}, False),
        ({"image": "docker.io/rocm/k8s-device-plugin"}, False),
        # Mirrors of it, told by its versions: NVIDIA's are 0.x, 1.0.0-beta, and those of 2018.
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:1.31.0.9"}, False),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:v1.31"}, False),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:labeller-1.31.0.9"}, False),
        ({"image": "contoso.azurecr.io/amd/k8s-device-plugin:latest"}, False),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:v0.18.2-ubi9"}, True),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:1.0.0-beta6"}, True),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:1.11"}, True),
        ({"image": "contoso.azurecr.io/mirror/k8s-device-plugin:latest"}, True),
        # What NVIDIA's own may be called one day.
        ({"image": "nvcr.io/nvidia/k8s-device-plugin:v1.2.0"}, True),
    ],
)
def test_containers_of_device_plugins_are_recognized(
    container: dict[str, Any], is_it: bool
) -> None:
    assert is_plugin(container) is is_it
