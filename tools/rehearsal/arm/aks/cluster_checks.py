"""What no condition of refusals.toml can say of a managed cluster."""

from collections.abc import Callable
from typing import Any

from aks_catalogue import clusters, kubernetes, networks, regions
from aks_catalogue.shapes import at
from rehearsal.arm.aks.refusals import MOST_POOLS, Case, Words, not_an_id

NETWORK = "properties.networkProfile"
_POOLS = "properties.agentPoolProfiles"


def unknown_location(case: Case) -> Words | None:
    if case.location in regions.regions():
        return None
    return {"location": case.location, "locations": ",".join(regions.regions())}


def bad_name(case: Case) -> Words | None:
    return None if clusters.NAME.fullmatch(case.name) else {"value": case.name}


def reserved_name(case: Case) -> Words | None:
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


def bad_dns_prefix(case: Case) -> bool:
    prefix = case.at("properties.dnsPrefix")
    return isinstance(prefix, str) and prefix != "" and not clusters.DNS_PREFIX.fullmatch(prefix)


def no_subnet_id(case: Case) -> Words | None:
    pools = enumerate(case.at(_POOLS) or ())
    wrong = (
        not_an_id(pool.get("vnetSubnetID"), f"{_POOLS}[{index}].vnetSubnetID")
        for index, pool in pools
    )
    return next(filter(None, wrong), None)


def no_identity_id(case: Case) -> Words | None:
    identities = case.at("identity.userAssignedIdentities") or {}
    return next(filter(None, (not_an_id(name, "") for name in identities)), None)


def same_names(case: Case) -> Words | None:
    names = [profile.get("name") for profile in case.at(_POOLS) or ()]
    return next(({"name": name} for name in names if name and names.count(name) > 1), None)


def long_node_group(case: Case) -> Words | None:
    length = len(_node_group(case))
    return {"length": length} if length > clusters.LONGEST_NODE_GROUP else None


def own_group(case: Case) -> Words | None:
    return {"group": case.group} if _node_group(case).lower() == case.group.lower() else None


def node_group_there(case: Case) -> Words | None:
    group = _node_group(case)
    words = {"group": group, "subscription": case.subscription}
    return words if group.lower() in case.others else None


def too_many_pools(case: Case) -> Words | None:
    most = case.at("properties.maxAgentPools") or MOST_POOLS
    return {"most": most} if len(at(case.sent, _POOLS) or ()) > most else None


def no_range(case: Case, at: str) -> Words | None:
    value = case.at(at)
    return {"value": value} if value and networks.network(value) is None else None


def large_services(case: Case) -> Words | None:
    return _reserved(case, "serviceCidr", networks.is_too_large_for_services)


def link_local_services(case: Case) -> Words | None:
    return _reserved(
        case, "serviceCidr", lambda network: networks.overlap(network, networks.LINK_LOCAL)
    )


def reserved_pods(case: Case) -> Words | None:
    return _reserved(case, "podCidr", networks.is_reserved) if _has_pods_apart(case) else None


def overlap(case: Case) -> Words | None:
    pods, services = _range(case, "podCidr"), _range(case, "serviceCidr")
    if not _has_pods_apart(case) or not networks.overlap(pods, services):
        return None
    return {"pods": pods, "services": services}


def too_few_pods(case: Case) -> Words | None:
    most = networks.nodes_in_overlay(_range(case, "podCidr"))
    counts = (profile.get("count") for profile in _sent_pools(case))
    nodes = sum(count if isinstance(count, int) else 1 for count in counts)
    if most is None or nodes <= most:
        return None
    return {"value": _range(case, "podCidr"), "nodes": nodes, "most": most}


def dns_outside(case: Case) -> Words | None:
    return _dns(case, lambda address, services: address not in services)


def dns_first(case: Case) -> Words | None:
    return _dns(case, lambda address, services: address == services.network_address + 1)


def dns_last(case: Case) -> Words | None:
    return _dns(case, lambda address, services: address == services.broadcast_address)


def no_address(case: Case, at: str) -> Words | None:
    value = case.at(at)
    return {"value": value} if value and networks.address(value) is None else None


def some_subnet(case: Case) -> Words | None:
    # AKS names no pool.
    return None if no_subnet(case) else {"pool": ""}


def no_subnet(case: Case) -> bool:
    return not any(profile.get("vnetSubnetID") for profile in _sent_pools(case))


def bad_administrators(case: Case) -> Words | None:
    groups = case.at("properties.aadProfile.adminGroupObjectIDs") or ()
    wrong = [str(group) for group in groups if not clusters.OBJECT_ID.fullmatch(str(group))]
    return {"group": wrong[0]} if wrong else None


def locks_everybody_out(case: Case) -> bool:
    version = str(case.at("properties.kubernetesVersion") or "")
    minor = kubernetes.minor_version(version)
    is_judged = minor is None or minor >= (1, 25)
    return bool(
        is_judged
        and case.at("properties.disableLocalAccounts")
        and not case.at("properties.aadProfile")
    )


def _sent_pools(case: Case) -> list[dict[str, Any]]:
    return [profile for profile in at(case.sent, _POOLS) or () if isinstance(profile, dict)]


def _node_group(case: Case) -> str:
    own = case.at("properties.nodeResourceGroup")
    return str(own or clusters.node_group(case.group, case.name, case.location))


def _range(case: Case, name: str) -> networks.Network | None:
    return networks.network(case.at(f"{NETWORK}.{name}"))


def _reserved(
    case: Case, name: str, is_refused: Callable[[networks.Network | None], bool]
) -> Words | None:
    network = _range(case, name)
    is_changed = case.changes(f"{NETWORK}.{name}")
    return {"value": network} if is_changed and is_refused(network) else None


def _has_pods_apart(case: Case) -> bool:
    """Returns whether pods get addresses outside the subnet."""
    plugin, mode = (case.at(f"{NETWORK}.{name}") for name in ("networkPlugin", "networkPluginMode"))
    return bool(plugin == "kubenet" or mode == "overlay")


def _dns(case: Case, is_refused: Callable[[networks.Address, Any], bool]) -> Words | None:
    services = _range(case, "serviceCidr")
    address = networks.address(case.at(f"{NETWORK}.dnsServiceIP"))
    if services is None or address is None or address.version != services.version:
        return None
    return {"address": address, "range": services} if is_refused(address, services) else None
