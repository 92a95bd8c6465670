"""Start and stop of a cluster."""

from functools import partial

from rehearsal.arm import operations
from rehearsal.arm.aks.places import CLUSTERS, pools_of, refuse_while_busy, require_power
from rehearsal.arm.compute.usages import ALLOCATED
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Request, Route
from rehearsal.arm.resources import groups


def switch(request: Request, *, kind: Kind, action: str, before: str, after: str) -> Answer:
    """Starts or stops a cluster; refused if it is started or stopped already."""
    groups.open_to_change(request)
    cluster = CLUSTERS.existing(request)
    inside = pools_of(request.store, cluster)
    refuse_while_busy(cluster, inside)
    require_power(cluster, before, action)
    for resource in (cluster, *inside):
        resource.properties["powerState"] = {"code": after}
    for pool in inside:
        # A stopped cluster has no machines, so it takes no quota.
        pool.body.pop(ALLOCATED, None)
        if after == "Stopped":
            pool.body[ALLOCATED] = 0
    operation = operations.begin(request, kind, [cluster, *inside])
    return operations.accepted(request, 202, operation, cluster.location, None)


start = partial(
    switch, kind=Kind.CLUSTER_START, action="starting", before="Stopped", after="Running"
)
stop = partial(switch, kind=Kind.CLUSTER_STOP, action="stopping", before="Running", after="Stopped")
ROUTES = (
    Route("POST", f"{CLUSTERS.path}/start", start),
    Route("POST", f"{CLUSTERS.path}/stop", stop),
)
