"""What is valid for a cluster, its network, its resource group, and what runs on it."""

import ipaddress
from collections.abc import Sequence
from types import MappingProxyType

from catalogue import kubernetes
from catalogue.valid import Rule, Rules, Values, matches, no_longer_than, one_of
from catalogue.valid_pools import GPU_STACK


def _names_what_exists(kind: str) -> Rule:
    return lambda name, values: (
        f"is required: which existing {kind} is meant?"
        if not name and values.get("existing")
        else None
    )


def _is_a_range(text: str | None, _: Values) -> str | None:
    try:
        ipaddress.ip_network(text or "0.0.0.0/0")
    except ValueError as error:
        return f"{error}: write a range as 10.0.0.0/16"
    return None


def _can_schedule_gpus(version: str | None, _: Values) -> str | None:
    if not version:
        return None
    minor = kubernetes.minor_version(version)
    if minor is None:
        return f"{version!r} is no version: write one as 1.35 or 1.35.2"
    if minor < kubernetes.LOWEST:
        lowest = kubernetes.written(kubernetes.LOWEST)
        return f"{version} is too old for GPUs: take {lowest} or newer"
    return None


def _is_reached_one_way(ranges: Sequence[str], cluster: Values) -> str | None:
    if ranges and cluster.get("private"):
        return "a private cluster has no public address: leave one of both out"
    return None


def _has_an_issuer(workload_identity: bool, cluster: Values) -> str | None:
    if workload_identity and not cluster.get("oidcIssuer", True):
        return "needs the cluster's OIDC issuer: say oidcIssuer: true as well"
    return None


RESOURCE_GROUP: Rules = MappingProxyType(
    {
        # A stack file's key, and a component's property.
        "name": (no_longer_than(90), _names_what_exists("resource group")),
        "resourceGroupName": (no_longer_than(90),),
    }
)

CLUSTER: Rules = MappingProxyType(
    {
        # A stack file's key, and a component's property.
        "name": (no_longer_than(63), _names_what_exists("cluster")),
        "clusterName": (no_longer_than(63),),
        "kubernetesVersion": (_can_schedule_gpus,),
        "skuTier": (one_of("Free", "Standard", "Premium"),),
        "authorizedIpRanges": (_is_reached_one_way,),
        "authorizedIpRanges[]": (_is_a_range,),
        "workloadIdentity": (_has_an_issuer,),
        "upgradeChannel": (one_of("none", "patch", "stable", "rapid", "node-image"),),
        "nodeOsUpgradeChannel": (one_of("None", "Unmanaged", "SecurityPatch", "NodeImage"),),
    }
)


def _is_a_subnet(subnet: str | None, network: Values) -> str | None:
    if not subnet and network.get("mode") == "subnet":
        return "mode: subnet puts pods into a subnet of yours: say its id"
    if subnet and "/subnets/" not in subnet:
        return f"{subnet!r} is no subnet's id: /subscriptions/.../subnets/NAME"
    return None


def _has_pods_of_its_own(cidr: str | None, network: Values) -> str | None:
    if cidr and network.get("mode") == "subnet":
        return "is for mode: overlay; pods in a subnet have the subnet's addresses"
    return None


def _lies_among_the_services(address: str | None, network: Values) -> str | None:
    services = network.get("serviceCidr", "not known")
    if services == "not known" or _is_a_range(services, network):
        return None
    if address is None:
        return "goes with serviceCidr: say an address out of that range" if services else None
    if not services:
        return "goes with serviceCidr: say both, or neither"
    try:
        lies_there = ipaddress.ip_address(address) in ipaddress.ip_network(services)
    except ValueError as error:
        return str(error)
    return None if lies_there else f"{address} is not in serviceCidr, {services}"


NETWORK: Rules = MappingProxyType(
    {
        "mode": (one_of("overlay", "subnet"),),
        "subnetId": (_is_a_subnet,),
        "podCidr": (_is_a_range, _has_pods_of_its_own),
        "serviceCidr": (_is_a_range,),
        "dnsServiceIp": (_lies_among_the_services,),
    }
)


def _leaves_namespaces_of_kubernetes_alone(creates: bool, plugin: Values) -> str | None:
    namespace = plugin.get("namespace", "")
    if creates and namespace in kubernetes.OWN_NAMESPACES:
        return f"the namespace {namespace} exists in every cluster: set createNamespace to false"
    return None


DEVICE_PLUGIN: Rules = MappingProxyType(
    {
        "edition": (one_of("today", "article"),),
        "namespace": (matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"),),
        "createNamespace": (_leaves_namespaces_of_kubernetes_alone,),
    }
)


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
            lambda image, _: None if image else "string should have at least 1 character, not ''",
        )
    }
)

# The keys of a stack file that belong to none of its parts.
STACK: Rules = MappingProxyType({"location": (matches("[a-z0-9]+"),), "gpuStack": (GPU_STACK,)})
