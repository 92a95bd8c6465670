"""A pod that shows a GPU at work, and the look for open GPUs of docs/isolation.md.

It is NVIDIA's vector addition; for AMD's GPUs, which have no CUDA, AMD's list of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aks_catalogue.device_plugin import GPU
from aks_catalogue.gpu_resources import AMD_GPU
from aks_catalogue.images import AMD_SMI, VECTOR_ADD
from aks_catalogue.scheduling import Toleration

# Lists the device files of GPUs that a container has, and ends with a word for that it did.
LOOKED = "looked"
LOOK = ("sh", "-c", f"ls -1 /dev/nvidia[0-9]* 2>/dev/null; echo {LOOKED}")


def sample_pod(
    resource_name: str | None, selector: Mapping[str, str], tolerated: Sequence[Toleration]
) -> dict[str, Any]:
    """Returns a pod that asks for one GPU, ready for kubectl apply."""
    container: dict[str, Any] = {"name": "vectoradd", "image": VECTOR_ADD}
    if resource_name == AMD_GPU:
        container = {"name": "amd-smi", "image": AMD_SMI, "command": ["amd-smi", "monitor"]}
    container["resources"] = {"limits": {resource_name or GPU: "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": container["name"]},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "nodeSelector": dict(selector),
            "tolerations": [*tolerated],
        },
    }
