"""An AKS cluster, with only the first system node pool inline."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_catalogue import valid_clusters as valid
from aks_catalogue import valid_pools as rules
from aks_catalogue.aks_properties import CLUSTER
from aks_catalogue.nodes import DRIVERS
from aks_catalogue.valid import between, one_of, resource_id
from aks_preview.resources import ManagedCluster
from components.arguments import check, chosen, warn
from components.declared import (
    arguments,
    at,
    checked,
    looked_up,
    made,
    makes,
    map_or_empty,
    nothing_if_empty,
    sent,
)
from components.extra_properties import for_azure_native, with_extra
from components.kept_properties import first_pool_hooks, removals
from components.live_pools import FIRST_COUNT, POOLS, keep_live_pools
from components.one_owner import one_owner
from components.pool_args import ModeSystemArgs, sent_of_pool
from components.unaliased_resource import unaliased_resource

# By network mode, the value of networkPluginMode.
_NETWORK_PLUGIN_MODES: Mapping[str, str | None] = MappingProxyType(
    {"overlay": "overlay", "subnet": None}
)
# Like DRIVERS, without the GPU stacks of GPU pools alone.
_DRIVERS = MappingProxyType(
    {stack: DRIVERS[stack] for stack in DRIVERS if stack not in ("managed", "operator")}
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# The names by which AKS knows what a window is for.
_WINDOWS = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


def _minutes(number: pulumi.Input[int]) -> Any:
    return made(lambda known: f"{known}m", number)


def _word(switch: pulumi.Input[bool]) -> Any:
    """Returns a boolean as the autoscaler's profile has it: a text."""
    return made(lambda on: "true" if on else "false", switch)


@arguments
class SystemPoolArgs(ModeSystemArgs):
    """The first system node pool, which AKS creates with the cluster."""

    vm_size: pulumi.Input[str] = at(
        "vmSize",
        rules.LARGE_ENOUGH,
        rules.NOT_MANAGED_IN_SYSTEM_POOL,
        rules.NO_OPERATOR_IN_SYSTEM_POOL,
        doubtful=[rules.check_driver],
    )
    """The VM size of the nodes, with at least 2 vCPUs and 4 GiB of memory. AKS does not change it
    later: add a `SystemNodePool` to replace this pool."""
    pool_name: pulumi.Input[str] = at("name", rules.POOL_NAME, default="system")
    """The name of the node pool in AKS: 1 to 12 lowercase letters and digits, starting with a
    letter. AKS does not change it later."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = at(
        "availabilityZones", made=nothing_if_empty, each=[one_of("1", "2", "3")], default=()
    )
    """The availability zones of the nodes, such as `["1", "2", "3"]`. Default: no zones. AKS does
    not change them later."""
    gpu_stack: pulumi.Input[str] | None = makes(
        "gpuProfile.driver", rules=[rules.GPU_STACK], default=None
    )
    """What installs the GPU driver and the device plugin if the VM size has GPUs: `device-plugin`,
    `specialized-image` or `none`. Default: AKS installs the driver."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = checked(
        rules.check_headers,
        rules.check_image_owner,
        rules.check_generation,
        doubtful=[rules.check_retired_headers],
        default=None,
    )
    """HTTP headers to send with each request for the cluster. With headers, even an empty mapping,
    the aks-preview provider manages the cluster, and without (the default) azure-native does.
    Headers never replace the cluster."""
    removed: bool = False
    """Whether other system pools have replaced this one. Requests for the cluster then leave it
    out, so that you can delete it in AKS. A new cluster needs the pool."""


@arguments
class NetworkArgs:
    """The cluster's network. It always uses Azure CNI, by default in overlay mode."""

    mode: pulumi.Input[str] = makes(
        "networkProfile.networkPlugin",
        "networkProfile.networkPluginMode",
        rules=[one_of("overlay", "subnet")],
        default="overlay",
    )
    """How pods get IP addresses: `overlay` (from `pod_cidr`) or `subnet` (from the subnet
    `subnet_id`)."""
    subnet_id: pulumi.Input[str] | None = checked(
        valid.REQUIRED_IN_SUBNET, resource_id("subnets", "a subnet"), default=None
    )
    """The resource ID of the subnet for the nodes. Required if `mode` is `subnet`. Default: AKS
    creates a virtual network."""
    pod_cidr: pulumi.Input[str] | None = at(
        "networkProfile.podCidr", valid.ONLY_IN_OVERLAY, default=None
    )
    """The IP range of the pods in CIDR notation, for mode `overlay` only. Default:
    `10.244.0.0/16`. Another range replaces the cluster."""
    service_cidr: pulumi.Input[str] | None = at("networkProfile.serviceCidr", default=None)
    """The IP range of Kubernetes services in CIDR notation, `/12` or smaller. Set it together with
    `dns_service_ip`. Default: `10.0.0.0/16`. Another range replaces the cluster."""
    dns_service_ip: pulumi.Input[str] | None = at("networkProfile.dnsServiceIP", default=None)
    """The IP address of the cluster's DNS service, inside `service_cidr`. Default:
    `10.0.0.10`. Another address replaces the cluster."""
    outbound: pulumi.Input[str] | None = at(
        "networkProfile.outboundType",
        one_of(
            "loadBalancer",
            "managedNATGateway",
            "userAssignedNATGateway",
            "userDefinedRouting",
            "none",
        ),
        valid.OUTBOUND_FITS_SUBNET,
        default=None,
    )
    """How nodes reach the Internet: `loadBalancer`, `managedNATGateway`, `userAssignedNATGateway`,
    `userDefinedRouting` (by the route table of your subnet, to a firewall of the hub) or `none`.
    `none` also needs `extra: {bootstrapProfile: {artifactSource: Cache}}`. Default:
    `loadBalancer`. A new value replaces the cluster, even if it is the way that the cluster already
    has: without this key, Pulumi's state does not know that way."""
    dataplane: pulumi.Input[str] | None = at(
        "networkProfile.networkDataplane", one_of("azure", "cilium"), default=None
    )
    """What moves packets: `azure` or `cilium`. Default: `azure`."""
    policy: pulumi.Input[str] | None = at(
        "networkProfile.networkPolicy",
        one_of("none", "azure", "calico", "cilium"),
        valid.POLICY_FITS_DATAPLANE,
        default=None,
    )
    """What enforces NetworkPolicies: `none`, `azure`, `calico`, or `cilium` with the data plane
    `cilium`. Default: nothing, or `cilium` with that data plane. A new value replaces the
    cluster, even if it is what the cluster already has: without this key, Pulumi's state does not
    know that."""


@arguments
class AutoscalerArgs:
    """How the cluster autoscaler works, for all pools that it scales. More of it goes into `extra`,
    as `autoScalerProfile`."""

    expander: pulumi.Input[str] = at(
        "autoScalerProfile.expander",
        one_of("random", "least-waste", "most-pods", "priority"),
        default="random",
    )
    """Which of several pools grows for a pod that fits them: `random`, `least-waste`, `most-pods`,
    or `priority` by the ConfigMap `cluster-autoscaler-priority-expander` in `kube-system`."""
    balance_similar_pools: pulumi.Input[bool] = at(
        "autoScalerProfile.balance-similar-node-groups", made=_word, default=False
    )
    """Whether pools that are alike, such as one for each zone, grow evenly."""
    idle_minutes: pulumi.Input[int] = at(
        "autoScalerProfile.scale-down-unneeded-time", between(1, 1440), made=_minutes, default=10
    )
    """How many minutes a node is idle before it is removed."""
    pause_minutes: pulumi.Input[int] = at(
        "autoScalerProfile.scale-down-delay-after-add", between(0, 1440), made=_minutes, default=10
    )
    """How many minutes after a new node none is removed."""


@arguments
class MaintenanceArgs:
    """A window each week in which AKS installs upgrades by itself, of Kubernetes and of nodes."""

    day: pulumi.Input[str] = checked(one_of(*_DAYS))
    """The day of the week, such as `Saturday`."""
    start: pulumi.Input[str] = checked(valid.CLOCK_TIME)
    """When it begins, in UTC, such as `02:00`."""
    hours: pulumi.Input[int] = checked(between(4, 24), default=4)
    """How long it is, 4 to 24 hours. Long drains of GPU nodes need more."""


@arguments
class EntraArgs:
    """Sign-in with Microsoft Entra ID. AKS cannot turn it off again."""

    admin_group_object_ids: pulumi.Input[Sequence[pulumi.Input[str]]] = at(
        "aadProfile.adminGroupObjectIDs", each=[valid.OBJECT_ID], default=()
    )
    """The object IDs of the Entra groups whose members are cluster administrators."""
    azure_rbac: pulumi.Input[bool] = at("aadProfile.enableAzureRBAC", default=False)
    """Whether Azure role assignments grant access to the Kubernetes API. By default only
    Kubernetes RBAC does."""


@arguments
class AksClusterArgs:
    """The inputs of a new AKS cluster."""

    resource_group_name: pulumi.Input[str] = at("resourceGroupName")
    """The name of the resource group to create the cluster in."""
    location: pulumi.Input[str] = at("location", valid.check_region)
    """The Azure region, such as `westeurope`. Another region replaces the cluster."""
    cluster_name: pulumi.Input[str] = at("resourceName", valid.CLUSTER_NAME)
    """The name of the cluster in Azure: 1 to 63 letters, digits, `_` and `-`, starting and ending
    with a letter or digit. Another name replaces the cluster."""
    system_pool: SystemPoolArgs = makes("agentPoolProfiles")
    """The first system node pool."""
    network: NetworkArgs = NetworkArgs()
    """The cluster's network. Default: Azure CNI in overlay mode, in a virtual network that AKS
    creates."""
    dns_prefix: pulumi.Input[str] | None = makes(
        "dnsPrefix", rules=[valid.check_dns_prefix], default=None
    )
    """The first part of the API server's host name: 1 to 54 letters, digits and `-`. Default: the
    cluster's name. Another prefix replaces the cluster."""
    kubernetes_version: pulumi.Input[str] | None = at(
        "kubernetesVersion",
        rules.check_kubernetes_version,
        default=None,
    )
    """The Kubernetes version of the control plane, such as `1.35` or `1.35.2`. Default: AKS chooses
    at creation and the cluster stays at that version. With the upgrade channel `patch`, set a minor
    version; with `stable` or `rapid`, leave it out."""
    sku_tier: pulumi.Input[str] = at(
        "sku.tier",
        one_of("Free", "Standard", "Premium"),
        default="Free",
    )
    """The pricing tier of the control plane: `Free`, `Standard` (with an uptime SLA) or `Premium`,
    which long-term support needs."""
    support_plan: pulumi.Input[str] | None = at(
        "supportPlan",
        one_of("KubernetesOfficial", "AKSLongTermSupport"),
        valid.PLAN_FITS_TIER,
        default=None,
    )
    """Which Kubernetes versions AKS supports: `KubernetesOfficial`, or `AKSLongTermSupport`, with
    the tier `Premium`. Default: `KubernetesOfficial`."""
    private: pulumi.Input[bool] = makes(
        "apiServerAccessProfile.enablePrivateCluster", default=False
    )
    """Whether the API server has only a private IP address. To make a public cluster private
    replaces it; a private cluster cannot become public."""
    private_dns_zone: pulumi.Input[str] | None = makes(
        "apiServerAccessProfile.privateDNSZone",
        rules=[valid.PRIVATE_ZONE, valid.ZONE_OF_PRIVATE, valid.ZONE_NEEDS_IDENTITY],
        default=None,
    )
    """The private DNS zone of a private cluster's API server: `system`, `none`, or the resource ID
    of a zone of yours, such as that of the hub. AKS changes it only to `none`. Default:
    `system`."""
    authorized_ip_ranges: pulumi.Input[Sequence[pulumi.Input[str]]] = makes(
        "apiServerAccessProfile.authorizedIPRanges",
        rules=[valid.NOT_PRIVATE],
        each=[valid.NO_EXAMPLE],
        default=(),
    )
    """The IP ranges, in CIDR notation, that can reach a public API server. Default: all
    addresses. Not for a private cluster."""
    oidc_issuer: pulumi.Input[bool] = at("oidcIssuerProfile.enabled", default=True)
    """Whether the cluster has an OIDC issuer URL, so that other systems can verify the tokens of
    its service accounts."""
    workload_identity: pulumi.Input[bool] = at(
        "securityProfile.workloadIdentity.enabled", valid.WITH_ISSUER, default=False
    )
    """Whether pods can sign in to Azure with Microsoft Entra Workload ID. Requires
    `oidc_issuer`."""
    user_assigned_identity_id: pulumi.Input[str] | None = makes(
        "identity", rules=[resource_id("userAssignedIdentities", "an identity")], default=None
    )
    """The resource ID of a user-assigned managed identity for the control plane. Default: a
    system-assigned identity."""
    entra: EntraArgs | None = None
    """Sign-in with Microsoft Entra ID. AKS cannot turn it off again. Default: only certificates of
    local accounts."""
    disable_local_accounts: pulumi.Input[bool] = makes(
        "disableLocalAccounts", rules=[valid.WITH_ENTRA, valid.WITH_ADMINISTRATORS], default=False
    )
    """Whether AKS disables its local accounts, so that users must sign in with Entra ID. Requires
    `entra`. Certificates that were issued before stay valid until `az aks rotate-certs`."""
    upgrade_channel: pulumi.Input[str] = at(
        "autoUpgradeProfile.upgradeChannel",
        one_of("none", "patch", "stable", "rapid", "node-image"),
        valid.check_upgrade_channel,
        default="none",
    )
    """Which Kubernetes upgrades AKS installs automatically: `none`, `patch`, `stable`, `rapid` or
    `node-image`."""
    node_os_upgrade_channel: pulumi.Input[str] = at(
        "autoUpgradeProfile.nodeOSUpgradeChannel",
        one_of("None", "Unmanaged", "SecurityPatch", "NodeImage"),
        default="NodeImage",
    )
    """Which operating-system upgrades AKS installs on nodes automatically: `None`, `Unmanaged`,
    `SecurityPatch` or `NodeImage`."""
    autoscaler: AutoscalerArgs | None = None
    """How the cluster autoscaler works. Default: as AKS sets it."""
    maintenance: MaintenanceArgs | None = None
    """When AKS installs the upgrades of `upgrade_channel` and `node_os_upgrade_channel`. Default:
    at any time."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = at(
        "tags", made=map_or_empty, default=None
    )
    """The Azure tags of the cluster. Default: none."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the cluster beside these, as a map by the names of Azure's API
    (docs/any-property.md). A property that you take out again stays as it is in AKS."""
    resource = "cluster"

    @property
    def by_aks_preview(self) -> bool:
        """Whether aks-preview manages the cluster, which sends a newer version of the API."""
        return self.system_pool.custom_headers is not None


@arguments
class ExistingAksClusterArgs:
    """The inputs to look up an existing AKS cluster."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str] = checked(valid.CLUSTER_NAME)
    """The name of the cluster in Azure."""


def _identifier(cluster: "_Cluster") -> pulumi.Output[str]:
    # A lookup, because in the preview of an update the cluster's own outputs are unknown.
    return cluster._read.resource_uid


def _kubeconfig(cluster: "_Cluster") -> pulumi.Output[str]:
    credentials = aks.list_managed_cluster_user_credentials_output(
        resource_group_name=cluster.resource_group_name,
        resource_name=cluster.cluster_name,
        opts=pulumi.InvokeOutputOptions(parent=cluster),
    )
    return credentials.apply(
        lambda reply: pulumi.Output.secret(base64.b64decode(reply.kubeconfigs[0].value).decode())
    )


class _Cluster(pulumi.ComponentResource):
    id: pulumi.Output[str]
    """The cluster's resource ID in Azure."""
    cluster_name: pulumi.Output[str]
    """The cluster's name in Azure."""
    resource_group_name: pulumi.Output[str]
    """The name of the cluster's resource group."""
    node_resource_group: pulumi.Output[str]
    """The name of the resource group in which AKS creates the nodes."""
    fqdn: pulumi.Output[str | None]
    """The public host name of the API server."""
    oidc_issuer_url: pulumi.Output[str | None]
    """The cluster's OIDC issuer URL, for federated identity credentials."""
    principal_id: pulumi.Output[str | None]
    """The object ID of the cluster's identity. It needs a role on a subnet that you bring."""
    kubelet_identity: pulumi.Output[dict[str, str] | None]
    """The identity with which nodes pull images: `clientId`, `objectId` and `resourceId`."""
    identifier: pulumi.Output[str] = looked_up(_identifier)
    """The unique ID of the cluster, which differs after the cluster is re-created.

    Pass it to a Kubernetes provider as `cluster_identifier`: then Pulumi replaces Kubernetes
    objects if the cluster is replaced, but not if its certificates are. Looked up only if used,
    so programs that do not read it make no API call.
    """
    kubeconfig: pulumi.Output[str] = looked_up(_kubeconfig)
    """The user kubeconfig, as a secret.

    Fetched only if used, so programs that do not read it make no API call. On a cluster with
    Entra ID the kubeconfig runs `kubelogin`, which must be installed.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__("aks-gpu:components:AksCluster", name, None, opts)

    def _register(
        self, cluster: Any, group: pulumi.Input[str], *, identity_lacks_principal: bool = False
    ) -> None:
        """Sets the outputs from a resource of either provider, or from a lookup.

        With a user-assigned identity, aks-preview returns its resource ID without the principal.
        """
        self.id, self.cluster_name, self.fqdn = cluster.id, cluster.name, cluster.fqdn
        self.resource_group_name = pulumi.Output.from_input(group)
        self.node_resource_group = cluster.node_resource_group
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(
            lambda profile: _property(profile, "issuer_url", "issuerURL")
        )
        identity = self._read.identity if identity_lacks_principal else cluster.identity
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
        """Returns the outputs that other programs need to use the cluster."""
        return {
            "nodeResourceGroup": self.node_resource_group,
            "fqdn": self.fqdn,
            "oidcIssuerUrl": self.oidc_issuer_url,
            "principalId": self.principal_id,
            "kubeletIdentity": self.kubelet_identity,
        }

    @cached_property
    def _read(self) -> "pulumi.Output[aks.GetManagedClusterResult]":
        return aks.get_managed_cluster_output(
            resource_group_name=self.resource_group_name,
            resource_name=self.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )


class AksCluster(_Cluster):
    """A new AKS cluster with one system node pool.

    Add GPU node pools with GpuNodePool: an update of an inline pool updates the whole cluster.
    """

    def __init__(
        self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__(name, opts)
        warn(self, args)
        self.managed_cluster = self._managed_cluster(name, args)
        if args.maintenance:
            self._maintain(name, args, args.maintenance)
        has_headers = args.system_pool.custom_headers is not None
        self._register(
            self.managed_cluster,
            args.resource_group_name,
            identity_lacks_principal=has_headers and args.user_assigned_identity_id is not None,
        )

    def _maintain(self, name: str, args: AksClusterArgs, window: MaintenanceArgs) -> None:
        weekly = {"dayOfWeek": window.day, "intervalWeeks": 1}
        for config_name in _WINDOWS:
            inputs = {
                "resourceGroupName": args.resource_group_name,
                # An output: Azure deletes the windows with a cluster that is replaced.
                "resourceName": self.managed_cluster.name,
                "configName": config_name,
                "maintenanceWindow": {
                    "startTime": window.start,
                    "durationHours": window.hours,
                    "utcOffset": "+00:00",
                    "schedule": {"weekly": weekly},
                },
            }
            opts = pulumi.ResourceOptions(
                parent=self, deleted_with=self.managed_cluster, protect=False
            )
            kind, of = aks.MaintenanceConfiguration, aks.MaintenanceConfigurationArgs
            unaliased_resource(kind, of, f"{name}-{config_name}", inputs, opts)

    def _managed_cluster(
        self, name: str, args: AksClusterArgs
    ) -> "aks.ManagedCluster | ManagedCluster":
        headers = args.system_pool.custom_headers
        # The cluster autoscaler changes the node count.
        autoscaled = args.system_pool.max_count is not None and not args.system_pool.removed
        private = ["apiServerAccessProfile.enablePrivateCluster"] if args.private else []
        count = [FIRST_COUNT] if autoscaled else []
        options = pulumi.ResourceOptions(
            parent=self,
            # AKS never changes enableRBAC: set it for new clusters, ignore it for existing ones.
            ignore_changes=[*count, "enableRBAC"],
            replace_on_changes=CLUSTER.replacing([*private, *CLUSTER.given_in(args.extra)]),
        )
        opts = one_owner(
            options, "containerservice:ManagedCluster", by_aks_preview=headers is not None
        )
        hooks = first_pool_hooks(removed=args.system_pool.removed)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        hooks = removals(AksClusterArgs)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        # AKS repeats the labels, taints and tags of all pools here, and these may be secrets.
        opts.additional_secret_outputs = [POOLS]
        cluster = _properties(name, args)
        if headers is not None:
            return ManagedCluster(name, cluster, opts, custom_headers=headers)
        cluster = for_azure_native(cluster)
        opts = keep_live_pools(self, cluster, opts)
        return unaliased_resource(aks.ManagedCluster, aks.ManagedClusterArgs, name, cluster, opts)


class ExistingAksCluster(_Cluster):
    """An existing AKS cluster, which Pulumi reads and never changes."""

    def __init__(
        self, name: str, args: ExistingAksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__(name, opts)
        cluster = aks.get_managed_cluster_output(
            resource_group_name=args.resource_group_name,
            resource_name=args.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        self._register(cluster, args.resource_group_name)


def _property(output: Mapping[str, Any] | None, attribute: str, wire_name: str) -> Any:
    """A property of an output: an attribute in azure-native, a key in aks-preview."""
    if hasattr(output, attribute):
        return getattr(output, attribute)
    return (output or {}).get(wire_name)


def _principal_id(identity: Mapping[str, Any] | None) -> str | None:
    system_assigned: str | None = _property(identity, "principal_id", "principalId")
    user_assigned = _property(identity, "user_assigned_identities", "userAssignedIdentities")
    if system_assigned or not user_assigned:
        return system_assigned
    principals = (_property(one, "principal_id", "principalId") for one in user_assigned.values())
    return next(principals, None)


def _kubelet_identity(profile: Mapping[str, Any] | None) -> dict[str, str] | None:
    kubelet = (profile or {}).get("kubeletidentity")
    return kubelet and {
        "clientId": _property(kubelet, "client_id", "clientId"),
        "objectId": _property(kubelet, "object_id", "objectId"),
        "resourceId": _property(kubelet, "resource_id", "resourceId"),
    }


def _properties(name: str, args: AksClusterArgs) -> dict[str, Any]:
    """Returns what requests for the cluster have, of either provider."""
    cluster = {
        **sent(args),
        "dnsPrefix": args.cluster_name if args.dns_prefix is None else args.dns_prefix,
        "identity": _identity(args.user_assigned_identity_id),
        "networkProfile": {
            "networkPlugin": "azure",
            "networkPluginMode": chosen(
                name, "network.mode", _NETWORK_PLUGIN_MODES, args.network.mode
            ),
            **sent(args.network).get("networkProfile", {}),
        },
        "apiServerAccessProfile": pulumi.Output.all(
            args.private, args.authorized_ip_ranges, args.private_dns_zone
        ).apply(lambda values: _access(*values)),
        # AKS fixes it at creation and does not document its default.
        "enableRBAC": True,
    }
    cluster["sku"]["name"] = "Base"
    if args.autoscaler:
        cluster |= sent(args.autoscaler)
    if args.entra:
        # Always sent with Entra: AKS keeps a property that a request leaves out.
        cluster["disableLocalAccounts"] = args.disable_local_accounts
        cluster["aadProfile"] = {"managed": True, **sent(args.entra)["aadProfile"]}
    if not args.system_pool.removed:
        cluster["agentPoolProfiles"] = [_system_pool(name, args.system_pool, args.network)]
    return with_extra(cluster, args.extra)


def _identity(user_assigned: pulumi.Input[str] | None) -> dict[str, Any]:
    if user_assigned is None:
        return {"type": "SystemAssigned"}
    return {"type": "UserAssigned", "userAssignedIdentities": [user_assigned]}


def _access(private: bool, ranges: Sequence[str], zone: str | None) -> dict[str, Any]:
    if not private:
        return {"authorizedIPRanges": [*ranges]}
    return {"enablePrivateCluster": True, **({"privateDNSZone": zone} if zone else {})}


def _system_pool(name: str, pool: SystemPoolArgs, network: NetworkArgs) -> dict[str, Any]:
    properties = sent_of_pool(pool, "System")
    if pool.gpu_stack:
        driver = chosen(name, "systemPool.gpuStack", _DRIVERS, pool.gpu_stack)
        properties["gpuProfile"] = {"driver": driver}
    if network.subnet_id is not None:
        properties["vnetSubnetID"] = network.subnet_id
    return with_extra(properties, pool.extra)
