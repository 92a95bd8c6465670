"""A node pool without GPUs, for what runs beside them: ingress, data loaders, notebooks' hubs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_catalogue import valid_pools as rules
from aks_catalogue.aks_properties import POOL
from aks_catalogue.nodes import SPOT_LABEL, SPOT_TAINT
from components.arguments import check
from components.declared import arguments, at, made, sent
from components.extra_properties import with_extra
from components.kept_properties import removals
from components.live_pools import keep_live_count
from components.pool_args import UserPoolArgs, sent_of_user_pool
from components.unaliased_resource import unaliased_resource


@arguments
class NodePoolArgs(UserPoolArgs):
    """The inputs of a node pool without GPUs."""

    vm_size: pulumi.Input[str] = at("vmSize", rules.WITHOUT_GPUS)
    """The VM size of the nodes, without GPUs. Another size replaces the pool."""


class NodePool(pulumi.ComponentResource):
    """A Linux node pool in mode User, without GPUs.

    An update never changes the number of nodes of a pool that AKS scales. Labels, taints and tags
    that you take out of the program are removed in Azure.
    """

    id: pulumi.Output[str]
    """The resource ID of the pool in Azure."""
    pool_name: pulumi.Output[str]
    """The name of the pool in AKS."""

    def __init__(
        self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:NodePool", name, None, opts)
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        pool = with_extra(
            {
                **sent_of_user_pool(args),
                "nodeTaints": made(_taints, args.spot, args.taints),
                "nodeLabels": made(_labels, args.spot, args.labels),
            },
            args.extra,
        )
        options = pulumi.ResourceOptions(
            parent=self,
            # The cluster autoscaler changes the node count.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=POOL.replacing(
                [*POOL.given_in(with_extra(sent(args), args.extra)), "scaleSetPriority"]
            ),
            delete_before_replace=True,
            hooks=removals(NodePoolArgs),
        )
        options = keep_live_count(self, pool, options)
        self.agent_pool = unaliased_resource(aks.AgentPool, aks.AgentPoolArgs, name, pool, options)
        self.id = self.agent_pool.id
        self.register_outputs({"id": self.id, "poolName": self.pool_name})


def _taints(spot: bool, own: Sequence[str]) -> list[str]:
    # AKS adds the spot taint. If it is left out here, every update shows a difference.
    return [*[SPOT_TAINT] * spot, *(taint for taint in own if not spot or taint != SPOT_TAINT)]


def _labels(spot: bool, own: Mapping[str, str]) -> dict[str, Any]:
    return {**own, **dict([SPOT_LABEL] * spot)}
