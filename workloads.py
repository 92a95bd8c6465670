"""What runs on the cluster: the device plugin, where the stack brings it, and the sample job."""

import pulumi
import pulumi_kubernetes as kubernetes

from components import (
    AksCluster,
    GpuNodePool,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    SampleJob,
    SampleJobArgs,
)
from settings import Settings

_LOOK = (
    "kubectl get nodes -l accelerator=nvidia",
    "kubectl describe nodes -l accelerator=nvidia",
)


def add_workloads(stack: Settings, cluster: AksCluster, pools: list[GpuNodePool]) -> None:
    """Adds what the stack wants to have running on its cluster."""
    plugin_pools = stack.pools_of("device-plugin")
    if not plugin_pools and not stack.sample_job.enabled:
        return
    provider = kubernetes.Provider("kubernetes", kubeconfig=cluster.kubeconfig)
    waits: list[pulumi.Resource] = [*pools]
    if plugin_pools:
        waits.append(_device_plugin(stack, pools, provider))
    if stack.sample_job.enabled:
        SampleJob(
            "sample-job",
            SampleJobArgs(image=stack.sample_job.image, pools=pools),
            pulumi.ResourceOptions(provider=provider, depends_on=waits),
        )


def next_steps(group: pulumi.Output[str], cluster: pulumi.Output[str]) -> pulumi.Output[list[str]]:
    """The commands with which people go on from here."""
    credentials = pulumi.Output.format(
        "az aks get-credentials --resource-group {0} --name {1}", group, cluster
    )
    return credentials.apply(lambda command: [command, *_LOOK])


def _device_plugin(
    stack: Settings, pools: list[GpuNodePool], provider: kubernetes.Provider
) -> NvidiaDevicePlugin:
    system = stack.system_pool
    other_pools = (
        [PluginPoolArgs(pool_name=system.name)] if system in stack.pools_of("device-plugin") else []
    )
    return NvidiaDevicePlugin(
        "device-plugin",
        NvidiaDevicePluginArgs(
            edition=stack.device_plugin.edition,
            image=stack.device_plugin.image or None,
            namespace=stack.device_plugin.namespace,
            create_namespace=stack.device_plugin.create_namespace,
            pools=pools,
            other_pools=other_pools,
        ),
        pulumi.ResourceOptions(provider=provider, depends_on=pools),
    )
