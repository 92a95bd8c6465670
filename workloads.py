"""What runs on the cluster: the device plugin, where the stack brings it, and the sample job."""

import pulumi
import pulumi_kubernetes as kubernetes

from components import (
    GpuNodePool,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    SampleJob,
    SampleJobArgs,
)
from settings import Settings


def add_workloads(
    stack: Settings, kubeconfig: pulumi.Output[str], pools: list[GpuNodePool]
) -> None:
    """Adds what the stack has on its cluster."""
    plugin_pools = stack.pools_of("device-plugin")
    if not plugin_pools and not stack.sample_job.enabled:
        return
    provider = kubernetes.Provider("kubernetes", kubeconfig=kubeconfig)
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
            pulumi.ResourceOptions(provider=provider, depends_on=pools),
        )
        before_the_job.append(plugin)
    if stack.sample_job.enabled:
        SampleJob(
            "sample-job",
            SampleJobArgs(
                image=stack.sample_job.image,
                node_taints=[pool.node_taints for pool in pools],
            ),
            pulumi.ResourceOptions(provider=provider, depends_on=before_the_job),
        )
