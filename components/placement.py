"""Tolerations and node selectors for the pods of GPU node pools."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pulumi
from pulumi_kubernetes import core

from aks_catalogue import rotation
from aks_catalogue.nodes import POOL_LABEL
from aks_catalogue.scheduling import Toleration, tolerations

# For resources whose pods may need a new node: the cluster autoscaler waits 15 minutes for a node,
# and then the driver and a CUDA image follow. Pulumi's default is 10 minutes.
FOR_NEW_NODES = pulumi.CustomTimeouts(create="30m", update="30m")


def toleration_args(
    taints: pulumi.Input[Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]],
    standard: Sequence[Toleration] = (),
) -> "pulumi.Output[list[core.v1.TolerationArgs]]":
    """Returns the standard tolerations, and those for the taints of several pools."""

    def args(taints_of_pools: Sequence[Any]) -> "list[core.v1.TolerationArgs]":
        return [
            core.v1.TolerationArgs(**toleration)
            for toleration in tolerations(chain(*taints_of_pools), standard)
        ]

    return pulumi.Output.from_input(taints).apply(args)


def node_selector(pool_name: str, *, rotates: bool = False) -> dict[str, str]:
    """Returns the node selector for the nodes of a pool."""
    return {rotation.LABEL if rotates else POOL_LABEL: pool_name}
