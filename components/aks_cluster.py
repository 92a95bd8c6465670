"""The AKS cluster, with the system pool that AKS asks for and nothing else inline."""

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice


@dataclass(frozen=True, kw_only=True)
class SystemPoolArgs:
    vm_size: pulumi.Input[str]
    count: pulumi.Input[int]
    pool_name: pulumi.Input[str] = "system"


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    resource_group_name: pulumi.Input[str]
    location: pulumi.Input[str]
    cluster_name: pulumi.Input[str]
    system_pool: SystemPoolArgs
    # Left out, AKS takes its own default; the cluster is not moved when that default moves.
    kubernetes_version: pulumi.Input[str] | None = None


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster. GPU pools are never inline in it: see GpuNodePool."""

    id: pulumi.Output[str]
    cluster_name: pulumi.Output[str]
    resource_group_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:AksCluster", name, None, opts)
        cluster = containerservice.ManagedCluster(
            name,
            resource_group_name=args.resource_group_name,
            resource_name_=args.cluster_name,
            location=args.location,
            dns_prefix=args.cluster_name,
            kubernetes_version=args.kubernetes_version,
            identity=containerservice.ManagedClusterIdentityArgs(
                type=containerservice.ResourceIdentityType.SYSTEM_ASSIGNED
            ),
            agent_pool_profiles=[
                containerservice.ManagedClusterAgentPoolProfileArgs(
                    name=args.system_pool.pool_name,
                    mode=containerservice.AgentPoolMode.SYSTEM,
                    os_type=containerservice.OSType.LINUX,
                    type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
                    vm_size=args.system_pool.vm_size,
                    count=args.system_pool.count,
                )
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.id = cluster.id
        self.cluster_name = cluster.name
        self.resource_group_name = pulumi.Output.from_input(args.resource_group_name)
        self.register_outputs(
            {
                "id": self.id,
                "clusterName": self.cluster_name,
                "resourceGroupName": self.resource_group_name,
            }
        )
