"""The order in which the cluster autoscaler tries pools."""

from collections.abc import Sequence

import pulumi
from pulumi_kubernetes import core, meta

from aks_catalogue import capacity
from components.declared import arguments


@arguments
class AutoscalerPrioritiesArgs:
    """The inputs of the order of pools."""

    pool_names: Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]
    """For each capacity its pools, first the one to try first: `pool_names` of GpuCapacity."""


class AutoscalerPriorities(pulumi.ComponentResource):
    """The ConfigMap by which the cluster autoscaler's expander `priority` chooses a pool to grow.

    A cluster has one, for all its capacities. Other pools grow only for pods that fit none of
    these. The autoscaler reads it again when it changes; without it, it chooses at random. Give the
    Kubernetes provider `enable_config_map_mutable`: otherwise Pulumi replaces the ConfigMap.
    """

    priorities: pulumi.Output[str]
    """The text of the ConfigMap: a number for each pool, the higher the earlier."""

    def __init__(
        self, name: str, args: AutoscalerPrioritiesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:AutoscalerPriorities", name, None, opts)
        self.priorities = pulumi.Output.all(*args.pool_names).apply(capacity.priorities)
        core.v1.ConfigMap(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=capacity.CONFIG_MAP, namespace=capacity.NAMESPACE),
            data={capacity.KEY: self.priorities},
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"priorities": self.priorities})
