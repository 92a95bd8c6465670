"""An additional system node pool, as a separate resource that Pulumi can replace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice as aks

from catalogue import fixed
from catalogue.valid_pools import SYSTEM_NODE_POOL
from components.arguments import check, true_or_nothing
from components.live_pools import keep_live_count
from components.removed_properties import OF_POOLS
from components.unaliased_resource import unaliased_resource


@dataclass(frozen=True, kw_only=True)
class SystemNodePoolArgs:
    """The inputs of an additional system node pool."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str]
    """The name of the cluster in Azure."""
    pool_name: pulumi.Input[str]
    """The name of the node pool in AKS: 1 to 12 lowercase letters and digits, starting with a
    letter. Another name replaces the pool."""
    vm_size: pulumi.Input[str]
    """The VM size of the nodes, without GPUs and with at least 2 vCPUs and 4 GiB of memory. Another
    size replaces the pool."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it."""
    count: pulumi.Input[int] = 1
    """The number of nodes, 1 to 1000. If AKS scales the pool, the initial number, between
    `min_count` and `max_count`."""
    min_count: pulumi.Input[int] | None = None
    """The lowest number of nodes, at least 1. Set it together with `max_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: pulumi.Input[int] | None = None
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the
    pool."""
    os_sku: pulumi.Input[str] | None = None
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`. Default: AKS chooses."""
    subnet_id: pulumi.Input[str] | None = None
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    host_encryption: pulumi.Input[bool] = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. To turn it on replaces the pool; AKS keeps it
    on until you delete the pool."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The Azure tags of the pool. Default: none."""


class SystemNodePool(pulumi.ComponentResource):
    """A Linux node pool in mode System.

    AKS refuses to delete the last system pool of a cluster. Set the resource option `deleted_with`
    to the cluster, so that `pulumi destroy` leaves the pool to the deletion of the cluster.
    """

    id: pulumi.Output[str]
    """The resource ID of the pool in Azure."""
    pool_name: pulumi.Output[str]
    """The name of the pool in AKS."""

    def __init__(
        self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, SYSTEM_NODE_POOL)
        super().__init__("aks-gpu:components:SystemNodePool", name, None, opts)
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        pool = _pool_args(args)
        encrypted = () if args.host_encryption is False else ("enableEncryptionAtHost",)
        options = pulumi.ResourceOptions(
            parent=self,
            # The cluster autoscaler changes the node count.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=fixed.replacing(fixed.POOL, encrypted),
            delete_before_replace=True,
            deleted_with=opts.deleted_with if opts else None,
            hooks=OF_POOLS.hooks(),
        )
        options = keep_live_count(self, pool, options)
        self.agent_pool = unaliased_resource(aks.AgentPool, name, pool, options)
        self.id = self.agent_pool.id
        self.register_outputs({"id": self.id, "poolName": self.pool_name})


def _pool_args(args: SystemNodePoolArgs) -> "aks.AgentPoolArgs":
    return aks.AgentPoolArgs(
        resource_group_name=args.resource_group_name,
        resource_name=args.cluster_name,
        agent_pool_name=args.pool_name,
        mode=aks.AgentPoolMode.SYSTEM,
        os_type=aks.OSType.LINUX,
        os_sku=args.os_sku,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=args.vm_size,
        orchestrator_version=args.kubernetes_version,
        count=args.count,
        # Empty values are always sent: AKS keeps what a request leaves out.
        enable_auto_scaling=args.max_count is not None,
        min_count=args.min_count,
        max_count=args.max_count,
        # Sorted, because azure-native compares zones by index.
        availability_zones=pulumi.Output.from_input(args.zones).apply(
            lambda zones: sorted(map(str, zones)) or None
        ),
        vnet_subnet_id=args.subnet_id,
        enable_encryption_at_host=true_or_nothing(args.host_encryption),
        tags=args.tags or {},
    )
