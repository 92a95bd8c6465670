"""What AKS refuses in a managed cluster, each with its source."""

from collections.abc import Callable
from datetime import date
from typing import Any

from catalogue import clusters, kubernetes, networks, regions, tags
from catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.refusals import (
    CODES,
    MOST_POOLS,
    NAMING_RULES,
    NOT_AN_ID,
    SPEC,
    SPEC_AND_WORDS,
    TOO_MANY_POOLS,
    UNRECORDED,
    Case,
    Check,
    Rule,
    Words,
    enumeration,
    invalid,
    missing,
    not_an_id,
    not_like,
    outside,
    required,
    when,
)
from rehearsal.arm.resources.tags import BAD_NAMES, TOO_LONG, TOO_MANY

NETWORK = "properties.networkProfile"
# Enumerations with an error code of their own in AKS's list of codes.
_CODES_OF = {
    f"{NETWORK}.networkPlugin": "UnknownNetworkPlugin",
    f"{NETWORK}.outboundType": "UnsupportedOutboundType",
    f"{NETWORK}.loadBalancerSku": "InvalidLoadBalancerSku",
}
_ROUTING_WITH_ISTIO = "webAppRouting.gatewayAPIImplementations.appRoutingIstio.mode"
_TAGS_PAGE = "page: Use tags to organize your Azure resources"


# The rules on the number of outbound addresses from AKS: the property, and the most it can be.
_ADDRESSES = {
    "cluster-load-balancer-addresses": ("loadBalancerProfile.managedOutboundIPs.count", 100),
    "cluster-nat-addresses": ("natGatewayProfile.managedOutboundIPProfile.count", 16),
}


def _network(case: Case, name: str) -> Any:
    return case.at(f"{NETWORK}.{name}")


def _range(case: Case, name: str) -> networks.Network | None:
    return networks.network(_network(case, name))


def _has(case: Case, name: str, value: str) -> bool:
    """Returns whether the network has this value, in any case."""
    return str(_network(case, name) or "").lower() == value


def _requested(case: Case, path: str) -> Any:
    return at(case.sent, path)


def _node_group(case: Case) -> str:
    own = case.at("properties.nodeResourceGroup")
    return str(own or clusters.node_group(case.group, case.name, case.location))


def _long_node_group(case: Case) -> Words | None:
    length = len(_node_group(case))
    return {"length": length} if length > clusters.LONGEST_NODE_GROUP else None


def _node_group_there(case: Case) -> Words | None:
    group = _node_group(case)
    words = {"group": group, "subscription": case.subscription}
    return words if group.lower() in case.others else None


def _reserved_name(case: Case) -> Words | None:
    if not clusters.is_reserved(case.name):
        return None
    lower = case.name.lower()
    if lower in clusters.RESERVED_NAMES:
        reason = "it is reserved."
    elif lower.startswith(clusters.RESERVED_BEGINNINGS):
        reason = (
            "'LOGIN' and 'XBOX' can't be used at the start of a resource name, but can be used "
            "later in the name."
        )
    else:
        reason = (
            "'MICROSOFT' and 'WINDOWS' can't be used as either a whole word or a substring in the "
            "name."
        )
    return {"name": case.name, "reason": reason}


def _tags(wrong: Callable[[tags.Tags], list[str]]) -> Check:
    def refuses(case: Case) -> Words | None:
        names = wrong(case.sent.get("tags") or {})
        return {"names": ", ".join(names)} if names else None

    return refuses


def _not_a_range(name: str) -> Rule:
    return Rule(
        name=f"cluster-{name}-range",
        summary=f"`{name}` is a valid CIDR.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=lambda case: (
            {"value": _network(case, name)}
            if _network(case, name) and _range(case, name) is None
            else None
        ),
        error=errors.of_aks(
            "400 CidrStringParseError: The CIDR block '{value}' is invalid: it cannot be parsed."
        ),
        target=f"networkProfile.{name}",
    )


def _reserved(name: str, is_refused: Callable[[networks.Network | None], bool]) -> Check:
    def refuses(case: Case) -> Words | None:
        network = _range(case, name)
        if not case.changes(f"{NETWORK}.{name}") or not is_refused(network):
            return None
        return {"value": network}

    return refuses


def _has_pods_apart(case: Case) -> bool:
    """Returns whether pods get addresses outside the subnet."""
    return _has(case, "networkPlugin", "kubenet") or _has(case, "networkPluginMode", "overlay")


def _addresses(name: str, number: str, most: int) -> Rule:
    parameter = f"networkProfile.{number}"
    return Rule(
        name=name,
        summary=f"`{number}` is 1 to {most}.",
        source=f"{SPEC}; {UNRECORDED}",
        # No source says what AKS does with 0, so it is taken.
        refuses=outside(f"{NETWORK}.{number}", 1, most, unless=0),
        error=invalid(parameter, "it was {value}. It must be between {lowest} and {highest}."),
        target=parameter,
    )


def _overlap(case: Case) -> Words | None:
    pods, services = _range(case, "podCidr"), _range(case, "serviceCidr")
    if not _has_pods_apart(case) or not networks.overlap(pods, services):
        return None
    return {"pods": pods, "services": services}


def _same_names(case: Case) -> Words | None:
    names = [profile.get("name") for profile in case.at("properties.agentPoolProfiles") or ()]
    return next(({"name": name} for name in names if name and names.count(name) > 1), None)


def _no_subnet_id(case: Case) -> Words | None:
    pools = enumerate(case.at("properties.agentPoolProfiles") or ())
    wrong = (
        not_an_id(pool.get("vnetSubnetID"), f"properties.agentPoolProfiles[{index}].vnetSubnetID")
        for index, pool in pools
    )
    return next(filter(None, wrong), None)


def _no_identity_id(case: Case) -> Words | None:
    identities = case.at("identity.userAssignedIdentities") or {}
    return next(filter(None, (not_an_id(name, "") for name in identities)), None)


def _too_many_pools(case: Case) -> Words | None:
    most = case.at("properties.maxAgentPools") or MOST_POOLS
    return (
        {"most": most}
        if len(_requested(case, "properties.agentPoolProfiles") or ()) > most
        else None
    )


def _too_few_pods(case: Case) -> Words | None:
    most = networks.nodes_in_overlay(_range(case, "podCidr"))
    profiles = _requested(case, "properties.agentPoolProfiles") or ()
    counts = (profile.get("count") for profile in profiles if isinstance(profile, dict))
    nodes = sum(count if isinstance(count, int) else 1 for count in counts)
    if most is None or not _has(case, "networkPluginMode", "overlay") or nodes <= most:
        return None
    return {"value": _range(case, "podCidr"), "nodes": nodes, "most": most}


def _dns(is_refused: Callable[[networks.Address, Any], bool]) -> Check:
    def refuses(case: Case) -> Words | None:
        services = _range(case, "serviceCidr")
        address = networks.address(_network(case, "dnsServiceIP"))
        if services is None or address is None or address.version != services.version:
            return None
        return {"address": address, "range": services} if is_refused(address, services) else None

    return refuses


def _has_no_subnet(case: Case) -> bool:
    profiles = _requested(case, "properties.agentPoolProfiles") or ()
    return not any(profile.get("vnetSubnetID") for profile in profiles if isinstance(profile, dict))


def _unknown_location(case: Case) -> Words | None:
    if case.location in regions.regions():
        return None
    return {"location": case.location, "locations": ",".join(regions.regions())}


def _bad_administrators(case: Case) -> Words | None:
    groups = case.at("properties.aadProfile.adminGroupObjectIDs") or ()
    wrong = [str(group) for group in groups if not clusters.OBJECT_ID.fullmatch(str(group))]
    return {"group": wrong[0]} if wrong else None


def _has_no_gateway(case: Case) -> bool:
    values = {
        "properties.ingressProfile.gatewayAPI.installation": "standard",
        "properties.serviceMeshProfile.mode": "istio",
        f"properties.ingressProfile.{_ROUTING_WITH_ISTIO}": "enabled",
    }
    is_requested, *implemented = (
        str(case.at(path)).lower() == expected for path, expected in values.items()
    )
    return is_requested and not any(implemented)


def _turns_off_the_issuer(case: Case) -> bool:
    was_on = at(case.before or {}, "properties.oidcIssuerProfile.enabled")
    return bool(was_on and not case.at("properties.oidcIssuerProfile.enabled"))


def _locks_everybody_out(case: Case) -> bool:
    version = str(case.at("properties.kubernetesVersion") or "")
    minor = kubernetes.minor_version(version)
    is_judged = minor is None or minor >= (1, 25)
    return bool(
        is_judged
        and case.at("properties.disableLocalAccounts")
        and not case.at("properties.aadProfile")
    )


# Rules that judge the request as it was sent.
ON_REQUEST: tuple[Rule, ...] = (
    Rule(
        name="cluster-location",
        summary="A cluster's location must be a region that has AKS.",
        source="the words from public logs of 2019; Resource Manager refuses it, before AKS",
        refuses=_unknown_location,
        error=errors.of_arm(
            "400 LocationNotAvailableForResourceType: The provided location '{location}' is not "
            "available for resource type 'Microsoft.ContainerService/managedClusters'. List of "
            "available regions for the resource type is '{locations}'."
        ),
        only_new=True,
    ),
    Rule(
        name="cluster-tags-most",
        summary=(
            f"A resource or resource group has at most {tags.MOST} tags; a PATCH is judged too."
        ),
        source=f"{_TAGS_PAGE}; code and words are not on record",
        refuses=when(lambda case: len(case.sent.get("tags") or {}) > tags.MOST),
        error=TOO_MANY,
    ),
    Rule(
        name="cluster-tags-characters",
        summary="A tag name contains none of `<>%&\\?/` and no control characters.",
        source=f"{_TAGS_PAGE}; code and words from public logs",
        refuses=_tags(tags.with_bad_names),
        error=BAD_NAMES,
    ),
    Rule(
        name="cluster-tags-length",
        summary=(
            f"A tag name has at most {tags.LONGEST_NAME} characters, a tag value "
            f"{tags.LONGEST_VALUE}."
        ),
        source=f"{_TAGS_PAGE}; code and words are not on record",
        refuses=_tags(tags.too_long),
        error=TOO_LONG,
    ),
    Rule(
        name="cluster-name",
        summary=f"A cluster name is {clusters.NAME_RULE}.",
        source=f"page: AKS common issues FAQ; {UNRECORDED}",
        refuses=not_like(clusters.NAME),
        error=invalid("resourceName", f"it must be {clusters.NAME_RULE}."),
        target="resourceName",
        only_new=True,
    ),
    Rule(
        name="cluster-name-reserved",
        summary="A cluster name is not `azure`, does not begin with `login` or `xbox`, and does "
        "not "
        "contain `microsoft` or `windows`: Azure reserves these words.",
        source="page: Troubleshoot InvalidParameter error (2024-11)",
        refuses=_reserved_name,
        error=errors.of_aks(
            "400 InvalidParameter: The value of parameter name is invalid. Error details: "
            f'"{{name}}" managed cluster name is invalid because {{reason}}. Please see '
            f"{NAMING_RULES}"
        ),
        target="name",
        only_new=True,
    ),
    Rule(
        name="cluster-dns-prefix",
        summary=f"`dnsPrefix` is {clusters.DNS_PREFIX_RULE}.",
        source=f"page: AKS common issues FAQ; {UNRECORDED}",
        refuses=not_like(clusters.DNS_PREFIX, "properties.dnsPrefix"),
        error=invalid("dnsPrefix", f"it must be {clusters.DNS_PREFIX_RULE}."),
        target="dnsPrefix",
    ),
    Rule(
        name="cluster-identity-type",
        summary="`identity` requires `type`.",
        source="test_account_renew_credentials_fails (3, 2025-02), of another provider",
        refuses=when(lambda case: case.at("identity") and not case.at("identity.type")),
        error=errors.of_arm(
            "400 InvalidRequestContent: The request content was invalid and could not be "
            "deserialized: 'Required property 'type' not found in JSON. Path 'identity'.'."
        ),
    ),
    Rule(
        name="cluster-pools-said",
        summary="A new cluster requires pools, unless AKS hosts its system components (preview).",
        source=f"test_aks_automatic_sku_with_hosted_system_enabled (1, 2025-10); {UNRECORDED}",
        refuses=when(
            lambda case: (
                not case.at("properties.agentPoolProfiles")
                and not case.at("properties.hostedSystemProfile.enabled")
            )
        ),
        error=required("agentPoolProfiles"),
        target="agentPoolProfiles",
        only_new=True,
    ),
    Rule(
        name="cluster-subnet-id",
        summary="`vnetSubnetID` of an inline pool is a resource id.",
        source="issue: hashicorp/terraform-provider-azurerm#1166 (2018)",
        refuses=_no_subnet_id,
        error=NOT_AN_ID,
    ),
    Rule(
        name="cluster-identity-id",
        summary="The names of `identity.userAssignedIdentities` are resource ids.",
        source="issue: Azure/azure-cli#25401 (2023), MicrosoftDocs/azure-docs#112377, of web apps",
        refuses=_no_identity_id,
        error=NOT_AN_ID,
    ),
    Rule(
        name="cluster-pools-of-one-name",
        summary="Each pool in a cluster's body has a name of its own.",
        source=f"a pool's name is part of its id; {UNRECORDED}",
        refuses=_same_names,
        error=invalid("agentPoolProfile.name", "several pools have the name {name}."),
        target="agentPoolProfile.name",
    ),
    Rule(
        name="cluster-dns-prefix-said",
        summary="A new cluster requires `dnsPrefix` or `fqdnSubdomain`.",
        source=f"{SPEC}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                not case.at("properties.dnsPrefix") and not case.at("properties.fqdnSubdomain")
            )
        ),
        error=required("dnsPrefix"),
        target="dnsPrefix",
        only_new=True,
    ),
    Rule(
        name="cluster-identity-said",
        summary="A new cluster requires an identity or a service principal.",
        source=f"{SPEC}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                not case.at("identity")
                and missing("properties.servicePrincipalProfile")(case) is not None
            )
        ),
        error=required("servicePrincipalProfile"),
        target="servicePrincipalProfile",
        only_new=True,
    ),
    *(
        enumeration(
            path,
            choices.split(),
            source=SPEC_AND_WORDS,
            code=_CODES_OF.get(path, ""),
            name="cluster-identity-type-known" if path == "identity.type" else "",
        )
        for path, choices in fields.CLUSTER_CHOICES.items()
    ),
    Rule(
        name="cluster-load-balancer-basic",
        summary="Since March 2025 a new cluster cannot have a basic load balancer.",
        source=f"page: AKS release notes of 2025-04; {UNRECORDED}",
        refuses=when(lambda case: _has(case, "loadBalancerSku", "basic")),
        error=invalid(
            "networkProfile.loadBalancerSku",
            "Basic load balancer is no longer supported for new clusters.",
        ),
        target="networkProfile.loadBalancerSku",
        only_new=True,
        since=date(2025, 3, 31),
    ),
)

# Rules that judge the resulting cluster, with what AKS keeps and fills in.
ON_RESULT: tuple[Rule, ...] = (
    Rule(
        name="cluster-node-group-length",
        summary=(
            "The name of the node resource group has at most "
            f"{clusters.LONGEST_NODE_GROUP} characters, also if AKS composes it of the resource "
            "group, cluster name and location."
        ),
        source="public logs of 2025 and 2026; page: AKS common issues FAQ",
        refuses=_long_node_group,
        error=errors.of_aks(
            "400 InvalidParameter: The length of the node resource group name is too long. The "
            f"maximum length is {clusters.LONGEST_NODE_GROUP} and the length of the value provided "
            f"is {{length}}. Please see {NAMING_RULES}"
        ),
        target="nodeResourceGroup",
        only_new=True,
    ),
    Rule(
        name="cluster-node-group-own",
        summary="The node resource group is not the resource group of the cluster.",
        source="issue: Azure/azure-cli#27215 (2023-08)",
        refuses=lambda case: (
            {"group": case.group} if _node_group(case).lower() == case.group.lower() else None
        ),
        error=errors.of_aks(
            "400 NodeResourceGroupSameAsResourceGroup: Node resource group '{group}' is the same "
            "as ResourceGroup '{group}', which is not allowed, please provide a different node "
            "resource group."
        ),
        target="nodeResourceGroup",
        only_new=True,
    ),
    Rule(
        name="cluster-node-group-there",
        summary=(
            "AKS creates the node resource group: it must not exist, and none of another cluster's "
            "nodes either."
        ),
        source="issue: hashicorp/terraform-provider-azurerm#7562 (2020-07), nebari-dev/nebari#483",
        refuses=_node_group_there,
        error=errors.of_aks(
            "400 NodeResourceGroupAlreadyExists: Node resource group '{group}' under subscription "
            "'{subscription}' already exists, please provide a new one."
        ),
        target="nodeResourceGroup",
        only_new=True,
    ),
    Rule(
        name="cluster-pools-most",
        summary=f"A cluster has at most {MOST_POOLS} pools.",
        source=f"page: Quotas in AKS; {CODES}; {UNRECORDED}",
        refuses=_too_many_pools,
        error=TOO_MANY_POOLS,
        target="agentPoolProfiles",
        only_new=True,
    ),
    Rule(
        name="cluster-entra-without-rbac",
        summary="Microsoft Entra (`aadProfile`) requires Kubernetes RBAC (`enableRBAC`).",
        source=f"{CODES}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                case.at("properties.aadProfile") and case.at("properties.enableRBAC") is False
            )
        ),
        error=errors.of_aks(
            "400 RBACNotEnabledForAAD: RBAC must be enabled for clusters with an aadProfile."
        ),
        target="enableRBAC",
    ),
    *map(_not_a_range, ("podCidr", "serviceCidr")),
    Rule(
        name="cluster-policy-azure",
        summary="The network policy `azure` is not supported with `kubenet`.",
        source=f"{CODES}; page: Use network policies in AKS; {UNRECORDED}",
        refuses=when(
            lambda case: (
                _has(case, "networkPolicy", "azure") and _has(case, "networkPlugin", "kubenet")
            )
        ),
        error=errors.of_aks(
            "400 NetworkPolicyAzureNotSupportedForKubenet: Network policy azure is not supported "
            "for kubenet plugin."
        ),
        target="networkProfile.networkPolicy",
    ),
    Rule(
        name="cluster-policy-without-plugin",
        summary="A cluster without a network plugin cannot have a network policy.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                _has(case, "networkPlugin", "none")
                and _network(case, "networkPolicy") not in (None, "", "none")
            )
        ),
        error=errors.of_aks(
            "400 NetworkPolicyNotSupportedForNone: No network policy is allowed for network plugin "
            "none."
        ),
        target="networkProfile.networkPolicy",
    ),
    Rule(
        name="cluster-policy-cilium",
        summary="The network policy `cilium` requires the data plane `cilium`.",
        source="issue: AdminTurnedDevOps/DevOps-The-Hard-Way-Azure#1 (2025-01)",
        refuses=when(
            lambda case: (
                _has(case, "networkPolicy", "cilium")
                and not _has(case, "networkDataplane", "cilium")
            )
        ),
        error=errors.of_aks(
            "400 NetworkPolicyNotSupported: Network Policy cilium requires NetworkDataplane cilium",
            "NetworkPolicyCiliumRequiresCiliumDataplane",
        ),
        target="networkProfile.networkPolicy",
    ),
    Rule(
        name="cluster-dataplane-cilium",
        summary="The data plane `cilium` supports no other network policy than `cilium`.",
        source=(
            "issue: Azure/AKS-Construction#535 (2023-03), Azure/bicep-registry-modules#3361 "
            "(2024-09), Azure/azure-cli-extensions#7011"
        ),
        refuses=when(
            lambda case: (
                _has(case, "networkDataplane", "cilium")
                and _requested(case, f"{NETWORK}.networkPolicy") not in (None, "", "cilium")
            )
        ),
        error=errors.of_aks(
            "400 BadRequest: Cilium dataplane requires network policy cilium.",
            "CiliumDataplaneRequiresNetworkPolicyCilium",
        ),
        target="networkProfile.networkPolicy",
    ),
    Rule(
        name="cluster-services-size",
        summary=f"`serviceCidr` is not larger than /{networks.SHORTEST_SERVICE_PREFIX}.",
        source="page: IP address planning in AKS; code and words are not on record",
        refuses=_reserved("serviceCidr", networks.is_too_large_for_services),
        error=invalid(
            "networkProfile.serviceCidr",
            f"{{value}} must be smaller than /{networks.SHORTEST_SERVICE_PREFIX}.",
        ),
        target="networkProfile.serviceCidr",
    ),
    Rule(
        name="cluster-services-public",
        summary="`serviceCidr` has no public and no multicast addresses.",
        source="page: AKS release notes of 2023-09; code and words are not on record",
        refuses=_reserved("serviceCidr", networks.is_public),
        error=invalid(
            "networkProfile.serviceCidr", "{value} is in a public or multicast IP address range."
        ),
        target="networkProfile.serviceCidr",
    ),
    Rule(
        name="cluster-services-link-local",
        summary="`serviceCidr` does not overlap the link-local range.",
        source="page: AKS release notes of 2025-03; code and words are not on record",
        refuses=_reserved(
            "serviceCidr", lambda network: networks.overlap(network, networks.LINK_LOCAL)
        ),
        error=invalid("networkProfile.serviceCidr", "{value} overlaps a reserved range."),
        target="networkProfile.serviceCidr",
    ),
    Rule(
        name="cluster-pods-reserved",
        summary=(
            "`podCidr` of a new cluster does not overlap ranges that AKS reserves; existing "
            "clusters keep theirs."
        ),
        source=(
            "page: AKS release notes of 2026-06, CNI prerequisites; code and words are not on "
            "record"
        ),
        refuses=lambda case: (
            _reserved("podCidr", networks.is_reserved)(case) if _has_pods_apart(case) else None
        ),
        error=invalid("networkProfile.podCidr", "{value} overlaps a reserved range."),
        target="networkProfile.podCidr",
    ),
    Rule(
        name="cluster-pods-and-services",
        summary="`podCidr` and `serviceCidr` do not overlap.",
        source=f"{CODES}; page: Azure CNI Overlay; {UNRECORDED}",
        refuses=_overlap,
        error=errors.of_aks(
            "400 PodCidrOverlapServiceCidr: The pod CIDR {pods} overlaps with the service CIDR "
            "{services}."
        ),
        target="networkProfile.podCidr",
    ),
    Rule(
        name="cluster-pods-too-few",
        summary=(
            "In an overlay each node gets a /24 of `podCidr`, which must be large enough for all "
            "nodes."
        ),
        source=f"{CODES}; page: Azure CNI Overlay; {UNRECORDED}",
        refuses=_too_few_pods,
        error=errors.of_aks(
            "400 InsufficientPodCidr: The pod CIDR {value} is for {most} nodes, and the cluster "
            "has {nodes}."
        ),
        target="networkProfile.podCidr",
        only_new=True,
    ),
    Rule(
        name="cluster-dns-in-services",
        summary="`dnsServiceIP` is within `serviceCidr`.",
        source="page: Troubleshoot the DnsServiceIpOutOfServiceCidr error (2024-10)",
        refuses=_dns(lambda address, services: address not in services),
        error=errors.of_aks(
            "400 DnsServiceIpOutOfServiceCidr: The DNS service IP {address} is out of the range "
            "defined by service CIDR {range}."
        ),
        target="networkProfile.dnsServiceIP",
    ),
    Rule(
        name="cluster-dns-first",
        summary=(
            "`dnsServiceIP` is not the first address of `serviceCidr`, which is the API server's."
        ),
        source=f"{CODES}; page: IP address planning in AKS; {UNRECORDED}",
        refuses=_dns(lambda address, services: address == services.network_address + 1),
        error=errors.of_aks(
            "400 DnsServiceIpConflicting: The DNS service IP {address} is the address of the API "
            "server in service CIDR {range}."
        ),
        target="networkProfile.dnsServiceIP",
    ),
    Rule(
        name="cluster-dns-last",
        summary="`dnsServiceIP` is not the broadcast address of `serviceCidr`.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=_dns(lambda address, services: address == services.broadcast_address),
        error=errors.of_aks(
            "400 DnsBroadcastAddressConflicting: The DNS service IP {address} is the broadcast "
            "address of service CIDR {range}."
        ),
        target="networkProfile.dnsServiceIP",
    ),
    Rule(
        name="cluster-routes-and-balancer",
        summary=(
            "`loadBalancerProfile` is not supported with the outbound type `userDefinedRouting`."
        ),
        source=f"{CODES}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                _has(case, "outboundType", "userdefinedrouting")
                and _requested(case, f"{NETWORK}.loadBalancerProfile")
            )
        ),
        error=errors.of_aks(
            "400 InvalidUserDefinedRoutingWithLoadBalancerProfile: A load balancer profile cannot "
            "be used with outbound type userDefinedRouting."
        ),
        target="networkProfile.loadBalancerProfile",
        only_new=True,
    ),
    Rule(
        name="cluster-routes-without-subnet",
        summary="The outbound type `userDefinedRouting` requires a custom subnet.",
        source="page: Customize cluster egress with outbound types; code and words not on record",
        refuses=when(
            lambda case: _has(case, "outboundType", "userdefinedrouting") and _has_no_subnet(case)
        ),
        error=invalid(
            "networkProfile.outboundType", "userDefinedRouting requires a custom subnet."
        ),
        target="networkProfile.outboundType",
        only_new=True,
    ),
    Rule(
        name="cluster-nat-without-subnet",
        summary="The outbound type `userAssignedNATGateway` requires a custom subnet.",
        source=f"{CODES}; page: Create a managed or user-assigned NAT gateway; {UNRECORDED}",
        refuses=when(
            lambda case: (
                _has(case, "outboundType", "userassignednatgateway") and _has_no_subnet(case)
            )
        ),
        error=errors.of_aks(
            "400 UserAssignedNATGatewayWithManagedVNetNotAllowed: Outbound type "
            "userAssignedNATGateway requires a custom subnet."
        ),
        target="networkProfile.outboundType",
        only_new=True,
    ),
    Rule(
        name="cluster-nat-with-subnet",
        summary="The outbound type `managedNATGateway` does not support a custom subnet.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=when(
            lambda case: (
                _has(case, "outboundType", "managednatgateway") and not _has_no_subnet(case)
            )
        ),
        error=errors.of_aks(
            "400 ManagedNATGatewayWithCustomVNetNotAllowed: Outbound type managedNATGateway is not "
            "allowed with a custom subnet."
        ),
        target="networkProfile.outboundType",
        only_new=True,
    ),
    Rule(
        name="cluster-long-term-tier",
        summary="Long-term support requires the tier Premium. (Premium without it is accepted.)",
        source=(
            "page: Long-term support in AKS; issue: Azure/AKS#4707 for the contrary; code and "
            "words are not on record"
        ),
        refuses=when(
            lambda case: (
                case.at("properties.supportPlan") == kubernetes.LONG_TERM
                and str(case.at("sku.tier")).lower() != "premium"
            )
        ),
        error=errors.of_aks(
            "400 BadRequest: AKS Long Term Support is only available for Premium tier clusters."
        ),
        target="supportPlan",
    ),
    Rule(
        name="cluster-local-accounts",
        summary="Since Kubernetes 1.25 local accounts can be disabled only with Microsoft Entra.",
        source="issue: cilium/cilium#48265 (2026-09)",
        refuses=when(_locks_everybody_out),
        error=errors.of_aks(
            "400 BadRequest: Since kubernetes version 1.25, disableLocalAccounts can only be set "
            "on Azure AD integration enabled cluster. Please integrate your cluster with AAD."
        ),
    ),
    Rule(
        name="cluster-administrators",
        summary="`adminGroupObjectIDs` are object ids.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=_bad_administrators,
        error=errors.of_aks(
            "400 InvalidAdminGroupObjectID: The admin group object id '{group}' is invalid."
        ),
        target="aadProfile.adminGroupObjectIDs",
    ),
    *(_addresses(name, *bounds) for name, bounds in _ADDRESSES.items()),
    Rule(
        name="cluster-issuer-off",
        summary="The OIDC issuer cannot be disabled once it is enabled.",
        source="page: Create an OIDC issuer for AKS; code and words from public logs of 2026",
        refuses=when(_turns_off_the_issuer),
        error=errors.of_aks(
            "400 OIDCIssuerFeatureCannotBeDisabled: OIDC issuer feature cannot be disabled."
        ),
    ),
    Rule(
        name="cluster-private-ranges",
        summary="A private cluster cannot have authorized IP ranges.",
        source="page: API server authorized IP ranges; code and words are not on record",
        refuses=when(
            lambda case: (
                case.at("properties.apiServerAccessProfile.enablePrivateCluster")
                and case.at("properties.apiServerAccessProfile.authorizedIPRanges")
            )
        ),
        error=invalid(
            "apiServerAccessProfile.authorizedIPRanges",
            "authorized IP ranges are not supported for private clusters.",
        ),
        target="apiServerAccessProfile.authorizedIPRanges",
    ),
    Rule(
        name="cluster-private-names",
        summary="A private cluster has a public FQDN or a private DNS zone.",
        source=f"{CODES}; page: Create a private AKS cluster; {UNRECORDED}",
        refuses=when(
            lambda case: (
                at(access := case.at("properties.apiServerAccessProfile"), "enablePrivateCluster")
                and str(at(access, "privateDNSZone") or "").lower() == "none"
                and at(access, "enablePrivateClusterPublicFQDN") is False
            )
        ),
        error=errors.of_aks(
            "400 NonePrivateDNSZonePublicFQDNDisabledError: The private DNS zone cannot be none "
            "where the public FQDN is disabled."
        ),
        target="apiServerAccessProfile.privateDNSZone",
    ),
    Rule(
        name="cluster-gateway-api",
        summary=(
            "The managed Gateway API requires an implementation: the service mesh or application "
            "routing."
        ),
        source=(
            "test_aks_managed_gateway_requires_service_mesh (2, 2025-10); the rest of the message "
            "is not on record"
        ),
        refuses=when(_has_no_gateway),
        error=errors.of_aks(
            "400 BadRequest: The managed Gateway API requires at least one implementation."
        ),
    ),
)
