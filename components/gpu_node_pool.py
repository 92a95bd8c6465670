"""A GPU node pool: a resource of its own beside the cluster, never inline in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice

from catalogue.nodes import GPU_TAINT


@dataclass(frozen=True, kw_only=True)
class GpuNodePoolArgs:
    resource_group_name: pulumi.Input[str]
    cluster_name: pulumi.Input[str]
    pool_name: pulumi.Input[str]
    vm_size: pulumi.Input[str]
    count: pulumi.Input[int]


class GpuNodePool(pulumi.ComponentResource):
    """A Linux pool of NVIDIA GPU nodes, tainted so that only GPU workloads land on it."""

    id: pulumi.Output[str]
    pool_name: pulumi.Output[str]
    node_taints: pulumi.Output[Sequence[str]]

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:GpuNodePool", name, None, opts)
        pool = containerservice.AgentPool(
            name,
            resource_group_name=args.resource_group_name,
            resource_name_=args.cluster_name,
            agent_pool_name=args.pool_name,
            mode=containerservice.AgentPoolMode.USER,
            os_type=containerservice.OSType.LINUX,
            type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            vm_size=args.vm_size,
            count=args.count,
            node_taints=[GPU_TAINT],
            # Always sent: left out, the server fills it in, and readers take that for drift.
            gpu_profile=containerservice.GPUProfileArgs(driver=containerservice.GPUDriver.INSTALL),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.id = pool.id
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        self.node_taints = pulumi.Output.from_input([GPU_TAINT])
        self.register_outputs(
            {"id": self.id, "poolName": self.pool_name, "nodeTaints": self.node_taints}
        )
