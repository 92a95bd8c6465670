"""Managed clusters."""

import uuid
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial

from aks_catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import (
    admission,
    defaults,
    filling,
    pools,
    refusals,
    types,
    versions,
)
from rehearsal.arm.aks.places import (
    CLUSTER_TYPE,
    CLUSTERS,
    SHOWN_CLUSTER_TYPE,
    pools_of,
    refuse_while_busy,
    require_power,
)
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resource_type import Change, ResourceType
from rehearsal.arm.resources import groups, stored, tags
from rehearsal.arm.state import Resource

# The kinds of egress with addresses from AKS, and the properties with their number.
WAYS_OUT = {
    "properties.networkProfile.loadBalancerProfile": "managedOutboundIPs.count",
    "properties.networkProfile.natGatewayProfile": "managedOutboundIPProfile.count",
}
# Properties that responses lack until a new cluster is complete.
KNOWN_LATER = (
    "eTag",
    "properties.identityProfile",
    *(f"{way}.effectiveOutboundIPs" for way in WAYS_OUT),
)


def _put(request: Request, group: Resource, present: Resource | None) -> Change:
    body = types.read("ManagedCluster", request.body, request.api_version)
    location = groups.required_location(body)
    groups.refuse_move(present, location, errors.RESOURCE_MOVED)
    defaults.spell("cluster", body)
    cluster = _after_put(request, group, body, location, present)
    refuse_while_busy(cluster, pools_of(request.store, cluster))
    if present is not None:
        require_power(present, "Running", "updating")
    change = _with_pools(request, cluster, body.get("properties") or {}, is_new=present is None)
    release = "currentKubernetesVersion"
    if present and present.properties[release] != cluster.properties[release]:
        return replace(change, meanwhile="Upgrading")
    return change


def _after_put(
    request: Request, group: Resource, body: Json, location: str, present: Resource | None
) -> Resource:
    """Returns the cluster after a PUT, whose pools are judged later."""
    name = request.names["cluster"]
    properties = body.get("properties") or {}
    before = present.properties if present else None
    case = refusals.Case(
        name=name,
        sent=body,
        values=body,
        before=None if present is None else present.body,
        cluster={},
        group=group.name,
        location=location,
        api_version=request.api_version,
        today=request.offers.today,
        subscription=request.backend.principal.subscription,
        others=[each.name.lower() for each in groups.all_groups(request)],
    )
    there = pools_of(request.store, present) if present else []
    first = [*(pool.properties for pool in there), *(properties.get("agentPoolProfiles") or ()), {}]
    place = name, group.name, location
    had = (present.body if present else {}).get("sku") or {}

    def fill() -> Json:
        return {
            "sku": {**defaults.SKU, **had, **(body.get("sku") or {})},
            "properties": defaults.cluster(properties, before, place, first[0]),
        }

    filled = refusals.judged("cluster", case, fill)
    after = filled["properties"]
    made_id = f"{_aks_group(request, group.name)}/providers/{CLUSTER_TYPE}/{name}"
    cluster = present or Resource(made_id, CLUSTER_TYPE, group.id, location, {}, "Creating")
    admission.require_identities(request, CLUSTERS.id(request), body)
    _admit_version(request, name, location, before, after)
    if before is not None:
        refusals.unchanged("cluster", before, after, properties)
        refusals.not_changed_to(before, after)
    after.setdefault("identityProfile", _kubelet_identity(request, name, after))
    _belong_to(after, request.backend.principal.directory, location)
    # Without `tags` they stay; an empty object removes them.
    tags_after = cluster.body.get("tags") if body.get("tags") is None else body["tags"] or None
    identity = _identity(request, body, cluster)
    body_after = {"tags": tags_after, "sku": filled["sku"], "identity": identity}
    return cluster.with_body({**body_after, "properties": after})


def _with_pools(request: Request, cluster: Resource, properties: Json, *, is_new: bool) -> Change:
    """Returns the cluster with its inline pools, each after a PUT of its own.

    An existing pool that the body does not mention stays as it is: AKS deletes pools only by their
    own URL.
    """
    present = {pool.name: pool for pool in pools_of(request.store, cluster)}
    inline, before = list[Resource](), list[Resource | None]()
    _refuse_other_versions(properties, present, cluster.properties)
    for profile in properties.get("agentPoolProfiles") or ():
        name = profile.get("name") or ""
        if not is_new and name not in present:
            raise errors.ArmError(errors.NEW_INLINE_POOL, "agentPoolProfiles")
        before.append(present.get(name))
        inline.append(pools.after_put(request, name, profile, before[-1], cluster, inline))
    pools.require_system_pool(cluster, present.values(), inline)
    for pool in {**present, **{pool.name: pool for pool in inline}}.values():
        release = pool.properties["currentOrchestratorVersion"]
        versions.admit_pool(release, cluster.properties["currentKubernetesVersion"])
    changes = list(zip(before, inline, strict=True))
    versioned = [(pool, pools.version_of(had)) for had, pool in changes]
    failure = admission.admit(request, cluster, versioned)
    is_scaled = any(pools.state_meanwhile(*change) == "Scaling" for change in changes)
    return Change(cluster, inline, failure=failure, meanwhile="Scaling" if is_scaled else None)


def _refuse_other_versions(
    properties: Json, present: Mapping[str, Resource], cluster: Json
) -> None:
    """Refuses a PUT with versions for some of its pools only, or with versions of neither.

    In a PUT of its cluster a pool keeps its version, or gets the cluster's.
    """
    profiles = properties.get("agentPoolProfiles") or ()
    requested = {profile.get("name"): profile.get("orchestratorVersion") for profile in profiles}
    requested = {name: version for name, version in requested.items() if version}
    known = [cluster["kubernetesVersion"], cluster["currentKubernetesVersion"]]
    for name, version in requested.items():
        own = present[name].properties if name in present else {}
        named = (own.get("orchestratorVersion"), own.get("currentOrchestratorVersion"), *known)
        if not any(release and f"{release}.".startswith(f"{version}.") for release in named):
            raise errors.ArmError(errors.SOME_POOLS_VERSIONS)
    if requested and not requested.keys() >= present.keys():
        raise errors.ArmError(errors.SOME_POOLS_VERSIONS)


def _admit_version(
    request: Request, name: str, location: str, before: Json | None, after: Json
) -> None:
    """Accepts the present version and support plan, or those on offer."""
    decisive = ("currentKubernetesVersion", "supportPlan")
    if before is None or any(before[key] != after[key] for key in decisive):
        version, plan = after["kubernetesVersion"], after["supportPlan"]
        versions.admit(request.offers, location, name, version, plan)
    if before is not None:
        release = before["currentKubernetesVersion"], after["currentKubernetesVersion"]
        versions.admit_change(request.offers, location, *release)


def list_in_group(request: Request) -> Answer:
    group = groups.above(request)
    return _listed(request, request.store.children(group.id, CLUSTER_TYPE))


def list_all(request: Request) -> Answer:
    return _listed(request, request.store.of_type(CLUSTER_TYPE))


def _listed(request: Request, clusters: Sequence[Resource]) -> Answer:
    return request.page_of_aks(clusters, lambda cluster: shown(request, cluster))


def _patch(request: Request, _: Resource, cluster: Resource) -> Change:
    body = types.read("TagsObject", request.body, request.api_version)
    refuse_while_busy(cluster, pools_of(request.store, cluster))
    require_power(cluster, "Running", "updating")
    if "tags" not in body:
        return Change(cluster)
    tags.admit(body["tags"])
    return Change(cluster.with_body({**cluster.body, "tags": body["tags"] or None}))


def _delete(request: Request, _: Resource, cluster: Resource) -> Change:
    refuse_while_busy(cluster, pools_of(request.store, cluster))
    return Change(cluster)


def credentials(request: Request, *, role: str) -> Answer:
    cluster = CLUSTERS.existing(request)
    signs_in_itself = role == "clusterUser" and cluster.properties.get("aadProfile")
    if cluster.properties.get("disableLocalAccounts") and not signs_in_itself:
        raise errors.ArmError(errors.NO_LOCAL_ACCOUNTS)
    return Answer(200, request.backend.control_planes.kubeconfig(cluster, role))


def shown(request: Request, cluster: Resource) -> Json:
    profiles = [
        {"name": pool.name, **pools.shown(request, pool)["properties"]}
        for pool in pools_of(request.store, cluster)
    ]
    body: Json = {
        "id": cluster.id,
        "name": cluster.name,
        "type": SHOWN_CLUSTER_TYPE,
        "location": cluster.location,
        "kind": "Base",
        "eTag": cluster.etag,
        **{name: value for name, value in deepcopy(cluster.body).items() if value is not None},
    }
    if request.http.method == "PUT":
        for profile in profiles:
            # Responses to a PUT have it, those to a GET do not.
            profile.setdefault("nodeLabels", {})
    body["properties"] |= {"agentPoolProfiles": profiles, "provisioningState": cluster.state}
    for way, number in WAYS_OUT.items():
        if outbound := at(body, way):
            addresses = _outbound_addresses(cluster, outbound, at(outbound, number) or 0)
            outbound["effectiveOutboundIPs"] = addresses
    if cluster.state == "Creating":
        for path in KNOWN_LATER:
            filling.remove_value(body, path)
        for profile in profiles:
            profile.pop("eTag", None)
        for identity in (at(body, "identity.userAssignedIdentities") or {}).values():
            del identity["clientId"]
    return body


def _outbound_addresses(cluster: Resource, outbound: Json, count: int) -> list[Json]:
    """Returns the ids of the nodes' outbound IP addresses."""
    if requested := at(outbound, "outboundIPs.publicIPs"):
        return [{"id": address["id"]} for address in requested if "id" in address]
    _, _, subscription, *_ = cluster.id.split("/")
    group = (
        f"/subscriptions/{subscription}/resourceGroups/{cluster.properties['nodeResourceGroup']}"
    )
    place = f"{group}/providers/Microsoft.Network/publicIPAddresses"
    names = [stored.guid(cluster.id, f"address {number}") for number in range(count)]
    return [{"id": f"{place}/{name}"} for name in names]


def _aks_group(request: Request, name: str) -> str:
    """Returns a group's id with AKS's `resourcegroups`; Resource Manager has `resourceGroups`."""
    return f"{request.subscription}/resourcegroups/{name}"


def _identity(request: Request, body: Json, cluster: Resource) -> Json | None:
    """Returns the identity with its ids in the directory, which never change."""
    before = cluster.body.get("identity")
    requested = body.get("identity") or before
    if not requested:
        return None
    identity: Json = {"type": requested["type"]}
    if requested["type"] == "SystemAssigned":
        known = (before or {}).get("principalId")
        identity["principalId"] = known or str(uuid.uuid4())
        identity["tenantId"] = request.backend.principal.directory
    elif requested.get("userAssignedIdentities"):
        identity["userAssignedIdentities"] = {
            name: {made: stored.guid(name, made) for made in ("clientId", "principalId")}
            for name in requested["userAssignedIdentities"]
        }
    return identity


def _belong_to(cluster: Json, directory: str, location: str) -> None:
    """Fills in the properties that come from the directory."""
    if entra := cluster.get("aadProfile"):
        entra.setdefault("tenantID", directory)
        entra.setdefault("adminUsers", None)
    if cluster["oidcIssuerProfile"]["enabled"]:
        issuer = f"https://{location}.oic.prod-aks.azure.com/{directory}/{uuid.uuid4()}/"
        cluster["oidcIssuerProfile"].setdefault("issuerURL", issuer)


def _kubelet_identity(request: Request, name: str, cluster: Json) -> Json:
    group = _aks_group(request, cluster["nodeResourceGroup"])
    kind = "Microsoft.ManagedIdentity/userAssignedIdentities"
    identity = f"{group}/providers/{kind}/{name}-agentpool"
    return {
        "kubeletidentity": {
            "resourceId": identity,
            "clientId": stored.guid(identity, "clientId"),
            "objectId": stored.guid(identity, "principalId"),
        }
    }


TYPE = ResourceType(
    CLUSTERS,
    _put,
    shown,
    _patch,
    _delete,
    creation=Kind.CLUSTER_CREATE,
    update=Kind.CLUSTER_UPDATE,
    deletion=Kind.CLUSTER_DELETE,
)
_PATH = CLUSTERS.path
ROUTES = (
    *TYPE.routes("PUT", "PATCH", "GET", "DELETE"),
    Route("GET", f"/resourceGroups/{{group}}/providers/{CLUSTER_TYPE}", list_in_group),
    Route("GET", f"/providers/{CLUSTER_TYPE}", list_all),
    Route("POST", f"{_PATH}/listClusterUserCredential", partial(credentials, role="clusterUser")),
    Route("POST", f"{_PATH}/listClusterAdminCredential", partial(credentials, role="clusterAdmin")),
)
