"""Managed clusters."""

import uuid

from rehearsal.arm import errors, operations
from rehearsal.arm.aks import admission, pools
from rehearsal.arm.aks import defaults as aks_defaults
from rehearsal.arm.aks import fields as aks_fields
from rehearsal.arm.aks import rules as aks_rules
from rehearsal.arm.aks import versions as kubernetes_versions
from rehearsal.arm.call import Answer, Call, Json
from rehearsal.arm.conditions import check_etag
from rehearsal.arm.resources import groups
from rehearsal.arm.routes import Route
from rehearsal.arm.state import Resource, Store

NAMESPACE = "Microsoft.ContainerService"
TYPE = f"{NAMESPACE}/managedClusters"
# As AKS's answers call it; the ids have the other one.
SHOWN_TYPE = f"{NAMESPACE}/ManagedClusters"


def put(call: Call) -> Answer:
    group = groups.open_to_change(call)
    body, name = call.body, call.names["cluster"]
    present = call.store.find(_id(call))
    check_etag(call, present)
    location = _location(body, present)
    aks_rules.well_formed(body, aks_fields.CLUSTER_FIELDS, call.api_version)
    properties = body.get("properties") or {}
    aks_rules.well_formed(properties, aks_fields.CLUSTER_PROPERTIES, call.api_version)
    aks_rules.cluster_before_defaults(name, body, is_new=present is None)

    before = present.properties if present else None
    after = aks_defaults.cluster(properties, before, name, group.name, location)
    _admit_version(call, name, location, before, after)
    if before is not None:
        aks_rules.unchanged(before, after, aks_fields.IMMUTABLE_CLUSTER, "")
    cluster = present or Resource(
        f"{_aks_group(call, group.name)}/providers/{TYPE}/{name}",
        TYPE,
        group.id,
        location,
        {},
        "Creating",
    )
    _refuse_while_busy(call.store, cluster)
    if present is None:
        call.works.refuse_without_memory()
    cluster.body = {
        "tags": body.get("tags") or {},
        "sku": aks_defaults.SKU | (body.get("sku") or {}),
        "identity": _identity(call, body, cluster),
        "properties": after,
    }
    after.setdefault("identityProfile", _kubelet_identity(call, cluster))
    inline, failure = _inline_pools(call, cluster, properties, is_new=present is None)
    kind = "cluster update" if present else "cluster create"
    operation = operations.begin(call, kind, [cluster, *inline])
    admission.settle(call, operation, failure)
    status = 200 if present else 201
    return operations.accepted(call, status, operation, location, shown(call.store, cluster))


def _inline_pools(
    call: Call, cluster: Resource, properties: Json, *, is_new: bool
) -> tuple[list[Resource], Json | None]:
    """The pools named in the cluster's own body, as they shall be, and what they will fail with.

    An existing pool that the body does not name is left as it is: AKS removes pools through their
    own address only.
    """
    present = {pool.name: pool for pool in pools.cluster_pools(call.store, cluster)}
    inline, versions = [], []
    for profile in properties.get("agentPoolProfiles") or ():
        aks_rules.well_formed(profile, aks_fields.INLINE_POOL_FIELDS, call.api_version)
        name = profile.get("name") or ""
        if not is_new and name not in present:
            raise errors.ArmError(errors.NEW_INLINE_POOL, "agentPoolProfiles")
        versions.append(pools.version_of(present.get(name)))
        pools.refuse_count(call, profile, present.get(name))
        pool = pools.changed(name, profile, present.get(name), cluster, "agentPoolProfile.")
        pools.settle_image(call, pool, is_new=is_new)
        inline.append(pool)
    pools.require_system_pool(present.values(), inline)
    failure = admission.admit(call, cluster, zip(inline, versions, strict=True))
    return inline, failure


def _admit_version(call: Call, name: str, location: str, before: Json | None, after: Json) -> None:
    """A cluster may go on with the version and the plan it has, on offer or not."""
    asked = ("currentKubernetesVersion", "supportPlan")
    if before is None or any(before[key] != after[key] for key in asked):
        version, plan = after["kubernetesVersion"], after["supportPlan"]
        kubernetes_versions.admit(call.offers, location, name, version, plan)


def get(call: Call) -> Answer:
    return Answer(200, shown(call.store, _existing(call)))


def list_in_group(call: Call) -> Answer:
    clusters = call.store.children(groups.existing(call).id, TYPE)
    return Answer(200, {"value": [shown(call.store, cluster) for cluster in clusters]})


def list_all(call: Call) -> Answer:
    clusters = call.store.of_type(TYPE)
    return Answer(200, {"value": [shown(call.store, cluster) for cluster in clusters]})


def patch(call: Call) -> Answer:
    groups.open_to_change(call)
    cluster = _existing(call)
    check_etag(call, cluster)
    aks_rules.well_formed(call.body, {"tags"}, call.api_version)
    _refuse_while_busy(call.store, cluster)
    cluster.body["tags"] = call.body.get("tags") or {}
    operation = operations.begin(call, "cluster update", [cluster])
    body = shown(call.store, cluster)
    return operations.accepted(call, 200, operation, cluster.location, body)


def delete(call: Call) -> Answer:
    groups.open_to_change(call)
    cluster = call.store.find(_id(call))
    check_etag(call, cluster)
    if cluster is None:
        return Answer(204)
    _refuse_while_busy(call.store, cluster)
    operation = operations.begin(call, "cluster delete", [cluster])
    return operations.accepted(call, 202, operation, cluster.location, None)


def user_credentials(call: Call) -> Answer:
    return _credentials(call, "clusterUser")


def admin_credentials(call: Call) -> Answer:
    return _credentials(call, "clusterAdmin")


def _credentials(call: Call, role: str) -> Answer:
    cluster = _existing(call)
    if cluster.properties["disableLocalAccounts"]:
        raise errors.ArmError(errors.NO_LOCAL_ACCOUNTS)
    return Answer(200, call.works.kubeconfig(cluster, role))


def shown(store: Store, cluster: Resource) -> Json:
    profiles = [pools.shown_inline(pool) for pool in pools.cluster_pools(store, cluster)]
    return {
        "id": cluster.id,
        "name": cluster.name,
        "type": SHOWN_TYPE,
        "location": cluster.location,
        "kind": "Base",
        "eTag": cluster.etag,
        **{name: value for name, value in cluster.body.items() if value is not None},
        "properties": {
            **cluster.properties,
            "agentPoolProfiles": profiles,
            "provisioningState": cluster.state,
        },
    }


def _aks_group(call: Call, name: str) -> str:
    """A group's id as AKS writes it in its own ids; Resource Manager has `resourceGroups`."""
    return f"{call.subscription}/resourcegroups/{name}"


def _id(call: Call) -> str:
    return f"{call.group}/providers/{TYPE}/{call.names['cluster']}"


def _existing(call: Call) -> Resource:
    group = groups.existing(call)
    cluster = call.store.find(_id(call))
    if cluster is None:
        name = call.names["cluster"]
        raise errors.ArmError(errors.NO_RESOURCE, type=TYPE, name=name, group=group.name)
    return cluster


def _refuse_while_busy(store: Store, cluster: Resource) -> None:
    if cluster.operation is not None:
        raise errors.ArmError(errors.BUSY_CLUSTER, name=cluster.name, state=cluster.state)
    pools.refuse_while_worked_on(pools.cluster_pools(store, cluster))


def _location(body: Json, present: Resource | None) -> str:
    location = groups.required_location(body)
    if present is not None and present.location != location:
        raise errors.ArmError(
            errors.RESOURCE_MOVED,
            "location",
            name=present.name,
            present=present.location,
            wanted=location,
        )
    return location


def _identity(call: Call, body: Json, cluster: Resource) -> Json | None:
    """The identity with the ids that the directory gave it, the same for as long as it lives."""
    before = cluster.body.get("identity")
    wanted = body.get("identity") or before
    if not wanted:
        return None
    identity: Json = {"type": wanted["type"]}
    if wanted["type"] == "SystemAssigned":
        known = (before or {}).get("principalId")
        identity["principalId"] = known or str(uuid.uuid4())
        identity["tenantId"] = call.principal.directory
    elif wanted.get("userAssignedIdentities"):
        identity["userAssignedIdentities"] = {
            name: {
                "clientId": _made_from(name, "client"),
                "principalId": _made_from(name, "object"),
            }
            for name in wanted["userAssignedIdentities"]
        }
    return identity


def _kubelet_identity(call: Call, cluster: Resource) -> Json:
    group = _aks_group(call, cluster.properties["nodeResourceGroup"])
    name = f"{cluster.name}-agentpool"
    identity = f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    return {
        "kubeletidentity": {
            "resourceId": identity,
            "clientId": _made_from(identity, "client"),
            "objectId": _made_from(identity, "object"),
        }
    }


def _made_from(name: str, purpose: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{purpose} {name.lower()}"))


PATH = pools.CLUSTER
ROUTES = (
    Route("PUT", PATH, put),
    Route("PATCH", PATH, patch),
    Route("GET", PATH, get),
    Route("DELETE", PATH, delete),
    Route("GET", f"/resourceGroups/{{group}}/providers/{TYPE}", list_in_group),
    Route("GET", f"/providers/{TYPE}", list_all),
    Route("POST", f"{PATH}/listClusterUserCredential", user_credentials),
    Route("POST", f"{PATH}/listClusterAdminCredential", admin_credentials),
)
