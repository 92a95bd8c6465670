"""What runs on the cluster: device plugin or GPU Operator, and the sample job."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from catalogue import rotation
from catalogue.device_plugin import GPU, is_plugin
from catalogue.nodes import POOL_LABEL
from catalogue.scheduling import affinity_terms
from catalogue.shapes import at, mapping, mappings, sequence
from components import (
    AksCluster,
    ExistingAksCluster,
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
from components.hooks import guard
from kube.client import ApiError, Client
from kube.kubeconfig import KubeconfigError, choose, connect, parse
from settings import Settings


def add_workloads(
    stack: Settings, cluster: AksCluster | ExistingAksCluster, pools: list[GpuNodePool]
) -> None:
    """Adds what the stack has on its cluster."""
    plugin_pools = stack.pools_of("device-plugin")
    provider = kubernetes.Provider(
        "kubernetes",
        kubeconfig=cluster.kubeconfig,
        cluster_identifier=cluster.identifier,
        # Otherwise a change by kubectl makes every preview fail that would show it.
        enable_patch_force=True,
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
    if stack.pools_of("operator"):
        operator = NvidiaGpuOperator(
            "gpu-operator",
            NvidiaGpuOperatorArgs(
                driver=stack.gpu_operator.driver,
                version=stack.gpu_operator.version,
                timeout_seconds=stack.gpu_operator.timeout_seconds,
                values=stack.gpu_operator.values,
                pools=[OperatorPoolArgs.of(pool) for pool in pools],
            ),
            pulumi.ResourceOptions(provider=provider, depends_on=pools, deleted_with=gone_with),
        )
        before_the_job.append(operator)
    if stack.sample_job.enabled:
        served = stack.pools_of("operator")
        # Where other pools keep the plugin, the update changes it before the job.
        names = {pool.name for pool in served}
        hooks = _no_old_plugin(cluster, names, in_previews=not plugin_pools) if served else None
        SampleJob(
            "sample-job",
            SampleJobArgs(
                image=stack.sample_job.image,
                node_taints=[pool.node_taints for pool in pools],
                resource_name=_resource_of_the_job(stack, pools),
            ),
            pulumi.ResourceOptions(
                provider=provider,
                depends_on=before_the_job,
                deleted_with=gone_with,
                hooks=hooks,
            ),
        )


class OldPluginError(Exception):
    """The sample job would wait for GPUs that two device plugins offer."""


def _no_old_plugin(
    cluster: AksCluster | ExistingAksCluster, served: set[str], *, in_previews: bool
) -> pulumi.ResourceHookBinding:
    """Returns the hook that refuses a new job where the stack's own plugin has not gone yet.

    Pulumi deletes it at the end of the update, and would wait for the job before.
    """

    async def refuse(_: pulumi.ResourceHookArgs) -> None:
        text = await cluster.kubeconfig.future()
        # Unknown before the cluster exists.
        if not text:
            return
        try:
            api = Client(await connect(choose(parse(text))))
        except KubeconfigError:
            return
        try:
            daemon_sets = await api.list("/apis/apps/v1/daemonsets")
        except ApiError:
            return
        finally:
            await api.close()
        for found in daemon_sets:
            pods = mapping(at(found, "spec.template.spec"))
            if any(map(is_plugin, mappings(pods.get("containers")))) and (
                still := selected_pools(pods) & served
            ):
                raise OldPluginError(
                    f"sampleJob.enabled: the DaemonSet {at(found, 'metadata.name')} is still on "
                    f"{', '.join(sorted(still))}, beside the GPU Operator, and Pulumi deletes it "
                    "at the end of the update. The job would wait for it in vain: set enabled to "
                    "false for this update, and then to true again"
                )

    return pulumi.ResourceHookBinding(before_create=[guard(refuse, in_previews=in_previews)])


def selected_pools(pods: Mapping[str, Any]) -> set[str]:
    """Returns the pools that pods are bound to as those of the stack's own plugin are."""
    expressions = (
        expression
        for term in affinity_terms(pods) or ()
        for expression in mappings(term.get("matchExpressions"))
        if expression.get("key") in (POOL_LABEL, rotation.LABEL)
        and expression.get("operator") == "In"
    )
    return {str(name) for each in expressions for name in sequence(each.get("values"))}


def _resource_of_the_job(stack: Settings, pools: list[GpuNodePool]) -> pulumi.Input[str]:
    """Returns the name by which the job gets a GPU of some pool: the usual one, if one has it."""
    if not pools or stack.system_pool in stack.pools_with_gpus:
        return GPU
    names = pulumi.Output.all(*(pool.resource_name for pool in pools))
    return names.apply(lambda found: GPU if GPU in found else found[0] or GPU)
