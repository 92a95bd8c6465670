"""Validation rules for clusters, networks, resource groups and workloads."""

import re
from collections.abc import Sequence
from typing import Any

from aks_catalogue import clusters, gpu_operator, kubernetes, networks, regions, resource_groups
from aks_catalogue.clusters import DNS_PREFIX, DNS_PREFIX_RULE, NAME, NAME_RULE
from aks_catalogue.valid import Rule, Values, matches, wrong_if
from aks_catalogue.valid_pools import channel_conflict

_REGION = re.compile("[a-z0-9]+")
_NAMESPACE = re.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAMESPACE_RULE = (
    "1 to 63 lowercase letters, digits and '-', starting and ending with a letter or digit"
)


def require_name_of_existing(kind: str) -> Rule:
    return wrong_if(
        lambda name, values: not name and values.get("existing"),
        f"is required: set the name of the existing {kind}",
    )


def check_region(region: str, _: Values) -> str | None:
    if _REGION.fullmatch(region):
        return None
    if _REGION.fullmatch(name := regions.plain(region)):
        return f"{region!r} is not the short name of a region: use {name}"
    return f"{region!r} is not a region: use a short name, such as westeurope"


def check_optional_region(region: str | None, values: Values) -> str | None:
    return None if region is None else check_region(region, values)


def check_dns_prefix(prefix: str | None, cluster: Values) -> str | None:
    if cluster.get("existing"):
        return None
    if prefix is not None:
        is_valid = DNS_PREFIX.fullmatch(prefix)
        return None if is_valid else f"{prefix!r} is not a valid DNS prefix: use {DNS_PREFIX_RULE}"
    name = cluster.get("name") or cluster.get("clusterName")
    if not name or not NAME.fullmatch(name) or DNS_PREFIX.fullmatch(name):
        return None
    return f"the cluster's name, {name!r}, is not a valid DNS prefix: set {DNS_PREFIX_RULE}"


def _has_no_administrators(entra: Any) -> bool:
    """Whether no Entra user can administer the cluster. Unknown values count as administrators."""
    if entra is None:
        return False
    return entra.azure_rbac is False and entra.admin_group_object_ids in ([], ())


def check_upgrade_channel(channel: str | None, cluster: Values) -> str | None:
    version = cluster.get("kubernetesVersion")
    if cluster.get("existing") or not version:
        return None
    return channel_conflict(version, channel)


def _name_of(kind: str, pattern: re.Pattern[str], rule: str) -> Rule:
    return wrong_if(
        lambda name, _: name and not pattern.fullmatch(name),
        f"{{!r}} is not a valid {kind} name: use {rule}",
    )


CLUSTER_NAME = _name_of("cluster", NAME, NAME_RULE)
GROUP_NAME = _name_of("resource group", resource_groups.NAME, resource_groups.NAME_RULE)
NOT_PRIVATE = wrong_if(
    lambda ranges, cluster: ranges and cluster.get("private"),
    "a private cluster has no public API server: remove authorizedIpRanges, or private",
)
# AKS takes it, and then nobody reaches the API server.
NO_EXAMPLE = wrong_if(
    lambda text, _: networks.is_of_documentation(networks.network(text)),
    "{} is a range of documentation, which nobody has: set your range",
)
WITH_ISSUER = wrong_if(
    lambda on, cluster: on and not cluster.get("oidcIssuer", True),
    "requires the OIDC issuer: set oidcIssuer: true",
)
WITH_ENTRA = wrong_if(
    lambda off, cluster: off and "entra" in cluster and cluster["entra"] is None,
    "without Entra ID, nobody could sign in: set entra too",
)
WITH_ADMINISTRATORS = wrong_if(
    lambda off, cluster: off and _has_no_administrators(cluster.get("entra")),
    "nobody could administer the cluster: set entra.adminGroupObjectIds, or entra.azureRbac: true",
)
OBJECT_ID = matches(
    clusters.OBJECT_ID,
    "{!r} is not an object ID: get a group's with `az ad group show --group NAME --query id`",
)
REQUIRED_IN_SUBNET = wrong_if(
    lambda subnet, network: not subnet and network.get("mode") == "subnet",
    "is required with mode: subnet: set the resource ID of your subnet",
)
ONLY_IN_OVERLAY = wrong_if(
    lambda cidr, network: cidr and network.get("mode") == "subnet",
    "is only for mode: overlay: remove it, because pods get addresses of the subnet",
)
_OWN_SUBNET = ("userDefinedRouting", "userAssignedNATGateway")
OUTBOUND_FITS_SUBNET = wrong_if(
    lambda kind, network: (
        (kind in _OWN_SUBNET and not network.get("subnetId", True))
        or (kind == "managedNATGateway" and network.get("subnetId"))
    ),
    "{!r} does not fit subnetId: userDefinedRouting and userAssignedNATGateway need a subnet of "
    "yours, whose route table or gateway they use, and managedNATGateway needs AKS's own",
)
POLICY_FITS_DATAPLANE = wrong_if(
    lambda policy, network: (
        "dataplane" in network
        and policy not in (None, "none")
        and (policy == "cilium") is not (network["dataplane"] == "cilium")
    ),
    "{!r} does not fit dataplane: the policy cilium and the data plane cilium need each other",
)
PRIVATE_ZONE = matches(
    re.compile("system|none|/subscriptions/.+/privateDnsZones/[^/]+", re.IGNORECASE),
    "{!r} is no private DNS zone: use system, none, or the resource ID of a zone",
)
ZONE_OF_PRIVATE = wrong_if(
    lambda zone, cluster: zone and not cluster.get("private", True),
    "is for a private cluster: set private: true, or remove it",
)
ZONE_NEEDS_IDENTITY = wrong_if(
    lambda zone, cluster: (
        str(zone or "").startswith("/") and not cluster.get("userAssignedIdentityId", True)
    ),
    "a zone of yours needs an identity that may write to it: set userAssignedIdentityId",
)
PLAN_FITS_TIER = wrong_if(
    lambda plan, cluster: (
        plan == kubernetes.LONG_TERM and cluster.get("skuTier", "Premium") != "Premium"
    ),
    "long-term support needs the tier Premium: set skuTier: Premium",
)
CLOCK_TIME = matches(re.compile("([01][0-9]|2[0-3]):[0-5][0-9]"), "{!r} is no time: use HH:MM")


REGISTRY_NAME = matches(
    re.compile("[A-Za-z0-9]{5,50}"), "{!r} is no name of a registry: use 5 to 50 letters and digits"
)
NOT_BESIDE_ID = wrong_if(
    lambda name, registry: name and registry.get("registryId"),
    "is for a new registry: remove it, or registryId of the one that exists",
)
_OF_NEW_REGISTRIES = ("registryName", "resourceGroupName")
ONE_REGISTRY = wrong_if(
    lambda registry, args: (
        (registry and args.get("registryName"))
        or (not registry and any(args.get(name, "unknown") is None for name in _OF_NEW_REGISTRIES))
    ),
    "set either the resource ID of a registry, or registryName and resourceGroupName of a new one",
)
NAMESPACE = matches(_NAMESPACE, f"{{!r}} is not a valid namespace: use {_NAMESPACE_RULE}")
OBJECT_NAME = matches(_NAMESPACE, f"{{!r}} is not a valid name: use {_NAMESPACE_RULE}")
NAMED_TO_SHARE = wrong_if(
    lambda name, pool: pool.get("sharing") and not (name or pool.get("poolName")),
    "is required with sharing if poolName is an output: the DaemonSet is named by it",
)
CHART_VERSION = matches(
    gpu_operator.VERSION_FORM,
    f"{{!r}} is not a version of the chart: use the form {gpu_operator.VERSION}",
)
NAMES_AN_IMAGE = wrong_if(lambda image, _: not image, "is empty: name an image, or remove it")


def check_namespace_is_new(creates: bool, plugin: Values) -> str | None:
    if not creates or plugin.get("namespace") not in kubernetes.OWN_NAMESPACES:
        return None
    return (
        f"the namespace {plugin['namespace']} exists in every cluster: set createNamespace: false"
    )


def old_plugin_mistake(
    edition: str, image: object, partitioned: Sequence[str], shared: Sequence[str]
) -> str | None:
    """Returns why the edition's plugin does not work on these pools, or None."""
    if edition != "article" or image or not (partitioned or shared):
        return None
    uses = {"MIG": partitioned, "sharing": shared}
    lacks = " or ".join(name for name, pools in uses.items() if pools)
    return (
        f"the plugin of edition: article does not support {lacks}, which these pools use: "
        f"{', '.join(dict.fromkeys([*partitioned, *shared]))}. Set edition: today"
    )
