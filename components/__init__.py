"""Reusable components: each builds one thing of a GPU cluster on AKS."""

from components.aks_cluster import AksCluster, AksClusterArgs, SystemPoolArgs
from components.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from components.resource_group import ResourceGroup, ResourceGroupArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "ResourceGroup",
    "ResourceGroupArgs",
    "SystemPoolArgs",
]
