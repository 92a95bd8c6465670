"""The program: a stack's settings, the components they ask for, and the stack's outputs."""

from pathlib import Path

import pulumi

import settings
from components import (
    AksCluster,
    AksClusterArgs,
    EntraArgs,
    ExistingAksCluster,
    ExistingAksClusterArgs,
    ExistingResourceGroup,
    ExistingResourceGroupArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    ManagedGpuFeature,
    ManagedGpuFeatureArgs,
    NetworkArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SharingArgs,
    SpecializedGpuImage,
    SpecializedGpuImageArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
    TimeSlicingArgs,
)
from workloads import add_workloads

file = settings.stack_file_of(Path(pulumi.get_root_directory() or "."), pulumi.get_stack())
try:
    stack = settings.load(
        pulumi.runtime.get_config_env(),
        pulumi.get_stack(),
        # The components warn of the same, each beside its resource.
        lambda _: None,
        settings.Secrets(
            pulumi.Output.secret,
            pulumi.runtime.get_config_secret_keys_env(),
            file.secrets,
            pulumi.log.warn,
        ),
    )
except settings.SettingsError as error:
    mistakes = "\n".join(map(file.with_place, error.mistakes))
    raise pulumi.RunError(f"This stack file cannot be used:\n{mistakes}") from None

# Pools and clusters wait for the preview feature of their GPU stack.
features: dict[str, pulumi.Resource] = {}
if specialized := stack.pools_of("specialized-image"):
    # The name as it is in the states of earlier versions.
    features["specialized-image"] = SpecializedGpuImage(
        "specialized-image", SpecializedGpuImageArgs()
    )
if stack.managed_gpu_feature == "register" and stack.pools_of("managed"):
    features["managed"] = ManagedGpuFeature("managed-gpu", ManagedGpuFeatureArgs())


def after_the_feature(gpu_stack: str) -> pulumi.ResourceOptions:
    """Options of what needs the feature of a GPU stack, if this stack registers it."""
    depends_on = [features[gpu_stack]] if gpu_stack in features else []
    return pulumi.ResourceOptions(depends_on=depends_on)


group: ResourceGroup | ExistingResourceGroup
if stack.resource_group.existing:
    group = ExistingResourceGroup(
        "group", ExistingResourceGroupArgs(resource_group_name=stack.resource_group.name)
    )
else:
    group = ResourceGroup(
        "group",
        ResourceGroupArgs(
            resource_group_name=stack.resource_group.name,
            location=stack.location,
            tags=stack.tags,
        ),
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
        AksClusterArgs(
            resource_group_name=group.resource_group_name,
            location=stack.location,
            cluster_name=stack.cluster.name,
            dns_prefix=stack.cluster.dns_prefix,
            kubernetes_version=stack.cluster.kubernetes_version or None,
            sku_tier=stack.cluster.sku_tier,
            private=stack.cluster.private,
            authorized_ip_ranges=stack.cluster.authorized_ip_ranges,
            oidc_issuer=stack.cluster.oidc_issuer,
            workload_identity=stack.cluster.workload_identity,
            user_assigned_identity_id=stack.cluster.user_assigned_identity_id or None,
            entra=EntraArgs(
                admin_group_object_ids=stack.cluster.entra.admin_group_object_ids,
                azure_rbac=stack.cluster.entra.azure_rbac,
            )
            if stack.cluster.entra
            else None,
            disable_local_accounts=stack.cluster.disable_local_accounts,
            upgrade_channel=stack.cluster.upgrade_channel,
            node_os_upgrade_channel=stack.cluster.node_os_upgrade_channel,
            network=NetworkArgs(
                mode=stack.network.mode,
                subnet_id=stack.network.subnet_id or None,
                pod_cidr=stack.network.pod_cidr,
                service_cidr=stack.network.service_cidr,
                dns_service_ip=stack.network.dns_service_ip,
            ),
            system_pool=SystemPoolArgs(
                pool_name=stack.system_pool.name,
                vm_size=stack.system_pool.vm_size,
                count=stack.system_pool.count,
                min_count=stack.system_pool.min_count,
                max_count=stack.system_pool.max_count,
                zones=stack.system_pool.zones,
                os_sku=stack.system_pool.os_sku,
                gpu_stack=stack.system_pool.gpu_stack if stack.system_pool.has_gpus else None,
                host_encryption=stack.system_pool.host_encryption,
                custom_headers=stack.system_pool.custom_headers,
                removed=stack.system_pool.removed,
            ),
            tags=stack.tags,
        ),
        pulumi.ResourceOptions.merge(
            after_the_feature("specialized-image") if stack.system_pool in specialized else None,
            pulumi.ResourceOptions(protect=stack.cluster.protect),
        ),
    )

# AKS keeps a cluster's last system pool: these go with the cluster, where it is this stack's.
with_the_cluster = pulumi.ResourceOptions(
    deleted_with=cluster.managed_cluster if isinstance(cluster, AksCluster) else None
)
for system_pool in stack.system_pools:
    SystemNodePool(
        system_pool.name,
        SystemNodePoolArgs(
            resource_group_name=group.resource_group_name,
            cluster_name=cluster.cluster_name,
            pool_name=system_pool.name,
            vm_size=system_pool.vm_size,
            kubernetes_version=system_pool.kubernetes_version or None,
            count=system_pool.count,
            min_count=system_pool.min_count,
            max_count=system_pool.max_count,
            zones=system_pool.zones,
            os_sku=system_pool.os_sku,
            subnet_id=stack.network.subnet_id or None,
            host_encryption=system_pool.host_encryption,
            tags=stack.tags,
        ),
        pulumi.ResourceOptions.merge(
            with_the_cluster, pulumi.ResourceOptions(protect=system_pool.protect)
        ),
    )

pools = [
    GpuNodePool(
        pool.name,
        GpuNodePoolArgs(
            resource_group_name=group.resource_group_name,
            cluster_name=cluster.cluster_name,
            pool_name=pool.name,
            vm_size=pool.vm_size,
            count=pool.count,
            min_count=pool.min_count,
            max_count=pool.max_count,
            zones=pool.zones,
            kubernetes_version=pool.kubernetes_version or None,
            os_sku=pool.os_sku,
            capacity_reservation_group_id=pool.capacity_reservation_group_id,
            max_pods=pool.max_pods,
            os_disk_size_gb=pool.os_disk_size_gb,
            os_disk_type=pool.os_disk_type,
            spot=pool.spot,
            spot_max_price=pool.spot_max_price,
            max_unavailable=pool.max_unavailable,
            max_surge=pool.max_surge,
            drain_timeout_minutes=pool.drain_timeout_minutes,
            node_soak_minutes=pool.node_soak_minutes,
            undrainable_node_behavior=pool.undrainable_node_behavior,
            mig_profile=pool.mig_profile,
            mig_strategy=pool.mig_strategy,
            sharing=SharingArgs(
                time_slicing=TimeSlicingArgs(**pool.sharing.time_slicing.model_dump())
            )
            if pool.sharing and pool.sharing.time_slicing
            else None,
            gpu_stack=pool.gpu_stack,
            gpu_operator_driver=stack.gpu_operator.driver,
            taints=pool.taints,
            tainted=pool.tainted,
            gpu_taint=stack.gpu_taint,
            labels=stack.labels_of(pool),
            subnet_id=stack.network.subnet_id or None,
            host_encryption=pool.host_encryption,
            artifact_streaming=pool.artifact_streaming,
            custom_headers=pool.custom_headers,
            replace_on_header_change=pool.replace_on_header_change,
            replacement=pool.replacement,
            tags=stack.tags,
        ),
        pulumi.ResourceOptions.merge(
            after_the_feature(pool.gpu_stack),
            pulumi.ResourceOptions(protect=pool.protect),
        ),
    )
    for pool in stack.gpu_pools
]
if stack.uses_kubernetes:
    add_workloads(stack, cluster, pools)
    # An administrator's, on a cluster without Entra: no stack holds one that it has no use for.
    pulumi.export("kubeconfig", cluster.kubeconfig)

pulumi.export("resourceGroupName", group.resource_group_name)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("clusterId", cluster.id)
for name, output in cluster.connections().items():
    pulumi.export(name, output)
pulumi.export(
    "gpuPools",
    {pool.name: made.placement() for pool, made in zip(stack.gpu_pools, pools, strict=True)},
)
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
