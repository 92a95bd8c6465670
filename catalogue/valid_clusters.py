"""Validation rules for clusters, networks, resource groups and workloads."""

import ipaddress
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from catalogue import clusters, kubernetes, networks
from catalogue.clusters import DNS_PREFIX, DNS_PREFIX_RULE, NAME, NAME_RULE
from catalogue.valid import Rule, Rules, Values, matches, no_longer_than, one_of, wrong_if
from catalogue.valid_pools import GPU_STACK, KUBERNETES_VERSION, LEGAL_TAINT, outgrown

_REGION = "[a-z0-9]+"
_NAMESPACE = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


def _names_what_exists(kind: str) -> Rule:
    return wrong_if(
        lambda name, values: not name and values.get("existing"),
        f"is required: set the name of the existing {kind}",
    )


def _looks_like(pattern: str) -> Rule:
    shown = pattern.replace("{", "{{").replace("}", "}}")
    return matches(re.compile(pattern), f"string should match pattern '^{shown}$', not {{!r}}")


def _is_a_range(text: str | None, _: Values) -> str | None:
    if text is None:
        return None
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        return f"{error}: use CIDR notation, such as 10.0.0.0/16"
    return None


def _is_a_dns_prefix(prefix: str | None, cluster: Values) -> str | None:
    if cluster.get("existing"):
        return None
    if prefix is not None:
        fits = DNS_PREFIX.fullmatch(prefix)
        return None if fits else f"{prefix!r} is not a valid DNS prefix: use {DNS_PREFIX_RULE}"
    name = cluster.get("name") or cluster.get("clusterName")
    if not name or not NAME.fullmatch(name) or DNS_PREFIX.fullmatch(name):
        return None
    return f"the cluster's name, {name!r}, is not a valid DNS prefix: set {DNS_PREFIX_RULE}"


def _has_no_administrators(entra: Any) -> bool:
    """Whether no Entra user can administer the cluster. Unknown values count as administrators."""
    if entra is None:
        return False
    return entra.azure_rbac is False and entra.admin_group_object_ids in ([], ())


def _leaves_the_version_alone(channel: str | None, cluster: Values) -> str | None:
    version = cluster.get("kubernetesVersion")
    if cluster.get("existing") or not version:
        return None
    return outgrown(version, channel)


def _lies_among_the_services(address: str | None, network: Values) -> str | None:
    services = network.get("serviceCidr", "not known")
    if services == "not known" or _is_a_range(services, network):
        return None
    if address is None:
        return "is required with serviceCidr: set an address in that range" if services else None
    if services is None:
        return "requires serviceCidr: set both, or neither"
    return _is_free(address, services)


def _is_free(address: str, services: str) -> str | None:
    try:
        found, there = ipaddress.ip_address(address), ipaddress.ip_network(services)
    except ValueError as error:
        return str(error)
    if found not in there:
        return f"{address} is not in serviceCidr, {services}"
    if found in (there.network_address + 1, there.broadcast_address):
        return f"{address} is reserved: do not use the first or last address of {services}"
    return None


def _is_for_services(text: str | None, _: Values) -> str | None:
    found = networks.network(text) if text else None
    if networks.is_too_large_for_services(found):
        return f"{text} is too large: use /{networks.LARGEST_OF_SERVICES} or smaller"
    return None


def _is_not_of_pods(text: str | None, network: Values) -> str | None:
    if "podCidr" not in network or network.get("mode") != "overlay":
        return None
    pods, services = network["podCidr"] or networks.PODS, text or networks.SERVICES
    if not networks.overlap(networks.network(pods), networks.network(services)):
        return None
    default = "" if text else ", the default range of services,"
    return f"{services}{default} overlaps the IP range of pods, {pods}: set another range"


_CLUSTER_NAME = wrong_if(
    lambda name, _: name and not NAME.fullmatch(name),
    f"{{!r}} is not a valid cluster name: use {NAME_RULE}",
)
# `name` is the key in a stack file, `resourceGroupName` the property of a component.
RESOURCE_GROUP: Rules = MappingProxyType(
    {
        "name": (no_longer_than(90), _names_what_exists("resource group")),
        "resourceGroupName": (no_longer_than(90),),
    }
)

CLUSTER: Rules = MappingProxyType(
    {
        "name": (_CLUSTER_NAME, _names_what_exists("cluster")),
        "clusterName": (_CLUSTER_NAME,),
        "dnsPrefix": (_is_a_dns_prefix,),
        "kubernetesVersion": (KUBERNETES_VERSION,),
        "skuTier": (one_of("Free", "Standard", "Premium"),),
        "authorizedIpRanges": (
            wrong_if(
                lambda ranges, cluster: ranges and cluster.get("private"),
                "a private cluster has no public API server: remove authorizedIpRanges, or private",
            ),
        ),
        "authorizedIpRanges[]": (_is_a_range,),
        "workloadIdentity": (
            wrong_if(
                lambda on, cluster: on and not cluster.get("oidcIssuer", True),
                "requires the OIDC issuer: set oidcIssuer: true",
            ),
        ),
        "userAssignedIdentityId": (
            wrong_if(
                lambda identity, _: identity and "/userAssignedIdentities/" not in identity,
                "{!r} is not the resource ID of an identity: use "
                "/subscriptions/.../userAssignedIdentities/NAME",
            ),
        ),
        "disableLocalAccounts": (
            wrong_if(
                lambda off, cluster: off and "entra" in cluster and cluster["entra"] is None,
                "without Entra ID, nobody could sign in: set entra too",
            ),
            wrong_if(
                lambda off, cluster: off and _has_no_administrators(cluster.get("entra")),
                "nobody could administer the cluster: set entra.adminGroupObjectIds, or "
                "entra.azureRbac: true",
            ),
        ),
        "upgradeChannel": (
            one_of("none", "patch", "stable", "rapid", "node-image"),
            _leaves_the_version_alone,
        ),
        "nodeOsUpgradeChannel": (one_of("None", "Unmanaged", "SecurityPatch", "NodeImage"),),
    }
)


def _is_on_aks(version: str | None, _: Values) -> str | None:
    minor = kubernetes.minor_version(version or "")
    if minor is None or kubernetes.written(minor) in kubernetes.ON_AKS:
        return None
    known = ", ".join(kubernetes.ON_AKS)
    return f"Kubernetes {version} may not be available on AKS. Available versions: {known}."


def _is_free_name(name: str | None, cluster: Values) -> str | None:
    if not name or cluster.get("existing") or not clusters.is_reserved(name):
        return None
    return (
        f"AKS refuses new clusters named {name}: Azure reserves the name azure, names that "
        "start with login or xbox, and names that contain microsoft or windows."
    )


def _is_for_new_services(text: str | None, _: Values) -> str | None:
    found = networks.network(text) if text else None
    if networks.is_public(found):
        return f"AKS refuses new clusters with services in {text}: not all of it is private."
    if networks.overlap(found, networks.LINK_LOCAL):
        return f"AKS refuses new clusters with services in {text}: Azure reserves part of it."
    return None


def _is_for_new_pods(text: str | None, _: Values) -> str | None:
    if networks.is_reserved(networks.network(text) if text else None):
        return f"AKS refuses new clusters with pods in {text}: it reserves part of it."
    return None


# Only warnings: existing clusters keep values that AKS refuses for new ones.
DOUBTS: Rules = MappingProxyType(
    {
        "kubernetesVersion": (_is_on_aks,),
        "name": (_is_free_name,),
        "clusterName": (_is_free_name,),
    }
)
NETWORK_DOUBTS: Rules = MappingProxyType(
    {"podCidr": (_is_for_new_pods,), "serviceCidr": (_is_for_new_services,)}
)

ENTRA: Rules = MappingProxyType(
    {
        "adminGroupObjectIds[]": (
            matches(
                clusters.OBJECT_ID,
                "{!r} is not an object ID: get a group's with `az ad group show --group NAME "
                "--query id`",
            ),
        ),
    }
)

NETWORK: Rules = MappingProxyType(
    {
        "mode": (one_of("overlay", "subnet"),),
        "subnetId": (
            wrong_if(
                lambda subnet, network: not subnet and network.get("mode") == "subnet",
                "is required with mode: subnet: set the resource ID of your subnet",
            ),
            wrong_if(
                lambda subnet, _: subnet and "/subnets/" not in subnet,
                "{!r} is not the resource ID of a subnet: use /subscriptions/.../subnets/NAME",
            ),
        ),
        "podCidr": (
            _is_a_range,
            wrong_if(
                lambda cidr, network: cidr and network.get("mode") == "subnet",
                "is only for mode: overlay: remove it, because pods get addresses of the subnet",
            ),
        ),
        "serviceCidr": (_is_a_range, _is_for_services, _is_not_of_pods),
        "dnsServiceIp": (_lies_among_the_services,),
    }
)

DEVICE_PLUGIN: Rules = MappingProxyType(
    {
        "edition": (one_of("today", "article"),),
        "namespace": (_looks_like(_NAMESPACE),),
        "createNamespace": (
            lambda creates, plugin: (
                f"the namespace {plugin['namespace']} exists in every cluster: set "
                "createNamespace: false"
                if creates and plugin.get("namespace") in kubernetes.OWN_NAMESPACES
                else None
            ),
        ),
    }
)

PLUGIN_POOL: Rules = MappingProxyType({"gpuStack": (GPU_STACK,), "nodeTaints[]": (LEGAL_TAINT,)})


def edition_without_mig(edition: str, image: object, partitioned: Sequence[str]) -> str | None:
    """Returns why the edition's plugin does not work on pools with a MIG profile, or None."""
    if edition != "article" or image or not partitioned:
        return None
    return (
        "the plugin of edition: article does not support MIG, which these pools use: "
        f"{', '.join(partitioned)}. Set edition: today"
    )


SAMPLE_JOB: Rules = MappingProxyType(
    {
        "image": (
            wrong_if(
                lambda image, _: not image, "string should have at least 1 character, not {!r}"
            ),
        )
    }
)

# The top-level keys of a stack file.
STACK: Rules = MappingProxyType({"location": (_looks_like(_REGION),), "gpuStack": (GPU_STACK,)})
