"""A further system pool: a resource of its own beside the cluster, so that it can be replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice as aks

from catalogue import fixed, kept
from catalogue.valid_pools import SYSTEM_NODE_POOL
from components.arguments import check, true_or_nothing
from components.azure_child import azure_child
from components.live_pools import LivePool
from components.taken_out import taken_out_hooks


@dataclass(frozen=True, kw_only=True)
class SystemNodePoolArgs:
    """A pool for the cluster's own pods, to create in a cluster that has one already."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str]
    """The cluster's name in Azure."""
    pool_name: pulumi.Input[str]
    """The pool's name in AKS: 1 to 12 lower-case letters and digits, a letter first."""
    vm_size: pulumi.Input[str]
    """The size of the nodes, one without GPUs."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The version of the nodes: the one that is given to the cluster, or up to three minor versions
    older. Default: the version of the cluster when the pool is made, and it stays."""
    count: pulumi.Input[int] = 1
    """How many nodes there are, or are at first if AKS scales the pool."""
    min_count: pulumi.Input[int] | None = None
    """With `max_count`: AKS scales the pool between the two."""
    max_count: pulumi.Input[int] | None = None
    """With `min_count`: AKS scales the pool between the two."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes."""
    os_sku: pulumi.Input[str] | None = None
    """The nodes' Linux, such as `Ubuntu` or `AzureLinux`. Default: AKS's own."""
    subnet_id: pulumi.Input[str] | None = None
    """The id of the nodes' subnet. Default: AKS's own network."""
    encryption_at_host: pulumi.Input[bool] = False
    """Whether the nodes' temporary disks and caches are encrypted too. Fixed at creation."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The pool's tags in Azure."""


class SystemNodePool(pulumi.ComponentResource):
    """A Linux pool of mode System.

    AKS does not delete a cluster's last one: with the cluster as `deleted_with` it goes with that.
    """

    id: pulumi.Output[str]
    """The pool's id in Azure."""
    pool_name: pulumi.Output[str]
    """The pool's name in AKS."""

    def __init__(
        self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, SYSTEM_NODE_POOL)
        super().__init__("aks-gpu:components:SystemNodePool", name, None, opts)
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        pool = _pool_args(args)
        given = () if args.encryption_at_host is False else ("enableEncryptionAtHost",)
        of_the_pool = pulumi.ResourceOptions(
            parent=self,
            # AKS moves the number of nodes of an autoscaled pool by itself.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=fixed.replacing(fixed.POOL, given),
            delete_before_replace=True,
            deleted_with=opts.deleted_with if opts else None,
            hooks=taken_out_hooks(kept.LASTING_POOL, {}),
        )
        live = LivePool(self, pool, ("enableAutoScaling", "tags"))
        self.agent_pool = azure_child(aks.AgentPool, name, pool, live.options(of_the_pool))
        self.id = self.agent_pool.id
        self.register_outputs({"id": self.id, "poolName": self.pool_name})


def _pool_args(args: SystemNodePoolArgs) -> aks.AgentPoolArgs:
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
        enable_auto_scaling=None if args.max_count is None else True,
        min_count=args.min_count,
        max_count=args.max_count,
        # In one order: azure-native compares zones by their places.
        availability_zones=pulumi.Output.from_input(args.zones).apply(
            lambda zones: sorted(map(str, zones)) or None
        ),
        vnet_subnet_id=args.subnet_id,
        enable_encryption_at_host=true_or_nothing(args.encryption_at_host),
        tags=args.tags or None,
    )
