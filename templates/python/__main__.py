"""A cluster on AKS with one GPU node, and NVIDIA's device plugin on it."""

import pulumi
import pulumi_kubernetes as kubernetes

# `pulumi install` makes it, in the folder sdks.
from aks_gpu_aks_gpu import components

location = pulumi.Config("azure-native").require("location")
name = f"{pulumi.get_project()}-{pulumi.get_stack()}"

group = components.ResourceGroup("group", resource_group_name=name, location=location)
cluster = components.AksCluster(
    "cluster",
    resource_group_name=group.resource_group_name,
    location=location,
    cluster_name=name,
    system_pool={"vm_size": "Standard_D4ds_v5"},
)
pool = components.GpuNodePool(
    "gpu",
    resource_group_name=group.resource_group_name,
    cluster_name=cluster.cluster_name,
    pool_name="gpu",
    vm_size=pulumi.Config().require("vmSize"),
    count=1,
)
provider = kubernetes.Provider(
    "kubernetes",
    kubeconfig=cluster.kubeconfig,
    # What kubectl has changed is shown in previews, and restored, instead of a field conflict.
    enable_patch_force=True,
)
components.NvidiaDevicePlugin(
    "plugin",
    pools=[{"pool_name": pool.pool_name, "node_taints": pool.node_taints}],
    opts=pulumi.ResourceOptions(providers={"kubernetes": provider}, depends_on=[pool]),
)

pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("pod", pool.pod)
