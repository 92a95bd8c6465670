"""What runs on the cluster: device plugin or GPU Operator, and the sample job."""

from dataclasses import replace

import pulumi
import pulumi_kubernetes as kubernetes

from aks_catalogue.device_plugin import GPU
from components import (
    AksCluster,
    AutoscalerPriorities,
    AutoscalerPrioritiesArgs,
    ExistingAksCluster,
    GpuCapacity,
    GpuIsolation,
    GpuIsolationArgs,
    GpuNodePool,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    NvidiaGpuOperator,
    NvidiaGpuOperatorArgs,
    OperatorPoolArgs,
    PluginPoolArgs,
    SampleJob,
    SampleJobArgs,
)
from stack_settings.model import Settings


def add_workloads(
    stack: Settings,
    cluster: AksCluster | ExistingAksCluster,
    pools: list[GpuNodePool],
    capacities: list[GpuCapacity],
) -> None:
    """Adds what the stack has on its cluster."""
    plugin_pools = stack.pools_of("device-plugin")
    provider = kubernetes.Provider(
        "kubernetes",
        kubeconfig=cluster.kubeconfig,
        cluster_identifier=cluster.identifier,
        # Otherwise a change by kubectl makes every preview fail that would show it.
        enable_patch_force=True,
        # Otherwise the autoscaler has no order while a change of it replaces its ConfigMap.
        enable_config_map_mutable=True,
    )
    # With the stack's own cluster its objects go by themselves, also where nobody answers any more.
    gone_with = cluster.managed_cluster if isinstance(cluster, AksCluster) else None
    before_the_job: list[pulumi.Resource] = [*pools]
    if capacities:
        AutoscalerPriorities(
            "autoscaler-priorities",
            AutoscalerPrioritiesArgs(pool_names=[each.pool_names for each in capacities]),
            pulumi.ResourceOptions(provider=provider, deleted_with=gone_with),
        )
    if stack.gpu_isolation.enabled:
        isolation = stack.gpu_isolation.as_args(GpuIsolationArgs)
        agents = [*isolation.exempt_namespaces, stack.device_plugin.namespace]
        GpuIsolation(
            "gpu-isolation",
            replace(isolation, exempt_namespaces=agents),
            pulumi.ResourceOptions(provider=provider, deleted_with=gone_with),
        )
    if plugin_pools:
        pools_of_plugin = [PluginPoolArgs.of(pool) for pool in pools]
        if stack.system_pool in plugin_pools:
            pools_of_plugin.append(PluginPoolArgs(pool_name=stack.system_pool.name))
        plugin = NvidiaDevicePlugin(
            "device-plugin",
            stack.device_plugin.as_args(NvidiaDevicePluginArgs, pools=pools_of_plugin),
            pulumi.ResourceOptions(provider=provider, depends_on=pools, deleted_with=gone_with),
        )
        before_the_job.append(plugin)
    if stack.pools_of("operator"):
        operator = NvidiaGpuOperator(
            "gpu-operator",
            stack.gpu_operator.as_args(
                NvidiaGpuOperatorArgs, pools=[OperatorPoolArgs.of(pool) for pool in pools]
            ),
            pulumi.ResourceOptions(provider=provider, depends_on=pools, deleted_with=gone_with),
        )
        before_the_job.append(operator)
    if stack.sample_job.enabled:
        SampleJob(
            "sample-job",
            stack.sample_job.as_args(
                SampleJobArgs,
                node_taints=[pool.node_taints for pool in pools],
                resource_name=_resource_of_the_job(stack, pools),
            ),
            pulumi.ResourceOptions(
                provider=provider, depends_on=before_the_job, deleted_with=gone_with
            ),
        )


def _resource_of_the_job(stack: Settings, pools: list[GpuNodePool]) -> pulumi.Input[str]:
    """Returns the name by which the job gets a GPU of some pool: the usual one, if one has it."""
    if not pools or stack.system_pool in stack.pools_with_gpus:
        return GPU
    names = pulumi.Output.all(*(pool.resource_name for pool in pools))
    return names.apply(lambda found: GPU if GPU in found else found[0] or GPU)
