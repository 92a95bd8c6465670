"""What runs on the cluster: the device plugin, where the stack brings it, and the sample job."""

import pulumi
import pulumi_kubernetes as kubernetes

from components import (
    AksCluster,
    ExistingAksCluster,
    GpuNodePool,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    SampleJob,
    SampleJobArgs,
)
from settings import Settings


def add_workloads(
    stack: Settings, cluster: AksCluster | ExistingAksCluster, pools: list[GpuNodePool]
) -> None:
    """Adds what the stack has on its cluster."""
    plugin_pools = stack.pools_of("device-plugin")
    provider = kubernetes.Provider(
        "kubernetes", kubeconfig=cluster.kubeconfig, cluster_identifier=cluster.identifier
    )
    # With the stack's own cluster its objects go by themselves, also where nobody answers any more.
    gone_with = cluster.managed_cluster if isinstance(cluster, AksCluster) else None
    before_the_job: list[pulumi.Resource] = [*pools]
    if plugin_pools:
        pools_of_plugin = [PluginPoolArgs.of(pool) for pool in pools]
        if stack.system_pool in plugin_pools:
            pools_of_plugin.append(PluginPoolArgs(pool_name=stack.system_pool.name))
        plugin = NvidiaDevicePlugin(
            "device-plugin",
            NvidiaDevicePluginArgs(
                edition=stack.device_plugin.edition,
                image=stack.device_plugin.image or None,
                namespace=stack.device_plugin.namespace,
                create_namespace=stack.device_plugin.create_namespace,
                pools=pools_of_plugin,
            ),
            pulumi.ResourceOptions(provider=provider, depends_on=pools, deleted_with=gone_with),
        )
        before_the_job.append(plugin)
    if stack.sample_job.enabled:
        SampleJob(
            "sample-job",
            SampleJobArgs(
                image=stack.sample_job.image,
                node_taints=[pool.node_taints for pool in pools],
            ),
            pulumi.ResourceOptions(
                provider=provider, depends_on=before_the_job, deleted_with=gone_with
            ),
        )
