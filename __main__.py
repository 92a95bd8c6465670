"""The program: a stack's settings, the components they ask for, and the stack's outputs."""

from typing import Any

import pulumi

import components as gpu
import settings
from workloads import add_workloads, next_steps

try:
    stack = settings.load(pulumi.runtime.get_config_env(), pulumi.log.warn)
except settings.SettingsError as error:
    raise pulumi.RunError(f"This stack file cannot be used:\n{error}") from None

everywhere = stack.model_dump(include={"tags"})
features = pulumi.ResourceOptions()
if specialised := stack.pools_of("specialised-image"):
    image = gpu.SpecialisedGpuImage("specialised-image", gpu.SpecialisedGpuImageArgs())
    features = pulumi.ResourceOptions(depends_on=[image])

names: dict[str, Any] = {"resource_group_name": stack.resource_group.name}
if stack.resource_group.existing:
    group = gpu.ResourceGroup.existing("group", gpu.ExistingResourceGroupArgs(**names))
else:
    new_group = gpu.ResourceGroupArgs(**names, **everywhere, location=stack.location)
    group = gpu.ResourceGroup("group", new_group)

names = {"resource_group_name": group.resource_group_name, "cluster_name": stack.cluster.name}
if stack.cluster.existing:
    cluster = gpu.AksCluster.existing("cluster", gpu.ExistingAksClusterArgs(**names))
else:
    new_cluster = gpu.AksClusterArgs(
        **{**names, **everywhere, **stack.cluster.arguments()},
        location=stack.location,
        network=gpu.NetworkArgs(**stack.network.model_dump()),
        system_pool=gpu.SystemPoolArgs(**stack.system_pool.arguments()),
    )
    waits = features if stack.system_pool in specialised else None
    cluster = gpu.AksCluster("cluster", new_cluster, waits)

names["cluster_name"] = cluster.cluster_name
pools = [
    gpu.GpuNodePool(
        pool.name,
        gpu.GpuNodePoolArgs(
            **{**names, **everywhere, **pool.arguments()}, subnet_id=stack.network.subnet_id
        ),
        features if pool in specialised else None,
    )
    for pool in stack.gpu_pools
]
add_workloads(stack, cluster, pools)

pulumi.export("resourceGroupName", group.resource_group_name)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("clusterId", cluster.id)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("gpuPools", {pool.pool_name: pool.placement() for pool in pools})
pulumi.export("nextSteps", next_steps(group.resource_group_name, cluster.cluster_name))
