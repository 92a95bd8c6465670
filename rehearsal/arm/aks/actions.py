"""The POST actions of clusters and pools: start, stop, abort, upgrade of the node image."""

from functools import partial

from rehearsal.arm import operations
from rehearsal.arm.aks import clusters, pools
from rehearsal.arm.compute.usages import ALLOCATED
from rehearsal.arm.request import Answer, Request, Route
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource


def switch(request: Request, *, kind: str, action: str, before: str, after: str) -> Answer:
    """Starts or stops a cluster; refused if it is started or stopped already."""
    groups.open_to_change(request)
    cluster = clusters.existing(request)
    inside = pools.cluster_pools(request.store, cluster)
    pools.refuse_while_busy(cluster, inside)
    pools.require_power(cluster, before, action)
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
    cluster = clusters.existing(request)
    operation = operations.abort(request, "cluster abort", cluster)
    return _accepted(request, operation, clusters.existing(request))


def abort_on_pool(request: Request) -> Answer:
    groups.open_to_change(request)
    operation = operations.abort(request, "pool abort", pools.existing(request))
    return _accepted(request, operation, pools.existing(request))


def upgrade_image(request: Request) -> Answer:
    """Starts an operation that changes nothing: pools always have the newest image."""
    groups.open_to_change(request)
    cluster, pool = clusters.existing(request), pools.existing(request)
    pools.refuse_while_busy(cluster, [pool])
    pools.require_power(cluster, "Running", "upgrading")
    operation = operations.begin(request, "pool upgrade of image", [pool])
    return _accepted(request, operation, pool)


def _accepted(request: Request, operation: str, resource: Resource) -> Answer:
    is_pool = resource.type == pools.TYPE
    body = (
        pools.response_body(resource)
        if is_pool
        else clusters.response_body(request.store, resource)
    )
    return operations.accepted(request, 202, operation, resource.location, body)


start = partial(switch, kind="cluster start", action="starting", before="Stopped", after="Running")
stop = partial(switch, kind="cluster stop", action="stopping", before="Running", after="Stopped")
ROUTES = (
    Route("POST", f"{clusters.PATH}/start", start),
    Route("POST", f"{clusters.PATH}/stop", stop),
    Route("POST", f"{clusters.PATH}/abort", abort_on_cluster),
    Route("POST", f"{pools.PATH}/abort", abort_on_pool),
    Route("POST", f"{pools.PATH}/upgradeNodeImageVersion", upgrade_image),
)
