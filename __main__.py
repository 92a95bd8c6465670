"""The program: a stack's settings, the components they ask for, and the stack's outputs."""

import pulumi

import settings
from components import (
    AksCluster,
    AksClusterArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SystemPoolArgs,
)

try:
    stack = settings.load(pulumi.runtime.get_config_env())
except settings.SettingsError as error:
    raise pulumi.RunError(f"This stack file cannot be used:\n{error}") from None

group = ResourceGroup(
    "group",
    ResourceGroupArgs(resource_group_name=stack.resource_group, location=stack.location),
)
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name=group.resource_group_name,
        location=stack.location,
        cluster_name=stack.cluster,
        kubernetes_version=stack.kubernetes_version or None,
        system_pool=SystemPoolArgs(
            vm_size=stack.system_pool.vm_size, count=stack.system_pool.count
        ),
    ),
)
pools = {
    pool.name: GpuNodePool(
        pool.name,
        GpuNodePoolArgs(
            resource_group_name=cluster.resource_group_name,
            cluster_name=cluster.cluster_name,
            pool_name=pool.name,
            vm_size=pool.vm_size,
            count=pool.count,
        ),
    )
    for pool in stack.gpu_pools
}

pulumi.export("resourceGroupName", group.resource_group_name)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("clusterId", cluster.id)
pulumi.export("gpuPools", {name: pool.id for name, pool in pools.items()})
