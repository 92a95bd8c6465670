"""Agent pools of managed clusters."""

from collections.abc import Iterable, Sequence

from aks_catalogue import images, nodes, sizes
from aks_catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import admission, defaults, refusals, types
from rehearsal.arm.aks.places import CLUSTERS, POOLS, pools_of, refuse_while_busy, require_power
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resource_type import Change, ResourceType
from rehearsal.arm.resources import registrations
from rehearsal.arm.state import Resource

# The internal `image` of a pool whose node image has driver and device plugin.
SPECIALIZED = "specialised"
CAPACITY = "microsoft.compute/capacityreservationgroups"
# Whether the scale set of a pool has one placement group, for good.
ONE_PLACEMENT_GROUP = "onePlacementGroup"
# Whether the deletion of a pool ignores disruption budgets.
BY_FORCE = "byForce"
# The provisioning state of a pool while a property changes.
STATES = {
    "currentOrchestratorVersion": "Upgrading",
    "osSKU": "Upgrading",
    "enableFIPS": "Upgrading",
    "count": "Scaling",
}


def _put(request: Request, cluster: Resource, present: Resource | None) -> Change:
    body = types.read("AgentPool", request.body, request.api_version)
    pool = after_put(request, request.names["pool"], body.get("properties") or {}, present, cluster)
    refuse_while_busy(cluster, [present] if present else [])
    require_power(cluster, "Running", "updating")
    require_system_pool(cluster, pools_of(request.store, cluster), [pool])
    failure = admission.admit(request, cluster, [(pool, version_of(present))])
    return Change(pool, failure=failure, meanwhile=state_meanwhile(present, pool))


def _delete(request: Request, cluster: Resource, pool: Resource) -> Change:
    refuse_while_busy(cluster, [pool])
    require_power(cluster, "Running", "deleting")
    others = [other for other in pools_of(request.store, cluster) if other.id != pool.id]
    if _is_system(pool) and not _is_hosted(cluster) and not any(map(_is_system, others)):
        raise errors.ArmError(errors.LAST_SYSTEM_POOL, name=pool.name)
    by_force = request.http.query.get("ignore-pod-disruption-budget", "").lower() == "true"
    return Change(pool.with_body({**pool.body, BY_FORCE: by_force}))


def list_all(request: Request) -> Answer:
    inside = pools_of(request.store, CLUSTERS.existing(request))
    return request.page_of_aks(inside, lambda pool: shown(request, pool))


def after_put(
    request: Request,
    name: str,
    requested: Json,
    present: Resource | None,
    cluster: Resource,
    beside: Sequence[Resource] | None = None,
) -> Resource:
    """Returns the pool after a PUT; in a PUT of its cluster `beside` has the other pools."""
    _refuse_autoscaled_count(request, requested, present)
    if present is None and not requested.get("vmSize"):
        requested = requested | {"vmSize": admission.choose_size(request, cluster.location)}
    before = present.properties if present else None
    case = refusals.Case(
        name=name,
        sent=requested,
        values=requested,
        before=before,
        cluster=cluster.properties,
        group=request.names["group"],
        location=cluster.location,
        api_version=request.api_version,
        today=request.offers.today,
        others=[pool.name.lower() for pool in pools_of(request.store, cluster)],
    )
    after = refusals.judged(
        "pool",
        case,
        lambda: defaults.pool(requested, before, cluster.properties),
    )
    if before is not None:
        prefix = "properties." if beside is None else "agentPoolProfile."
        refusals.unchanged("pool", before, after, requested, prefix)
    pool = present or Resource(
        f"{cluster.id}/agentPools/{name}", POOL_TYPE, cluster.id, cluster.location, {}, "Creating"
    )
    pool = pool.with_body({**pool.body, "properties": after})
    if present is None:
        _choose_image(request, pool)
        _refuse_encryption_at_host(request, after)
        _refuse_managed_gpus(request, after)
        _associate_reservations(request, cluster, after)
        pool.body[ONE_PLACEMENT_GROUP] = _has_one_placement_group(request, after)
    is_specialized = pool.body.get("image") == SPECIALIZED
    pool.body["properties"] = defaults.node_image(after, is_specialized=is_specialized)
    return pool


def state_meanwhile(present: Resource | None, pool: Resource) -> str | None:
    """Returns the state of a pool while a PUT changes it, if it is not Updating."""
    if present is None:
        return None
    before, after = present.properties, pool.properties
    changed = (name for name in STATES if before.get(name) != after.get(name))
    return next((STATES[name] for name in changed), None)


def _refuse_autoscaled_count(request: Request, requested: Json, present: Resource | None) -> None:
    """Refuses a new count for an autoscaled pool, if offers.json asks for that."""
    if present is None or request.offers.script.autoscaled_counts != "refuse":
        return
    before = present.properties
    stays = before.get("enableAutoScaling") and requested.get("enableAutoScaling") is not False
    if stays and requested.get("count") not in (None, before["count"]):
        raise errors.ArmError(errors.AUTOSCALED_COUNT)


def version_of(pool: Resource | None) -> str | None:
    """Returns the Kubernetes version of a pool; None without a pool."""
    return pool.properties["currentOrchestratorVersion"] if pool else None


def _choose_image(request: Request, pool: Resource) -> None:
    """Sets the internal node image of a new pool, which never changes."""
    admission.admit_new(request.offers, pool.properties, request.http.headers, pool.location)
    asked_for = admission.asks_for_specialized_image(request.http.headers)
    if asked_for:
        namespace = images.SPECIALIZED_IMAGE_NAMESPACE
        _require_feature(request, namespace, images.SPECIALIZED_IMAGE_FEATURE)
    if asked_for and sizes.is_gpu_size(pool.properties["vmSize"]):
        pool.body["image"] = SPECIALIZED


def _refuse_encryption_at_host(request: Request, pool: Json) -> None:
    """Refuses encryption at host unless the subscription has registered its feature."""
    feature = nodes.ENCRYPTION_AT_HOST_NAMESPACE, nodes.ENCRYPTION_AT_HOST_FEATURE
    if pool.get("enableEncryptionAtHost") and not registrations.has_taken_over(request, *feature):
        raise errors.ArmError(errors.NO_ENCRYPTION_AT_HOST)


def _associate_reservations(request: Request, cluster: Resource, pool: Json) -> None:
    """Refuses a capacity reservation group that AKS cannot use, and leaves out an empty one."""
    identifier = pool.get("capacityReservationGroupID")
    if not identifier:
        return
    words = {"group": identifier, "location": cluster.location}
    if "UserAssigned" not in str((cluster.body.get("identity") or {}).get("type")):
        raise errors.ArmError(errors.NO_IDENTITY_FOR_CAPACITY, **words)
    group = request.store.find(identifier)
    if group is None or (group.type.lower(), group.location) != (CAPACITY, cluster.location):
        raise errors.ArmError(errors.NO_CAPACITY_GROUP, **words)
    if not request.store.children(group.id, f"{group.type}/capacityReservations"):
        del pool["capacityReservationGroupID"]


def _refuse_managed_gpus(request: Request, pool: Json) -> None:
    if nodes.has_managed_gpus(pool):
        _require_feature(request, nodes.MANAGED_GPU_NAMESPACE, nodes.MANAGED_GPU_FEATURE)


def _has_one_placement_group(request: Request, pool: Json) -> bool:
    """Whether AKS puts the nodes of a new pool on one InfiniBand network."""
    feature = nodes.INFINIBAND_NAMESPACE, nodes.INFINIBAND_FEATURE
    return sizes.has_rdma(pool["vmSize"]) and registrations.has_taken_over(request, *feature)


def _require_feature(request: Request, namespace: str, feature: str) -> None:
    if not registrations.has_taken_over(request, namespace, feature):
        raise errors.ArmError(errors.FEATURE_NOT_REGISTERED, namespace=namespace, feature=feature)


def require_system_pool(
    cluster: Resource, before: Iterable[Resource], after: Iterable[Resource]
) -> None:
    """Refuses a change that leaves a cluster without a System pool, if it needs one."""
    if _is_hosted(cluster):
        return
    pools = {pool.id: pool for pool in before} | {pool.id: pool for pool in after}
    if not any(map(_is_system, pools.values())):
        raise errors.ArmError(errors.NO_SYSTEM_POOL)


def _is_hosted(cluster: Resource) -> bool:
    """Returns whether AKS hosts the cluster's system components."""
    return bool(at(cluster.properties, "hostedSystemProfile.enabled"))


def shown(_: Request, pool: Resource) -> Json:
    return {
        "id": pool.id,
        "name": pool.name,
        "type": POOL_TYPE,
        "properties": {
            **pool.properties,
            "provisioningState": pool.state,
            "eTag": pool.etag,
        },
    }


def _is_system(pool: Resource) -> bool:
    """Returns whether this is a System pool that is not being deleted."""
    return pool.properties["mode"] == "System" and pool.state != "Deleting"


TYPE = ResourceType(
    POOLS,
    _put,
    shown,
    delete=_delete,
    creation=Kind.POOL_CREATE,
    update=Kind.POOL_UPDATE,
    deletion=Kind.POOL_DELETE,
)
ROUTES = (
    *TYPE.routes("PUT", "GET", "DELETE"),
    Route("GET", f"{CLUSTERS.path}/agentPools", list_all),
)
