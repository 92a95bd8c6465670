"""Managed clusters."""

import uuid
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial

from catalogue.shapes import at
from rehearsal.arm import errors, operations
from rehearsal.arm.aks import (
    admission,
    defaults,
    fields,
    filling,
    pools,
    refusals,
    rules,
    types,
    versions,
)
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resources import groups, stored, tags
from rehearsal.arm.state import Resource, Store

NAMESPACE = "Microsoft.ContainerService"
TYPE = f"{NAMESPACE}/managedClusters"
# The type as AKS spells it in responses; ids are spelled differently.
SHOWN_TYPE = f"{NAMESPACE}/ManagedClusters"
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


def put(request: Request) -> Answer:
    group = groups.open_to_change(request)
    name = request.names["cluster"]
    body = types.read("ManagedCluster", request.body, request.api_version)
    present = request.store.find(_id(request))
    request.check_etag(present)
    location = groups.required_location(body)
    groups.refuse_move(present, location, errors.RESOURCE_MOVED)
    defaults.spell("cluster", body)
    properties = body.get("properties") or {}
    rules.in_version("cluster", body, request.api_version)
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
    refusals.judge(refusals.rules("cluster_request"), case)
    place = name, group.name, location
    there = pools.cluster_pools(request.store, present) if present else []
    first = [*(pool.properties for pool in there), *(properties.get("agentPoolProfiles") or ()), {}]
    after = defaults.cluster(properties, before, place, request.api_version, first[0])
    had = present.body.get("sku") if present else None
    filled = {
        "sku": {**defaults.SKU, **(had or {}), **(body.get("sku") or {})},
        "properties": after,
    }
    refusals.judge(refusals.rules("cluster_result"), replace(case, values=filled))
    admission.require_identities(request, _id(request), body)
    _admit_version(request, name, location, before, after)
    if before is not None:
        rules.unchanged(before, after, fields.names(fields.CLUSTER, fields.FIXED), "", properties)
        rules.not_changed_to(before, after)
    cluster_id = f"{_aks_group(request, group.name)}/providers/{TYPE}/{name}"
    cluster = present or Resource(cluster_id, TYPE, group.id, location, {}, "Creating")
    pools.refuse_while_busy(cluster, pools.cluster_pools(request.store, cluster))
    if present is None:
        request.backend.control_planes.refuse_without_memory()
    else:
        pools.require_power(present, "Running", "updating")
    cluster.body = {
        # Without `tags` they stay; an empty object removes them.
        "tags": cluster.body.get("tags") if body.get("tags") is None else body["tags"] or None,
        "sku": filled["sku"],
        "identity": _identity(request, body, cluster),
        "properties": after,
    }
    after.setdefault("identityProfile", _kubelet_identity(request, cluster))
    _belong_to(after, request.backend.principal.directory, location)
    inline, failure, meanwhile = _inline_pools(request, cluster, properties, is_new=not before)
    release = "currentKubernetesVersion"
    if before and before[release] != after[release]:
        meanwhile = "Upgrading"
    if properties.get("autoScalerProfile") != {}:
        pools.note_autoscaling(cluster, inline)
    kind = "cluster update" if present else "cluster create"
    operation = operations.begin(request, kind, [cluster, *inline], failure, meanwhile)
    status = 200 if present else 201
    answer = response_body(request.store, cluster)
    for profile in answer["properties"]["agentPoolProfiles"]:
        # Responses to a PUT have it, those to a GET do not.
        profile.setdefault("nodeLabels", {})
    return operations.accepted(request, status, operation, location, answer)


def _inline_pools(
    request: Request, cluster: Resource, properties: Json, *, is_new: bool
) -> tuple[list[Resource], Json | None, str | None]:
    """Returns the inline pools after the PUT, and the error with which the operation fails.

    The third value is the state of all resources meanwhile, if it is not the usual one.

    An existing pool that the body does not mention stays as it is: AKS deletes pools only by their
    own URL.
    """
    present = {pool.name: pool for pool in pools.cluster_pools(request.store, cluster)}
    inline = list[Resource]()
    before, states = [], set[str | None]()
    _refuse_other_versions(properties, present, cluster.properties)
    for profile in properties.get("agentPoolProfiles") or ():
        rules.in_version("pool", {"properties": profile}, request.api_version)
        name = profile.get("name") or ""
        if not is_new and name not in present:
            raise errors.ArmError(errors.NEW_INLINE_POOL, "agentPoolProfiles")
        existing = present.get(name)
        before.append(pools.version_of(existing))
        had = existing.properties if existing else None
        inline.append(pools.after_put(request, name, profile, existing, cluster, inline))
        states.add(pools.state_meanwhile(had, inline[-1].properties))
    pools.require_system_pool(cluster, present.values(), inline)
    for pool in present.values():
        release = pool.properties["currentOrchestratorVersion"]
        versions.admit_pool(release, cluster.properties["currentKubernetesVersion"])
    failure = admission.admit(request, cluster, zip(inline, before, strict=True))
    return inline, failure, "Scaling" if "Scaling" in states else None


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


def get(request: Request) -> Answer:
    return Answer(200, response_body(request.store, existing(request)))


def list_in_group(request: Request) -> Answer:
    return _listed(request, request.store.children(groups.existing(request).id, TYPE))


def list_all(request: Request) -> Answer:
    return _listed(request, request.store.of_type(TYPE))


def _listed(request: Request, clusters: Sequence[Resource]) -> Answer:
    return request.page_of_aks(clusters, lambda cluster: response_body(request.store, cluster))


def patch(request: Request) -> Answer:
    groups.open_to_change(request)
    cluster = existing(request)
    request.check_etag(cluster)
    body = types.read("TagsObject", request.body, request.api_version)
    pools.refuse_while_busy(cluster, pools.cluster_pools(request.store, cluster))
    pools.require_power(cluster, "Running", "updating")
    if "tags" in body:
        tags.admit(body["tags"])
        cluster.body["tags"] = body["tags"] or None
    operation = operations.begin(request, "cluster update", [cluster])
    answer = response_body(request.store, cluster)
    return operations.accepted(request, 200, operation, cluster.location, answer)


def delete(request: Request) -> Answer:
    groups.open_to_change(request)
    cluster = request.store.find(_id(request))
    request.check_etag(cluster)
    if cluster is None:
        return Answer(204)
    pools.refuse_while_busy(cluster, pools.cluster_pools(request.store, cluster))
    operation = operations.begin(request, "cluster delete", [cluster])
    return operations.accepted(request, 202, operation, cluster.location, None)


def credentials(request: Request, *, role: str) -> Answer:
    cluster = existing(request)
    signs_in_itself = role == "clusterUser" and cluster.properties.get("aadProfile")
    if cluster.properties.get("disableLocalAccounts") and not signs_in_itself:
        raise errors.ArmError(errors.NO_LOCAL_ACCOUNTS)
    return Answer(200, request.backend.control_planes.kubeconfig(cluster, role))


def response_body(store: Store, cluster: Resource) -> Json:
    profiles = [
        {"name": pool.name, **pools.response_body(pool)["properties"]}
        for pool in pools.cluster_pools(store, cluster)
    ]
    body: Json = {
        "id": cluster.id,
        "name": cluster.name,
        "type": SHOWN_TYPE,
        "location": cluster.location,
        "kind": "Base",
        "eTag": cluster.etag,
        **{name: value for name, value in deepcopy(cluster.body).items() if value is not None},
    }
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


def _id(request: Request) -> str:
    return f"{request.group}/providers/{TYPE}/{request.names['cluster']}"


def existing(request: Request) -> Resource:
    """Returns the cluster in the path."""
    return pools.cluster_of(request)


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


def _kubelet_identity(request: Request, cluster: Resource) -> Json:
    group = _aks_group(request, cluster.properties["nodeResourceGroup"])
    name = f"{cluster.name}-agentpool"
    identity = f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    return {
        "kubeletidentity": {
            "resourceId": identity,
            "clientId": stored.guid(identity, "clientId"),
            "objectId": stored.guid(identity, "principalId"),
        }
    }


PATH = pools.CLUSTER
ROUTES = (
    Route("PUT", PATH, put),
    Route("PATCH", PATH, patch),
    Route("GET", PATH, get),
    Route("DELETE", PATH, delete),
    Route("GET", f"/resourceGroups/{{group}}/providers/{TYPE}", list_in_group),
    Route("GET", f"/providers/{TYPE}", list_all),
    Route("POST", f"{PATH}/listClusterUserCredential", partial(credentials, role="clusterUser")),
    Route("POST", f"{PATH}/listClusterAdminCredential", partial(credentials, role="clusterAdmin")),
)
