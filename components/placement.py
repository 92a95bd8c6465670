"""Where pods land: tolerations out of taints, and selectors out of pools."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import pulumi
from pulumi_kubernetes import core

from catalogue.nodes import POOL_LABEL
from catalogue.scheduling import Taint

Toleration = dict[str, Any]

# How long what waits for pods may take: the autoscaler gives a new node 15 minutes to come up, and
# its driver and a CUDA image have to follow. Left to themselves, DaemonSets and Jobs take 10.
FOR_NEW_NODES = pulumi.CustomTimeouts(create="30m", update="30m")


def toleration_args(
    taints: pulumi.Input[Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]],
    conventional: Sequence[Toleration] = (),
) -> pulumi.Output[list[core.v1.TolerationArgs]]:
    """Returns the conventional tolerations, and those for the taints of several pools."""

    def args(taints_of_pools: Sequence[Any]) -> list[core.v1.TolerationArgs]:
        derived = tolerations(chain(*taints_of_pools))
        more = [toleration for toleration in derived if toleration not in conventional]
        return [core.v1.TolerationArgs(**toleration) for toleration in [*conventional, *more]]

    return pulumi.Output.from_input(taints).apply(args)


def tolerations(taints: Iterable[str]) -> list[Toleration]:
    """Returns what a pod has to tolerate to land on nodes with these taints, each once."""
    return [taint.toleration for taint in dict.fromkeys(map(Taint.parse, taints))]


def node_selector(pool_name: str) -> dict[str, str]:
    """What selects the nodes of one pool."""
    return {POOL_LABEL: pool_name}
