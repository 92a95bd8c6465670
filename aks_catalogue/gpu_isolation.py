"""Which GPUs a container sees besides those that it asked for, and what keeps it from that.

Where AKS installs the driver, containerd starts every container with NVIDIA's runtime. That gives a
container the GPUs that its environment names, and images with CUDA name all of them.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from aks_catalogue import quantities
from aks_catalogue.device_plugin import PREFIX
from aks_catalogue.shapes import mapping

# The date of these facts.
AS_OF = date(2026, 11, 28)

# What NVIDIA's runtime reads. The device plugin sets it for the containers that ask for GPUs; a
# value in the pod's own spec comes after it, and wins.
VARIABLE = "NVIDIA_VISIBLE_DEVICES"
# The values without GPUs: no part of the driver, and the driver alone.
VOID, DRIVER_ALONE = "void", "none"
DEVICES = "/dev/nvidia"

# The first version of Kubernetes with MutatingAdmissionPolicy switched on.
SINCE = (1, 36)
# A namespace with this label is left alone.
LABEL, EXEMPT = "aks-gpu/gpu-isolation", "exempt"
# Where agents need all GPUs, or all devices: AKS's own, and the usual ones of device plugins and of
# the GPU Operator.
AGENTS = (
    "kube-system", "calico-system", "tigera-operator", "gatekeeper-system", "gpu-resources",
    "gpu-operator",
)  # fmt: skip


def asked(container: Mapping[str, Any]) -> int:
    """Returns how many GPUs, shares or slices a container asks for."""
    limits = mapping(mapping(container.get("resources")).get("limits"))
    return sum(_whole(limits[name]) for name in limits if str(name).startswith(PREFIX))


def _whole(amount: Any) -> int:
    try:
        return max(int(quantities.parse(str(amount)).amount), 0)
    except (ValueError, ArithmeticError):
        return 0
