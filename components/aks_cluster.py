"""The AKS cluster, with the system pool that AKS asks for and nothing else inline."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_preview.resources import ManagedCluster
from catalogue.nodes import DRIVERS
from components.azure_child import azure_child
from components.either_provider import either_provider

# What AKS calls the modes of the network.
_NETWORK_PLUGIN_MODES: Mapping[str, str | None] = {"overlay": "overlay", "subnet": None}


@dataclass(frozen=True, kw_only=True)
class SystemPoolArgs:
    """The pool that the cluster's own pods run on."""

    vm_size: pulumi.Input[str]
    pool_name: pulumi.Input[str] = "system"
    count: pulumi.Input[int] = 1
    # Given together: AKS scales the pool between them, from `count` on.
    min_count: int | None = None
    max_count: int | None = None
    zones: Sequence[str] = ()
    os_sku: pulumi.Input[str] | None = None
    # Who brings driver and device plugin, where the pool has GPUs.
    gpu_stack: str | None = None
    # Sent with the cluster, which is then made through aks-preview.
    custom_headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    mode: str = "overlay"
    subnet_id: pulumi.Input[str] | None = None
    pod_cidr: pulumi.Input[str] | None = None
    service_cidr: pulumi.Input[str] | None = None
    dns_service_ip: pulumi.Input[str] | None = None


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    resource_group_name: pulumi.Input[str]
    location: pulumi.Input[str]
    cluster_name: pulumi.Input[str]
    system_pool: SystemPoolArgs
    network: NetworkArgs = NetworkArgs()
    # Left out, AKS takes its own default; the cluster is not moved when that default moves.
    kubernetes_version: pulumi.Input[str] | None = None
    sku_tier: pulumi.Input[str] = "Free"
    private: bool = False
    authorized_ip_ranges: Sequence[pulumi.Input[str]] = ()
    oidc_issuer: bool = True
    workload_identity: bool = False
    upgrade_channel: pulumi.Input[str] = "none"
    node_os_upgrade_channel: pulumi.Input[str] = "NodeImage"
    tags: Mapping[str, pulumi.Input[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class ExistingAksClusterArgs:
    resource_group_name: pulumi.Input[str]
    cluster_name: pulumi.Input[str]


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster: a new one, or with `AksCluster.existing` one that is only read.

    GPU pools are resources of their own (see GpuNodePool): changing one inline disturbs them all.
    """

    id: pulumi.Output[str]
    cluster_name: pulumi.Output[str]
    resource_group_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: AksClusterArgs | ExistingAksClusterArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("aks-gpu:components:AksCluster", name, None, opts)
        cluster = self._made(name, args) if isinstance(args, AksClusterArgs) else self._read(args)
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

    @classmethod
    def existing(
        cls, name: str, args: ExistingAksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> "AksCluster":
        """A cluster that is there already and is left as it is."""
        return cls(name, args, opts)

    @cached_property
    def kubeconfig(self) -> pulumi.Output[str]:
        """A secret, as everything that is made of it. Asked for in Azure only where it is used."""
        credentials = aks.list_managed_cluster_user_credentials_output(
            resource_group_name=self.resource_group_name,
            resource_name=self.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        return credentials.apply(
            lambda found: pulumi.Output.secret(
                base64.b64decode(found.kubeconfigs[0].value).decode()
            )
        )

    def _made(self, name: str, args: AksClusterArgs) -> aks.ManagedCluster | ManagedCluster:
        # AKS moves the number of nodes of an autoscaled pool by itself.
        ignored = ["agentPoolProfiles[0].count"] if args.system_pool.max_count else []
        headers = args.system_pool.custom_headers
        opts = either_provider(
            self,
            "containerservice:ManagedCluster",
            has_headers=bool(headers),
            ignore_changes=ignored,
        )
        if headers:
            return ManagedCluster(
                name,
                _cluster_args(args),
                opts,
                custom_headers=headers,
            )
        return azure_child(
            aks.ManagedCluster,
            name,
            _cluster_args(args),
            opts,
        )

    def _read(self, args: ExistingAksClusterArgs) -> pulumi.Output[aks.GetManagedClusterResult]:
        return aks.get_managed_cluster_output(
            resource_group_name=args.resource_group_name,
            resource_name=args.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )


def _cluster_args(args: AksClusterArgs) -> aks.ManagedClusterArgs:
    return aks.ManagedClusterArgs(
        resource_group_name=args.resource_group_name,
        resource_name=args.cluster_name,
        location=args.location,
        dns_prefix=args.cluster_name,
        kubernetes_version=args.kubernetes_version or None,
        identity=aks.ManagedClusterIdentityArgs(type=aks.ResourceIdentityType.SYSTEM_ASSIGNED),
        sku=aks.ManagedClusterSKUArgs(name="Base", tier=args.sku_tier),
        network_profile=_network(args.network),
        api_server_access_profile=_access(args),
        oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=args.oidc_issuer),
        security_profile=aks.ManagedClusterSecurityProfileArgs(
            workload_identity=aks.ManagedClusterSecurityProfileWorkloadIdentityArgs(
                enabled=args.workload_identity
            )
        ),
        auto_upgrade_profile=aks.ManagedClusterAutoUpgradeProfileArgs(
            upgrade_channel=args.upgrade_channel,
            node_os_upgrade_channel=args.node_os_upgrade_channel,
        ),
        agent_pool_profiles=[_system_pool(args.system_pool, args.network)],
        tags=args.tags or None,
    )


def _network(network: NetworkArgs) -> Any:
    # A dictionary, which the SDK takes though its types do not say so: the class would fill in
    # addresses for pods also where none can be given. By the names on the wire, which both
    # providers' classes hand on as they are.
    said = {
        "networkPlugin": "azure",
        "networkPluginMode": _NETWORK_PLUGIN_MODES[network.mode],
        "podCidr": network.pod_cidr,
        "serviceCidr": network.service_cidr,
        "dnsServiceIP": network.dns_service_ip,
    }
    return {name: value for name, value in said.items() if value is not None}


def _access(args: AksClusterArgs) -> aks.ManagedClusterAPIServerAccessProfileArgs | None:
    if not args.private and not args.authorized_ip_ranges:
        return None
    return aks.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=args.private or None,
        authorized_ip_ranges=list(args.authorized_ip_ranges) or None,
    )


def _system_pool(
    pool: SystemPoolArgs, network: NetworkArgs
) -> aks.ManagedClusterAgentPoolProfileArgs:
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=pool.pool_name,
        mode=aks.AgentPoolMode.SYSTEM,
        os_type=aks.OSType.LINUX,
        os_sku=pool.os_sku,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.vm_size,
        count=pool.count,
        enable_auto_scaling=True if pool.max_count else None,
        min_count=pool.min_count,
        max_count=pool.max_count,
        availability_zones=list(pool.zones) or None,
        gpu_profile=(
            aks.GPUProfileArgs(driver=DRIVERS[pool.gpu_stack]) if pool.gpu_stack else None
        ),
        vnet_subnet_id=network.subnet_id or None,
    )
