"""An additional system node pool, as a separate resource that Pulumi can replace."""

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_catalogue import valid_pools as rules
from aks_catalogue.aks_properties import POOL
from components.arguments import check
from components.declared import arguments, at, sent
from components.extra_properties import with_extra
from components.kept_properties import removals
from components.live_pools import keep_live_count
from components.pool_args import ModeSystemArgs, SeparatePoolArgs, sent_of_pool
from components.unaliased_resource import unaliased_resource


@arguments
class SystemNodePoolArgs(ModeSystemArgs, SeparatePoolArgs):
    """The inputs of an additional system node pool."""

    vm_size: pulumi.Input[str] = at("vmSize", rules.WITHOUT_GPUS, rules.LARGE_ENOUGH)
    """The VM size of the nodes, without GPUs and with at least 2 vCPUs and 4 GiB of memory. Another
    size replaces the pool."""


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
        pool = with_extra(sent_of_pool(args, "System"), args.extra)
        options = pulumi.ResourceOptions(
            parent=self,
            # The cluster autoscaler changes the node count.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=POOL.replacing(POOL.given_in(with_extra(sent(args), args.extra))),
            delete_before_replace=True,
            deleted_with=opts.deleted_with if opts else None,
            hooks=removals(SystemNodePoolArgs),
        )
        options = keep_live_count(self, pool, options)
        self.agent_pool = unaliased_resource(aks.AgentPool, aks.AgentPoolArgs, name, pool, options)
        self.id = self.agent_pool.id
        self.register_outputs({"id": self.id, "poolName": self.pool_name})
