"""The scale sets of agent pools, which are in the resource groups of nodes.

AKS makes them, and clients only read them: whether one has a single placement group. Which one has
is as in AKS's lab of training on several nodes (2026-09).
"""

from collections.abc import Iterator

from rehearsal.arm import errors
from rehearsal.arm.aks.places import CLUSTER_TYPE, pools_of
from rehearsal.arm.aks.pools import ONE_PLACEMENT_GROUP
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.nodes import scale_set

TYPE = "Microsoft.Compute/virtualMachineScaleSets"


def get(request: Request) -> Answer:
    name, group = request.names["name"], request.names["group"]
    for each in _inside(request):
        if each["name"] == name.lower():
            return Answer(200, each)
    raise errors.ArmError(errors.NO_RESOURCE, type=TYPE, name=name, group=group)


def list_all(request: Request) -> Answer:
    return Answer(200, {"value": [*_inside(request)]})


def _inside(request: Request) -> Iterator[Json]:
    """Yields the scale sets of a cluster's pools; in the article's days pools had none."""
    clusters = request.store.of_type(CLUSTER_TYPE) if request.offers.era is Era.TODAY else ()
    group = request.names["group"].lower()
    of_nodes = [each for each in clusters if each.properties["nodeResourceGroup"].lower() == group]
    if not of_nodes:
        # Scale sets of other groups are not played: they are not said to be absent either.
        what = f"{request.http.method} {request.http.path}"
        raise errors.ArmError(errors.NOT_REHEARSED, what=what)
    for cluster in of_nodes:
        group = cluster.properties["nodeResourceGroup"]
        for pool in pools_of(request.store, cluster):
            name = scale_set(str(cluster.properties["resourceUID"]), pool.name)
            size, count = pool.properties["vmSize"], pool.properties["count"]
            yield {
                "id": f"{request.subscription}/resourceGroups/{group}/providers/{TYPE}/{name}",
                "name": name,
                "type": TYPE,
                "location": cluster.location,
                "tags": {"aks-managed-poolName": pool.name},
                "sku": {"name": size, "tier": "Standard", "capacity": count},
                "properties": {
                    "singlePlacementGroup": bool(pool.body.get(ONE_PLACEMENT_GROUP)),
                    "provisioningState": "Succeeded",
                },
            }


_PATH = f"/resourceGroups/{{group}}/providers/{TYPE}"
ROUTES = (Route("GET", _PATH, list_all), Route("GET", f"{_PATH}/{{name}}", get))
