"""The POST actions of clusters and pools: start, stop, abort, upgrade of the node image."""

from functools import partial

from rehearsal.arm import operations
from rehearsal.arm.aks import clusters, pools
from rehearsal.arm.aks.places import CLUSTERS, POOLS, pools_of, refuse_while_busy, require_power
from rehearsal.arm.compute.usages import ALLOCATED, POOL_TYPE
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Request, Route
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource


def switch(request: Request, *, kind: Kind, action: str, before: str, after: str) -> Answer:
    """Starts or stops a cluster; refused if it is started or stopped already."""
    groups.open_to_change(request)
    cluster = CLUSTERS.existing(request)
    inside = pools_of(request.store, cluster)
    refuse_while_busy(cluster, inside)
    require_power(cluster, before, action)
    for resource in (cluster, *inside):
        if pools.STOPPED in resource.body:
            continue  # a pool that was stopped by itself stays so
        resource.properties["powerState"] = {"code": after}
    for pool in inside:
        # A stopped cluster has no machines, so it takes no quota.
        pool.body.pop(ALLOCATED, None)
        if after == "Stopped":
            pool.body[ALLOCATED] = 0
    operation = operations.begin(request, kind, [cluster, *inside])
    return operations.accepted(request, 202, operation, cluster.location, None)


def abort_on_cluster(request: Request) -> Answer:
    groups.open_to_change(request)
    cluster = CLUSTERS.existing(request)
    operation = operations.abort(request, Kind.CLUSTER_ABORT, cluster)
    return _accepted(request, operation, CLUSTERS.existing(request))


def abort_on_pool(request: Request) -> Answer:
    groups.open_to_change(request)
    operation = operations.abort(request, Kind.POOL_ABORT, POOLS.existing(request))
    return _accepted(request, operation, POOLS.existing(request))


def upgrade_image(request: Request) -> Answer:
    """Starts an operation that changes nothing: pools always have the newest image."""
    groups.open_to_change(request)
    cluster, pool = CLUSTERS.existing(request), POOLS.existing(request)
    refuse_while_busy(cluster, [pool])
    require_power(cluster, "Running", "upgrading")
    operation = operations.begin(request, Kind.POOL_UPGRADE_OF_IMAGE, [pool])
    return _accepted(request, operation, pool)


def _accepted(request: Request, operation: str, resource: Resource) -> Answer:
    of = pools.TYPE if resource.type == POOL_TYPE else clusters.TYPE
    body = of.shown(request, resource)
    return operations.accepted(request, 202, operation, resource.location, body)


start = partial(
    switch, kind=Kind.CLUSTER_START, action="starting", before="Stopped", after="Running"
)
stop = partial(switch, kind=Kind.CLUSTER_STOP, action="stopping", before="Running", after="Stopped")
ROUTES = (
    Route("POST", f"{CLUSTERS.path}/start", start),
    Route("POST", f"{CLUSTERS.path}/stop", stop),
    Route("POST", f"{CLUSTERS.path}/abort", abort_on_cluster),
    Route("POST", f"{POOLS.path}/abort", abort_on_pool),
    Route("POST", f"{POOLS.path}/upgradeNodeImageVersion", upgrade_image),
)
