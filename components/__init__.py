"""Reusable components for GPU clusters on AKS."""

from provider_kit.loading import unsearched

with unsearched():
    from components.aks_cluster import (
        AksCluster,
        AksClusterArgs,
        AutoscalerArgs,
        EntraArgs,
        ExistingAksCluster,
        ExistingAksClusterArgs,
        MaintenanceArgs,
        NetworkArgs,
        SystemPoolArgs,
    )
    from components.autoscaler_priorities import AutoscalerPriorities, AutoscalerPrioritiesArgs
    from components.gpu_capacity import GpuCapacity, GpuCapacityArgs
    from components.gpu_isolation import GpuIsolation, GpuIsolationArgs
    from components.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
    from components.infiniband_feature import InfinibandFeature, InfinibandFeatureArgs
    from components.managed_gpu_feature import ManagedGpuFeature, ManagedGpuFeatureArgs
    from components.node_pool import NodePool, NodePoolArgs
    from components.nvidia_device_plugin import (
        NvidiaDevicePlugin,
        NvidiaDevicePluginArgs,
        PluginPoolArgs,
    )
    from components.nvidia_gpu_operator import (
        NvidiaGpuOperator,
        NvidiaGpuOperatorArgs,
        OperatorPoolArgs,
    )
    from components.registry_access import RegistryAccess, RegistryAccessArgs
    from components.resource_group import (
        ExistingResourceGroup,
        ExistingResourceGroupArgs,
        ResourceGroup,
        ResourceGroupArgs,
    )
    from components.sample_job import SampleJob, SampleJobArgs
    from components.sharing import SharingArgs, TimeSlicingArgs
    from components.specialized_gpu_image import SpecializedGpuImage, SpecializedGpuImageArgs
    from components.system_node_pool import SystemNodePool, SystemNodePoolArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "AutoscalerArgs",
    "AutoscalerPriorities",
    "AutoscalerPrioritiesArgs",
    "EntraArgs",
    "ExistingAksCluster",
    "ExistingAksClusterArgs",
    "ExistingResourceGroup",
    "ExistingResourceGroupArgs",
    "GpuCapacity",
    "GpuCapacityArgs",
    "GpuIsolation",
    "GpuIsolationArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "InfinibandFeature",
    "InfinibandFeatureArgs",
    "MaintenanceArgs",
    "ManagedGpuFeature",
    "ManagedGpuFeatureArgs",
    "NetworkArgs",
    "NodePool",
    "NodePoolArgs",
    "NvidiaDevicePlugin",
    "NvidiaDevicePluginArgs",
    "NvidiaGpuOperator",
    "NvidiaGpuOperatorArgs",
    "OperatorPoolArgs",
    "PluginPoolArgs",
    "RegistryAccess",
    "RegistryAccessArgs",
    "ResourceGroup",
    "ResourceGroupArgs",
    "SampleJob",
    "SampleJobArgs",
    "SharingArgs",
    "SpecializedGpuImage",
    "SpecializedGpuImageArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "SystemPoolArgs",
    "TimeSlicingArgs",
]
