"""The AKS cluster, with the system pool that AKS asks for and nothing else inline."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_preview.resources import ManagedCluster
from catalogue import fixed, kept, valid_clusters, valid_pools
from catalogue.nodes import DRIVERS
from catalogue.valid_clusters import CLUSTER, ENTRA, NETWORK
from catalogue.valid_pools import SYSTEM_POOL
from components.arguments import as_azure_spells_it, check, chosen, true_or_nothing, warn
from components.azure_child import azure_child
from components.first_pool import first_pool_hooks
from components.live_pools import FIRST_COUNT, POOLS, LiveCluster
from components.one_owner import one_owner
from components.taken_out import taken_out_hooks

# What AKS calls the modes of the network.
_NETWORK_PLUGIN_MODES: Mapping[str, str | None] = MappingProxyType(
    {"overlay": "overlay", "subnet": None}
)


@dataclass(frozen=True, kw_only=True)
class SystemPoolArgs:
    """The pool that the cluster's own pods run on."""

    vm_size: pulumi.Input[str]
    """The size of the nodes."""
    pool_name: pulumi.Input[str] = "system"
    """The pool's name in AKS."""
    count: pulumi.Input[int] = 1
    """How many nodes there are, or are at first if AKS scales the pool."""
    min_count: pulumi.Input[int] | None = None
    """With `max_count`: AKS scales the pool between the two."""
    max_count: pulumi.Input[int] | None = None
    """With `min_count`: AKS scales the pool between the two."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes."""
    os_sku: pulumi.Input[str] | None = None
    """The nodes' Linux, such as `Ubuntu` or `AzureLinux`. Default: AKS's own."""
    gpu_stack: pulumi.Input[str] | None = None
    """Who brings driver and device plugin, if the nodes have GPUs: `device-plugin`,
    `specialized-image` or `none`."""
    encryption_at_host: pulumi.Input[bool] = False
    """Whether the nodes' temporary disks and caches are encrypted too. Fixed at creation."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = None
    """HTTP headers of the requests for the cluster. Plain: where they are given, if only as an
    empty mapping, aks-preview makes the cluster, and azure-native if not. They never replace it."""
    removed: bool = False
    """Whether further system pools have taken its place: requests for the cluster name no pool
    then, and it can be deleted. A new cluster needs it. Plain: it decides what a request holds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_stack", as_azure_spells_it(self.gpu_stack))


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    mode: pulumi.Input[str] = "overlay"
    """`overlay`, or `subnet` for pods in the subnet `subnet_id`."""
    subnet_id: pulumi.Input[str] | None = None
    """The id of the nodes' subnet. Default: AKS makes a network."""
    pod_cidr: pulumi.Input[str] | None = None
    """The range of the pods' addresses, on an overlay. Default: AKS's own."""
    service_cidr: pulumi.Input[str] | None = None
    """The range of the services' addresses. Default: AKS's own."""
    dns_service_ip: pulumi.Input[str] | None = None
    """The address of the cluster's DNS, in `service_cidr`."""


@dataclass(frozen=True, kw_only=True)
class EntraArgs:
    """Sign-in with Microsoft Entra, which cannot be turned off again."""

    admin_group_object_ids: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The object ids of the groups whose members administer the cluster."""
    azure_rbac: pulumi.Input[bool] = False
    """Whether Azure's role assignments decide what people may do in the cluster."""


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    """A cluster to create."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    location: pulumi.Input[str]
    """The Azure region of the cluster."""
    cluster_name: pulumi.Input[str]
    """The cluster's name in Azure."""
    system_pool: SystemPoolArgs
    """The pool that the cluster's own pods run on. Plain: its headers decide which provider makes
    the cluster. What is in it may come later."""
    network: NetworkArgs = NetworkArgs()
    """The cluster's network. Plain, since what is in it may come later."""
    dns_prefix: pulumi.Input[str] | None = None
    """How the API server's host name begins. Default: the cluster's name. It never changes."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The version of the control plane. Default: AKS's own; the cluster stays at its version when
    that default moves. Under an `upgrade_channel` that raises the version there is none to give:
    `patch` takes a minor version, `stable` and `rapid` take nothing."""
    sku_tier: pulumi.Input[str] = "Free"
    """`Free`, `Standard` or `Premium`."""
    private: pulumi.Input[bool] = False
    """Whether the API server has a private address only."""
    authorized_ip_ranges: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """From where the API server can be reached. Default: from anywhere."""
    oidc_issuer: pulumi.Input[bool] = True
    """Whether the cluster issues tokens that others can verify."""
    workload_identity: pulumi.Input[bool] = False
    """Whether pods can have Azure identities. Needs `oidc_issuer`."""
    user_assigned_identity_id: pulumi.Input[str] | None = None
    """The id of the identity that the cluster works with. Default: Azure makes one for it."""
    entra: EntraArgs | None = None
    """Sign-in with Microsoft Entra. Default: none. Plain, but what is in it may come later."""
    disable_local_accounts: pulumi.Input[bool] = False
    """Whether nobody can sign in with a certificate. Needs `entra`."""
    upgrade_channel: pulumi.Input[str] = "none"
    """Which upgrades of Kubernetes AKS does by itself."""
    node_os_upgrade_channel: pulumi.Input[str] = "NodeImage"
    """Which upgrades of the nodes' Linux AKS does by itself."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The cluster's tags."""


@dataclass(frozen=True, kw_only=True)
class ExistingAksClusterArgs:
    """A cluster that exists."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str]
    """The cluster's name in Azure."""


class _Cluster(pulumi.ComponentResource):
    id: pulumi.Output[str]
    """The cluster's id in Azure."""
    cluster_name: pulumi.Output[str]
    """The cluster's name in Azure."""
    resource_group_name: pulumi.Output[str]
    """The name of the cluster's resource group."""
    node_resource_group: pulumi.Output[str]
    """The name of the resource group that AKS keeps the nodes in."""
    fqdn: pulumi.Output[str | None]
    """The public name of the API server."""
    oidc_issuer_url: pulumi.Output[str | None]
    """What a federated credential names as its issuer, where the cluster issues tokens."""
    principal_id: pulumi.Output[str | None]
    """The object id of the cluster's identity, which needs a role on a subnet of yours."""
    kubelet_identity: pulumi.Output[dict[str, str] | None]
    """The identity that nodes pull images with: its `clientId`, `objectId` and `resourceId`."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("aks-gpu:components:AksCluster", name, None, opts)

    def _register(
        self, cluster: Any, group: pulumi.Input[str], *, lists_ids_alone: bool = False
    ) -> None:
        """Takes the outputs from a resource of either provider, or from what was read.

        aks-preview lists the ids alone of identities that the cluster was given.
        """
        self.id, self.cluster_name, self.fqdn = cluster.id, cluster.name, cluster.fqdn
        self.resource_group_name = pulumi.Output.from_input(group)
        self.node_resource_group = cluster.node_resource_group
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(
            lambda profile: _member(profile, "issuer_url", "issuerURL")
        )
        identity = self._read.identity if lists_ids_alone else cluster.identity
        self.principal_id = identity.apply(_principal_id)
        self.kubelet_identity = cluster.identity_profile.apply(_kubelet_identity)
        self.register_outputs(
            {
                "id": self.id,
                "clusterName": self.cluster_name,
                "resourceGroupName": self.resource_group_name,
                **self.connections(),
            }
        )

    def connections(self) -> dict[str, pulumi.Output[Any]]:
        """What other programs need in order to go on with the cluster."""
        return {
            "nodeResourceGroup": self.node_resource_group,
            "fqdn": self.fqdn,
            "oidcIssuerUrl": self.oidc_issuer_url,
            "principalId": self.principal_id,
            "kubeletIdentity": self.kubelet_identity,
        }

    @cached_property
    def identifier(self) -> pulumi.Output[str]:
        """What Azure tells the cluster by from an earlier or later one of the same name and id.

        For `cluster_identifier` of a Kubernetes provider: its objects are replaced when the cluster
        is another one, and not when its certificates are. A program that does not read it does not
        ask Azure.
        """
        # Asked for, since a cluster's own output is not known in the preview of any update of it.
        return self._read.resource_uid

    @cached_property
    def _read(self) -> pulumi.Output[aks.GetManagedClusterResult]:
        return aks.get_managed_cluster_output(
            resource_group_name=self.resource_group_name,
            resource_name=self.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )

    @cached_property
    def kubeconfig(self) -> pulumi.Output[str]:
        """The user kubeconfig, as a secret. A program that does not read it does not ask Azure.

        That of a cluster with Entra runs `kubelogin`, which has to be on the machine.
        """
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


class AksCluster(_Cluster):
    """A new AKS cluster.

    GPU pools are resources of their own (see GpuNodePool): changing one inline disturbs them all.
    """

    def __init__(
        self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        parts = {"system_pool": SYSTEM_POOL, "network": NETWORK, "entra": ENTRA}
        check(name, args, CLUSTER, parts)
        super().__init__(name, opts)
        warn(self, args, valid_clusters.DOUBTS)
        warn(self, args.network, valid_clusters.NETWORK_DOUBTS)
        warn(self, args.system_pool, valid_pools.DOUBTS)
        self.managed_cluster = self._managed_cluster(name, args)
        own = args.user_assigned_identity_id is not None
        self._register(
            self.managed_cluster,
            args.resource_group_name,
            lists_ids_alone=own and args.system_pool.custom_headers is not None,
        )

    def _managed_cluster(
        self, name: str, args: AksClusterArgs
    ) -> aks.ManagedCluster | ManagedCluster:
        headers = args.system_pool.custom_headers
        # AKS moves the number of nodes of an autoscaled pool by itself.
        autoscaled = args.system_pool.max_count is not None and not args.system_pool.removed
        private = ["apiServerAccessProfile.enablePrivateCluster"] if args.private else []
        count = [FIRST_COUNT] if autoscaled else []
        own = pulumi.ResourceOptions(
            parent=self,
            # Said of new clusters only: it cannot change, and those that are there are left alone.
            ignore_changes=[*count, "enableRBAC"],
            replace_on_changes=fixed.replacing(fixed.CLUSTER, private),
        )
        opts = one_owner(own, "containerservice:ManagedCluster", has_headers=headers is not None)
        hooks = first_pool_hooks(removed=args.system_pool.removed)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        hooks = taken_out_hooks(kept.LASTING_CLUSTER, kept.REFUSED_CLUSTER)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        # AKS repeats the labels, taints and tags of all pools here, and some may be secrets.
        opts.additional_secret_outputs = [POOLS]
        cluster = _cluster_args(name, args)
        if headers is not None:
            return ManagedCluster(name, cluster, opts, custom_headers=headers)
        opts = LiveCluster(self, cluster).options(opts)
        return azure_child(aks.ManagedCluster, name, cluster, opts)


class ExistingAksCluster(_Cluster):
    """An AKS cluster that exists and is only read."""

    def __init__(
        self, name: str, args: ExistingAksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, CLUSTER)
        super().__init__(name, opts)
        cluster = aks.get_managed_cluster_output(
            resource_group_name=args.resource_group_name,
            resource_name=args.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self._register(cluster, args.resource_group_name)


def _member(part: Mapping[str, Any] | None, attribute: str, wire: str) -> Any:
    """A member of an output: azure-native has attributes, aks-preview Azure's own names."""
    return getattr(part, attribute) if hasattr(part, attribute) else (part or {}).get(wire)


def _principal_id(identity: Mapping[str, Any] | None) -> str | None:
    own: str | None = _member(identity, "principal_id", "principalId")
    assigned = _member(identity, "user_assigned_identities", "userAssignedIdentities")
    if own or not assigned:
        return own
    principals = (_member(one, "principal_id", "principalId") for one in assigned.values())
    return next(principals, None)


def _kubelet_identity(profile: Mapping[str, Any] | None) -> dict[str, str] | None:
    kubelet = (profile or {}).get("kubeletidentity")
    return kubelet and {
        "clientId": _member(kubelet, "client_id", "clientId"),
        "objectId": _member(kubelet, "object_id", "objectId"),
        "resourceId": _member(kubelet, "resource_id", "resourceId"),
    }


def _cluster_args(name: str, args: AksClusterArgs) -> aks.ManagedClusterArgs:
    return aks.ManagedClusterArgs(
        resource_group_name=args.resource_group_name,
        resource_name=args.cluster_name,
        location=args.location,
        dns_prefix=args.cluster_name if args.dns_prefix is None else args.dns_prefix,
        kubernetes_version=args.kubernetes_version,
        identity=_identity(args.user_assigned_identity_id),
        aad_profile=_entra(args.entra),
        # Once there, AKS keeps them where a request says nothing: so they are always said.
        disable_local_accounts=args.disable_local_accounts if args.entra else None,
        sku=aks.ManagedClusterSKUArgs(name="Base", tier=args.sku_tier),
        network_profile=_network(name, args.network),
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
        agent_pool_profiles=None
        if args.system_pool.removed
        else [_system_pool(name, args.system_pool, args.network)],
        # Fixed at creation, and what it is by default is documented nowhere.
        enable_rbac=True,
        tags=args.tags or None,
    )


def _identity(own: pulumi.Input[str] | None) -> aks.ManagedClusterIdentityArgs:
    if own is None:
        return aks.ManagedClusterIdentityArgs(type=aks.ResourceIdentityType.SYSTEM_ASSIGNED)
    return aks.ManagedClusterIdentityArgs(
        type=aks.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[own]
    )


def _entra(entra: EntraArgs | None) -> aks.ManagedClusterAADProfileArgs | None:
    if entra is None:
        return None
    return aks.ManagedClusterAADProfileArgs(
        managed=True,
        admin_group_object_ids=entra.admin_group_object_ids,
        enable_azure_rbac=entra.azure_rbac,
    )


def _network(name: str, network: NetworkArgs) -> Any:
    # A dictionary, which the SDK takes though its types do not say so: the class would fill in
    # addresses for pods also where none can be given. By the names on the wire, which both
    # providers' classes hand on as they are.
    return {
        "networkPlugin": "azure",
        "networkPluginMode": chosen(name, "network.mode", _NETWORK_PLUGIN_MODES, network.mode),
        "podCidr": network.pod_cidr,
        "serviceCidr": network.service_cidr,
        "dnsServiceIP": network.dns_service_ip,
    }


def _access(
    args: AksClusterArgs,
) -> pulumi.Output[aks.ManagedClusterAPIServerAccessProfileArgs | None]:
    def access(
        values: list[Any],
    ) -> aks.ManagedClusterAPIServerAccessProfileArgs | None:
        private, ranges = values
        if not private and not ranges:
            return None
        return aks.ManagedClusterAPIServerAccessProfileArgs(
            enable_private_cluster=private or None, authorized_ip_ranges=ranges or None
        )

    return pulumi.Output.all(args.private, args.authorized_ip_ranges).apply(access)


def _system_pool(
    name: str, pool: SystemPoolArgs, network: NetworkArgs
) -> aks.ManagedClusterAgentPoolProfileArgs:
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=pool.pool_name,
        mode=aks.AgentPoolMode.SYSTEM,
        os_type=aks.OSType.LINUX,
        os_sku=pool.os_sku,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.vm_size,
        count=pool.count,
        enable_auto_scaling=True if pool.max_count is not None else None,
        min_count=pool.min_count,
        max_count=pool.max_count,
        availability_zones=pool.zones or None,
        gpu_profile=(
            aks.GPUProfileArgs(driver=chosen(name, "systemPool.gpuStack", DRIVERS, pool.gpu_stack))
            if pool.gpu_stack
            else None
        ),
        vnet_subnet_id=network.subnet_id,
        enable_encryption_at_host=true_or_nothing(pool.encryption_at_host),
    )
