"""GPUs that can be had: a ladder of pools, of which AKS takes the first that has machines."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pulumi

from aks_catalogue import capacity
from aks_catalogue import valid_capacity as rules
from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Toleration, tolerations
from components.arguments import check
from components.declared import arguments, checked, made
from components.gpu_node_pool import GpuNodePool, GpuNodePoolArgs


@arguments
class GpuCapacityArgs:
    """The inputs of a ladder of GPU node pools."""

    capacity_name: str = checked(rules.CAPACITY_NAME)
    """The name by which pods find the capacity: up to 40 lowercase letters, digits and `-`. Another
    name changes the labels and taints of the nodes: pods of the old one find none."""
    rungs: Sequence[GpuNodePoolArgs] = checked(rules.check_rungs)
    """The pools, first the one to try first: a reservation, spot nodes, regular ones, other sizes,
    other zones. Each has `min_count` and `max_count`, and all cut and share GPUs alike."""
    vm_size: str | None = checked(
        rules.check_size, doubtful=[rules.check_size_is_known], default=None
    )
    """The VM size that the pods are made for: no rung may have fewer GPUs, or less memory on each.
    Default: that of the first rung."""
    prefix: str | None = None
    """What the names of the rungs in Pulumi begin with; the rest is the name of the pool. With `""`
    another name of the component changes none of them, and the names of the pools have to differ in
    the whole program. Default: the component's name and `-`."""


class GpuCapacity(pulumi.ComponentResource):
    """GPU node pools that stand in for each other: the rungs of a ladder.

    A pod with its node selector and tolerations runs on any of them. If the pod needs a new node,
    AKS adds it to the first rung, and to the next one if Azure has no machines for that. The
    cluster's autoscaler needs the expander `priority`, and AutoscalerPriorities.
    """

    capacity_name: str
    """The name by which pods find the capacity."""
    pool_names: pulumi.Output[list[str]]
    """The names of the pools in AKS, first the one to try first."""
    resource_name: pulumi.Output[str | None]
    """The resource that a pod asks for to get a GPU, such as `nvidia.com/gpu`. None if the VM size
    is not in the table of GPU sizes."""
    node_selector: dict[str, str]
    """The node selector that binds a pod to the capacity."""
    tolerations: pulumi.Output[list[Toleration]]
    """The tolerations that a pod needs to run on every rung."""
    pod: pulumi.Output[dict[str, Any]]
    """A pod that runs on any rung and asks for one GPU: NVIDIA's vector addition, or AMD's
    `amd-smi`."""

    def __init__(
        self, name: str, args: GpuCapacityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:GpuCapacity", name, None, opts)
        # Each rung warns of its own.
        if reason := rules.check_size_is_known(args.vm_size, {}):
            pulumi.log.warn(reason, self)
        own = args.capacity_name
        prefix = f"{name}-" if args.prefix is None else args.prefix
        self.pools = [
            GpuNodePool(
                f"{prefix}{rung.pool_name if isinstance(rung.pool_name, str) else number}",
                replace(
                    rung,
                    labels=made(lambda others: {**others, capacity.LABEL: own}, rung.labels),
                    taints=made(lambda others: [*others, capacity.taint(own)], rung.taints),
                ),
                pulumi.ResourceOptions(parent=self),
            )
            for number, rung in enumerate(args.rungs)
        ]
        self.capacity_name = own
        names = (
            pool.planned_name if pulumi.runtime.is_dry_run() else pool.pool_name
            for pool in self.pools
        )
        self.pool_names = pulumi.Output.all(*names).apply(list)
        self.resource_name = self.pools[0].resource_name
        self.node_selector = {capacity.LABEL: own}
        taints = pulumi.Output.all(*(pool.node_taints for pool in self.pools))
        self.tolerations = taints.apply(lambda each: tolerations(chain(*each)))
        self.pod = pulumi.Output.all(self.resource_name, self.tolerations).apply(
            lambda values: sample_pod(values[0], {capacity.LABEL: own}, values[1])
        )
        self.register_outputs(self.placement())

    def placement(self) -> dict[str, Any]:
        """Returns what workloads need to know of the capacity, and a pod that runs on it."""
        return {
            "capacityName": self.capacity_name,
            "poolNames": self.pool_names,
            "resourceName": self.resource_name,
            "nodeSelector": self.node_selector,
            "tolerations": self.tolerations,
            "pod": self.pod,
        }
