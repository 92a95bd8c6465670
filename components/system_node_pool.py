"""An additional system node pool, as a separate resource that Pulumi can replace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import pulumi
from pulumi_azure_native import containerservice as aks

from catalogue import valid_pools as rules
from catalogue.aks_properties import POOL
from catalogue.tags import check as check_tags
from catalogue.valid import Each, between, one_of
from components.arguments import check
from components.declared import Sent, in_order, map_or_empty, sent, true_or_nothing
from components.live_pools import keep_live_count
from components.removed_properties import OF_POOLS
from components.unaliased_resource import unaliased_resource


@dataclass(frozen=True, kw_only=True)
class SystemNodePoolArgs:
    """The inputs of an additional system node pool."""

    resource_group_name: Annotated[pulumi.Input[str], Sent("resourceGroupName")]
    """The name of the cluster's resource group."""
    cluster_name: Annotated[pulumi.Input[str], Sent("resourceName")]
    """The name of the cluster in Azure."""
    pool_name: Annotated[pulumi.Input[str], Sent("agentPoolName"), rules.POOL_NAME]
    """The name of the node pool in AKS: 1 to 12 lowercase letters and digits, starting with a
    letter. Another name replaces the pool."""
    vm_size: Annotated[pulumi.Input[str], Sent("vmSize"), rules.WITHOUT_GPUS, rules.LARGE_ENOUGH]
    """The VM size of the nodes, without GPUs and with at least 2 vCPUs and 4 GiB of memory. Another
    size replaces the pool."""
    kubernetes_version: Annotated[
        pulumi.Input[str] | None, Sent("orchestratorVersion"), rules.check_kubernetes_version
    ] = None
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it."""
    count: Annotated[pulumi.Input[int], Sent("count"), between(1, 1000)] = 1
    """The number of nodes, 1 to 1000. If AKS scales the pool, the initial number."""
    min_count: Annotated[pulumi.Input[int] | None, Sent("minCount"), between(1, 1000)] = None
    """The lowest number of nodes, at least 1. Set it together with `max_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: Annotated[
        pulumi.Input[int] | None,
        Sent("maxCount"),
        between(1, 1000),
        rules.check_bounds,
        rules.check_initial_count,
    ] = None
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: Annotated[
        pulumi.Input[Sequence[pulumi.Input[str]]],
        Sent("availabilityZones", in_order),
        Each(one_of("1", "2", "3")),
    ] = ()
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the
    pool."""
    os_sku: Annotated[pulumi.Input[str] | None, Sent("osSKU"), rules.OS_SKU] = None
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`. Default: AKS chooses."""
    subnet_id: Annotated[pulumi.Input[str] | None, Sent("vnetSubnetID")] = None
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    host_encryption: Annotated[
        pulumi.Input[bool], Sent("enableEncryptionAtHost", true_or_nothing)
    ] = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. Only a new pool can turn it on, and AKS keeps
    it on."""
    tags: Annotated[
        pulumi.Input[Mapping[str, pulumi.Input[str]]] | None,
        Sent("tags", map_or_empty),
        check_tags,
    ] = None
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
        check(name, args)
        super().__init__("aks-gpu:components:SystemNodePool", name, None, opts)
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        pool = {
            **sent(args),
            "mode": "System",
            "osType": "Linux",
            "type": "VirtualMachineScaleSets",
            # Always sent: AKS keeps what a request leaves out.
            "enableAutoScaling": args.max_count is not None,
        }
        options = pulumi.ResourceOptions(
            parent=self,
            # The cluster autoscaler changes the node count.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=POOL.replacing(POOL.given_in(sent(args))),
            delete_before_replace=True,
            deleted_with=opts.deleted_with if opts else None,
            hooks=OF_POOLS.hooks(),
        )
        options = keep_live_count(self, pool, options)
        self.agent_pool = unaliased_resource(aks.AgentPool, aks.AgentPoolArgs, name, pool, options)
        self.id = self.agent_pool.id
        self.register_outputs({"id": self.id, "poolName": self.pool_name})
