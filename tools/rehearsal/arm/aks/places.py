"""Where clusters and their pools stand, and what they need before a change begins."""

from collections.abc import Iterable

from rehearsal.arm import errors
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.request import Request
from rehearsal.arm.resource_type import Place
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource, Store

CLUSTER_TYPE = "Microsoft.ContainerService/managedClusters"
# The type as AKS spells it in responses; ids are spelled differently.
SHOWN_CLUSTER_TYPE = "Microsoft.ContainerService/ManagedClusters"


def _no_cluster(request: Request) -> errors.ArmError:
    name, group = request.names["cluster"], groups.GROUPS.existing(request).name
    return errors.ArmError(errors.NO_RESOURCE, type=CLUSTER_TYPE, name=name, group=group)


def _no_pool(request: Request) -> errors.ArmError:
    cluster, subscription = CLUSTERS.existing(request).name, request.backend.principal.subscription
    words = {"name": request.names["pool"], "group": request.names["group"]}
    return errors.ArmError(errors.NO_POOL, cluster=cluster, subscription=subscription, **words)


CLUSTERS = Place(
    f"/resourceGroups/{{group}}/providers/{CLUSTER_TYPE}/{{cluster}}", groups.above, _no_cluster
)
POOLS = Place(f"{CLUSTERS.path}/agentPools/{{pool}}", CLUSTERS.existing, _no_pool)


def pools_of(store: Store, cluster: Resource) -> list[Resource]:
    return store.children(cluster.id, POOL_TYPE)


def refuse_while_busy(cluster: Resource, pools: Iterable[Resource]) -> None:
    for resource in (cluster, *pools):
        if resource.operation is not None:
            kind = "agentpool " if resource.type == POOL_TYPE else ""
            raise errors.ArmError(errors.BUSY, kind=kind, name=resource.name, state=resource.state)


def require_power(cluster: Resource, required: str, action: str) -> None:
    """Refuses an action unless the cluster has the required power state."""
    power = cluster.properties["powerState"]["code"]
    if power != required:
        words = {"state": cluster.state, "power": power, "action": action}
        raise errors.ArmError(errors.WRONG_POWER, **words)
