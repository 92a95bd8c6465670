"""What is valid for a cluster, its network, its resource group, and what runs on it."""

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
        f"is required: which existing {kind} is meant?",
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
        return f"{error}: write a range as 10.0.0.0/16"
    return None


def _is_a_dns_prefix(prefix: str | None, cluster: Values) -> str | None:
    if cluster.get("existing"):
        return None
    if prefix is not None:
        fits = DNS_PREFIX.fullmatch(prefix)
        return None if fits else f"{prefix!r} is no DNS prefix: AKS takes {DNS_PREFIX_RULE}"
    name = cluster.get("name") or cluster.get("clusterName")
    if not name or not NAME.fullmatch(name) or DNS_PREFIX.fullmatch(name):
        return None
    return f"is the cluster's name, {name!r}, unless it is set: set one of {DNS_PREFIX_RULE}"


def _has_no_administrators(entra: Any) -> bool:
    """Whether Entra lets nobody administer a cluster; what is not known yet may."""
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
        return "goes with serviceCidr: say an address out of that range" if services else None
    if services is None:
        return "goes with serviceCidr: say both, or neither"
    return _is_free(address, services)


def _is_free(address: str, services: str) -> str | None:
    try:
        found, there = ipaddress.ip_address(address), ipaddress.ip_network(services)
    except ValueError as error:
        return str(error)
    if found not in there:
        return f"{address} is not in serviceCidr, {services}"
    if found in (there.network_address + 1, there.broadcast_address):
        return f"{address} is taken: the first and the last address of {services} are not free"
    return None


def _is_for_services(text: str | None, _: Values) -> str | None:
    found = networks.network(text) if text else None
    if networks.is_too_large_for_services(found):
        return f"{text} is too large: AKS takes /{networks.LARGEST_OF_SERVICES} and smaller"
    return None


def _is_not_of_pods(text: str | None, network: Values) -> str | None:
    if "podCidr" not in network or network.get("mode") != "overlay":
        return None
    pods, services = network["podCidr"] or networks.PODS, text or networks.SERVICES
    if not networks.overlap(networks.network(pods), networks.network(services)):
        return None
    unsaid = "" if text else ", which services have unless it is set,"
    return f"{services}{unsaid} overlaps the range of pods, {pods}"


_CLUSTER_NAME = wrong_if(
    lambda name, _: name and not NAME.fullmatch(name),
    f"{{!r}} is no name for a cluster: AKS takes {NAME_RULE}",
)
# The name is a stack file's key, and a component's property with its kind before it.
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
                "a private cluster has no public address: leave one of both out",
            ),
        ),
        "authorizedIpRanges[]": (_is_a_range,),
        "workloadIdentity": (
            wrong_if(
                lambda on, cluster: on and not cluster.get("oidcIssuer", True),
                "needs the cluster's OIDC issuer: say oidcIssuer: true as well",
            ),
        ),
        "userAssignedIdentityId": (
            wrong_if(
                lambda identity, _: identity and "/userAssignedIdentities/" not in identity,
                "{!r} is no identity's id: /subscriptions/.../userAssignedIdentities/NAME",
            ),
        ),
        "disableLocalAccounts": (
            wrong_if(
                lambda off, cluster: off and "entra" in cluster and cluster["entra"] is None,
                "leaves nobody who can sign in: set entra as well",
            ),
            wrong_if(
                lambda off, cluster: off and _has_no_administrators(cluster.get("entra")),
                "leaves nobody who can administer the cluster: set entra.adminGroupObjectIds, or "
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
    return f"Kubernetes {version} is not known to be on AKS today; {known} are."


def _is_free_name(name: str | None, cluster: Values) -> str | None:
    if not name or cluster.get("existing") or not clusters.is_reserved(name):
        return None
    return (
        f"AKS makes no new cluster called {name}: Azure keeps the name azure, names that begin "
        "with login or xbox, and those with microsoft or windows in them."
    )


def _is_for_new_services(text: str | None, _: Values) -> str | None:
    found = networks.network(text) if text else None
    if networks.is_public(found):
        return f"AKS makes no new cluster with services in {text}, which is not all private."
    if networks.overlap(found, networks.LINK_LOCAL):
        return f"AKS makes no new cluster with services in {text}: Azure keeps addresses of it."
    return None


def _is_for_new_pods(text: str | None, _: Values) -> str | None:
    if networks.is_reserved(networks.network(text) if text else None):
        return f"AKS makes no new cluster with pods in {text}: it keeps addresses of it."
    return None


# What is worth a word in a cluster that AKS may take: those that are there keep what new ones may
# not have.
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
                "{!r} is no object id: `az ad group show --group NAME --query id` tells a group's",
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
                "mode: subnet puts pods into a subnet of yours: say its id",
            ),
            wrong_if(
                lambda subnet, _: subnet and "/subnets/" not in subnet,
                "{!r} is no subnet's id: /subscriptions/.../subnets/NAME",
            ),
        ),
        "podCidr": (
            _is_a_range,
            wrong_if(
                lambda cidr, network: cidr and network.get("mode") == "subnet",
                "is for mode: overlay; pods in a subnet have the subnet's addresses",
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
                f"the namespace {plugin['namespace']} exists in every cluster: set createNamespace "
                "to false"
                if creates and plugin.get("namespace") in kubernetes.OWN_NAMESPACES
                else None
            ),
        ),
    }
)

PLUGIN_POOL: Rules = MappingProxyType({"gpuStack": (GPU_STACK,), "nodeTaints[]": (LEGAL_TAINT,)})


def edition_without_mig(edition: str, image: object, partitioned: Sequence[str]) -> str | None:
    """Why the edition's plugin is wrong for pools whose GPUs are partitioned; None if it is not."""
    if edition != "article" or image or not partitioned:
        return None
    return (
        "the plugin of edition: article does not know MIG, which these pools use: "
        f"{', '.join(partitioned)}; use edition: today"
    )


SAMPLE_JOB: Rules = MappingProxyType(
    {
        "image": (
            wrong_if(lambda it, _: not it, "string should have at least 1 character, not {!r}"),
        )
    }
)

# The keys of a stack file that belong to none of its parts.
STACK: Rules = MappingProxyType({"location": (_looks_like(_REGION),), "gpuStack": (GPU_STACK,)})
