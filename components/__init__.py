"""Reusable components: each builds one thing of a GPU cluster on AKS.

They are loaded when first asked for: a program of pools can do without Kubernetes' classes, which
take as much memory as some hundred pools.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.aks_cluster import (
        AksCluster,
        AksClusterArgs,
        ExistingAksClusterArgs,
        NetworkArgs,
        SystemPoolArgs,
    )
    from components.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
    from components.nvidia_device_plugin import (
        NvidiaDevicePlugin,
        NvidiaDevicePluginArgs,
        PluginPoolArgs,
    )
    from components.resource_group import (
        ExistingResourceGroupArgs,
        ResourceGroup,
        ResourceGroupArgs,
    )
    from components.sample_job import SampleJob, SampleJobArgs
    from components.specialised_gpu_image import SpecialisedGpuImage, SpecialisedGpuImageArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "ExistingAksClusterArgs",
    "ExistingResourceGroupArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "NetworkArgs",
    "NvidiaDevicePlugin",
    "NvidiaDevicePluginArgs",
    "PluginPoolArgs",
    "ResourceGroup",
    "ResourceGroupArgs",
    "SampleJob",
    "SampleJobArgs",
    "SpecialisedGpuImage",
    "SpecialisedGpuImageArgs",
    "SystemPoolArgs",
]

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "AksCluster": "aks_cluster",
        "AksClusterArgs": "aks_cluster",
        "ExistingAksClusterArgs": "aks_cluster",
        "ExistingResourceGroupArgs": "resource_group",
        "GpuNodePool": "gpu_node_pool",
        "GpuNodePoolArgs": "gpu_node_pool",
        "NetworkArgs": "aks_cluster",
        "NvidiaDevicePlugin": "nvidia_device_plugin",
        "NvidiaDevicePluginArgs": "nvidia_device_plugin",
        "PluginPoolArgs": "nvidia_device_plugin",
        "ResourceGroup": "resource_group",
        "ResourceGroupArgs": "resource_group",
        "SampleJob": "sample_job",
        "SampleJobArgs": "sample_job",
        "SpecialisedGpuImage": "specialised_gpu_image",
        "SpecialisedGpuImageArgs": "specialised_gpu_image",
        "SystemPoolArgs": "aks_cluster",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'components' has no attribute {name!r}")
    return getattr(import_module(f"components.{_MODULES[name]}"), name)
