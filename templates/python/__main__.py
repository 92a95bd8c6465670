"""A cluster on AKS with one GPU node, and NVIDIA's device plugin on it."""

import pulumi
import pulumi_kubernetes as kubernetes

from components import (
    AksCluster,
    AksClusterArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SystemPoolArgs,
)

location = pulumi.Config("azure-native").require("location")
name = f"{pulumi.get_project()}-{pulumi.get_stack()}"

group = ResourceGroup("group", ResourceGroupArgs(resource_group_name=name, location=location))
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.resource_group_name,
        location=location,
        cluster_name=name,
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
    ),
)
pool = GpuNodePool(
    "gpu",
    GpuNodePoolArgs(
        resource_group_name=group.resource_group_name,
        cluster_name=cluster.cluster_name,
        pool_name="gpu",
        vm_size=pulumi.Config().require("vmSize"),
        count=1,
    ),
)
provider = kubernetes.Provider(
    "kubernetes",
    kubeconfig=cluster.kubeconfig,
    # What kubectl has changed is shown in previews, and restored, instead of a field conflict.
    enable_patch_force=True,
)
NvidiaDevicePlugin(
    "plugin",
    NvidiaDevicePluginArgs(pools=[PluginPoolArgs.of(pool)]),
    pulumi.ResourceOptions(provider=provider, depends_on=[pool]),
)

pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("pod", pool.placement())
