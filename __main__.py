"""The program: a stack's settings, the components they ask for, and the stack's outputs."""

import sys
from pathlib import Path
from typing import Any

import pulumi

# The resources of our provider are there; nothing of this project has to be installed.
sys.path.append(str(Path(__file__).resolve().parent / "plugins"))

from components import (
    AksCluster,
    AksClusterArgs,
    ExistingAksCluster,
    ExistingAksClusterArgs,
    ExistingResourceGroup,
    ExistingResourceGroupArgs,
    GpuCapacity,
    GpuCapacityArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    InfinibandFeature,
    InfinibandFeatureArgs,
    ManagedGpuFeature,
    ManagedGpuFeatureArgs,
    NodePool,
    NodePoolArgs,
    RegistryAccess,
    RegistryAccessArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SpecializedGpuImage,
    SpecializedGpuImageArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
)
from stack_settings.pools import GpuPool
from stack_settings.reading import SettingsError, load, of_project
from stack_settings.secrets import Secrets
from stack_settings.stack_file import stack_file_of
from workloads import add_workloads

file = stack_file_of(Path(pulumi.get_root_directory() or "."), pulumi.get_stack())
try:
    stack = load(
        pulumi.runtime.get_config_env(),
        pulumi.get_stack(),
        # The components warn of the same, each beside its resource.
        lambda _: None,
        Secrets(
            pulumi.Output.secret,
            of_project(dict.fromkeys(pulumi.runtime.get_config_secret_keys_env(), "")),
            of_project(file.secrets),
            pulumi.log.warn,
        ),
    )
except SettingsError as error:
    mistakes = "\n".join(
        f"{mistake} ({file.name}:{line})" if line else str(mistake)
        for mistake, line in file.located(error.mistakes)
    )
    raise pulumi.RunError(f"This stack file cannot be used:\n{mistakes}") from None

# Pools and clusters wait for the features of their GPU stack, and of InfiniBand.
features: dict[str, pulumi.Resource] = {}
if specialized := stack.pools_of("specialized-image"):
    # The name as it is in the states of earlier versions.
    features["specialized-image"] = SpecializedGpuImage(
        "specialized-image", SpecializedGpuImageArgs()
    )
if stack.managed_gpu_feature == "register" and stack.pools_of("managed"):
    features["managed"] = ManagedGpuFeature("managed-gpu", ManagedGpuFeatureArgs())
has_infiniband = any(pool.has_infiniband for pool in stack.all_gpu_pools)
if stack.infiniband_feature == "register" and has_infiniband:
    features["infiniband"] = InfinibandFeature("infiniband", InfinibandFeatureArgs())


def after_the_features(*needed: str) -> pulumi.ResourceOptions:
    """Options of what needs these features, of which this stack may register some."""
    return pulumi.ResourceOptions(
        depends_on=[features[name] for name in needed if name in features]
    )


def object_id(kubelet: dict[str, str] | None) -> str:
    """The object ID of the identity of a cluster's nodes."""
    if kubelet is None:
        raise pulumi.RunError(
            f"registry: the nodes of {stack.cluster.name} have no identity that a role could be "
            "given to, since the cluster has a service principal: give that the role AcrPull "
            "yourself, and remove registry"
        )
    return kubelet["objectId"]


group: ResourceGroup | ExistingResourceGroup
if stack.resource_group.existing:
    group = ExistingResourceGroup(
        "group", ExistingResourceGroupArgs(resource_group_name=stack.resource_group.name)
    )
else:
    group = ResourceGroup(
        "group",
        stack.resource_group.as_args(ResourceGroupArgs, location=stack.location, tags=stack.tags),
        # A deleted group takes the cluster along.
        pulumi.ResourceOptions(protect=stack.cluster.protect),
    )

cluster: AksCluster | ExistingAksCluster
if stack.cluster.existing:
    cluster = ExistingAksCluster(
        "cluster",
        ExistingAksClusterArgs(
            resource_group_name=group.resource_group_name,
            cluster_name=stack.cluster.name,
        ),
    )
else:
    cluster = AksCluster(
        "cluster",
        stack.cluster.as_args(
            AksClusterArgs,
            resource_group_name=group.resource_group_name,
            location=stack.location,
            autoscaler=stack.autoscaler,
            network=stack.network,
            system_pool=stack.system_pool.as_args(
                SystemPoolArgs,
                gpu_stack=stack.system_pool.gpu_stack if stack.system_pool.has_gpus else None,
            ),
            tags=stack.tags,
        ),
        pulumi.ResourceOptions.merge(
            after_the_features("specialized-image") if stack.system_pool in specialized else None,
            pulumi.ResourceOptions(protect=stack.cluster.protect),
        ),
    )

if stack.registry.is_set:
    kubelet = cluster.kubelet_identity.apply(object_id)
    RegistryAccess(
        "registry",
        stack.registry.as_args(
            RegistryAccessArgs,
            kubelet_object_id=kubelet,
            resource_group_name=group.resource_group_name,
            location=stack.location,
            tags=stack.tags,
        ),
        # The key that lifts the protection is of a cluster of this stack.
        pulumi.ResourceOptions(protect=stack.cluster.protect and not stack.cluster.existing),
    )

# What the pools have in common.
shared: dict[str, Any] = {
    "resource_group_name": group.resource_group_name,
    "cluster_name": cluster.cluster_name,
    "subnet_id": stack.network.subnet_id or None,
    "tags": stack.tags,
}
# AKS keeps a cluster's last system pool: these go with the cluster, where it is this stack's.
with_the_cluster = pulumi.ResourceOptions(
    deleted_with=cluster.managed_cluster if isinstance(cluster, AksCluster) else None
)
for system_pool in stack.system_pools:
    SystemNodePool(
        system_pool.name,
        system_pool.as_args(SystemNodePoolArgs, **shared),
        pulumi.ResourceOptions.merge(
            with_the_cluster, pulumi.ResourceOptions(protect=system_pool.protect)
        ),
    )

for pool in stack.pools:
    NodePool(
        pool.name,
        pool.as_args(NodePoolArgs, **shared),
        pulumi.ResourceOptions(protect=pool.protect),
    )


def arguments(pool: GpuPool) -> GpuNodePoolArgs:
    return pool.as_args(
        GpuNodePoolArgs,
        gpu_operator_driver=stack.gpu_operator.driver,
        gpu_taint=stack.gpu_taint,
        labels=stack.labels_of(pool),
        **shared,
    )


def options(pool: GpuPool, before: pulumi.Input[str] | None) -> pulumi.ResourceOptions:
    """Options of a pool, which stays when it comes from another parent."""
    own = pulumi.ResourceOptions(protect=pool.protect, aliases=[pulumi.Alias(parent=before)])
    needed = [pool.gpu_stack, *["infiniband"] * pool.has_infiniband]
    return pulumi.ResourceOptions.merge(after_the_features(*needed), own)


def as_rung(made: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    """Gives the rungs of a capacity the options of their pools."""
    if not isinstance(made.resource, GpuNodePool):
        return None
    own = options(rungs[made.name], pulumi.ROOT_STACK_RESOURCE)
    return pulumi.ResourceTransformationResult(
        made.props, pulumi.ResourceOptions.merge(made.opts, own)
    )


# A pool of gpuPools can become a rung, and a rung a pool of gpuPools.
of_any_capacity = pulumi.create_urn("any", "aks-gpu:components:GpuCapacity")
gpu_pools = {
    pool.name: GpuNodePool(pool.name, arguments(pool), options(pool, of_any_capacity))
    for pool in stack.gpu_pools
}
rungs = {rung.name: rung for each in stack.gpu_capacity for rung in each.rungs}
capacities = {
    each.name: GpuCapacity(
        each.name,
        each.as_args(GpuCapacityArgs, rungs=[arguments(rung) for rung in each.rungs], prefix=""),
        pulumi.ResourceOptions(transformations=[as_rung]),
    )
    for each in stack.gpu_capacity
}
of_capacities = (pool for each in capacities.values() for pool in each.pools)
gpu_pools |= dict(zip(rungs, of_capacities, strict=True))

if stack.uses_kubernetes:
    add_workloads(stack, cluster, list(gpu_pools.values()), list(capacities.values()))
    # An administrator's, on a cluster without Entra: no stack holds one that it has no use for.
    pulumi.export("kubeconfig", cluster.kubeconfig)

pulumi.export("resourceGroupName", group.resource_group_name)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("clusterId", cluster.id)
for name, output in cluster.connections().items():
    pulumi.export(name, output)
pulumi.export(
    "gpuPools",
    {name: pool.placement() for name, pool in gpu_pools.items()},
)
if capacities:
    pulumi.export("gpuCapacity", {name: each.placement() for name, each in capacities.items()})
# Where there is a kubeconfig, it needs no sign-in of another tool: it works in a rehearsal too.
get_credentials = (
    [
        pulumi.Output.format(
            "mkdir -p ~/.kube && (umask 077; pulumi stack output kubeconfig --stack {0} "
            "--show-secrets > ~/.kube/{1})",
            pulumi.get_stack(),
            cluster.cluster_name,
        ),
        pulumi.Output.format("export KUBECONFIG=~/.kube/{0}", cluster.cluster_name),
    ]
    if stack.uses_kubernetes
    else [
        pulumi.Output.format(
            "az aks get-credentials --resource-group {0} --name {1}",
            group.resource_group_name,
            cluster.cluster_name,
        )
    ]
)
columns = "kubernetes.azure.com/agentpool,kubernetes.azure.com/accelerator"
pulumi.export("nextSteps", [*get_credentials, f"kubectl get nodes --label-columns {columns}"])
