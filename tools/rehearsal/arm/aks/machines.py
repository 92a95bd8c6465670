"""The machines of an agent pool, one for each node."""

from rehearsal.arm import errors
from rehearsal.arm.aks.places import CLUSTERS, POOLS
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.request import Answer, Json, Request, Route

TYPE = f"{POOL_TYPE}/machines"


def get(request: Request) -> Answer:
    name = request.names["machine"].lower()
    for machine in _all(request):
        if machine["name"] == name:
            return Answer(200, machine)
    raise errors.ArmError(errors.NO_MACHINE)


def list_all(request: Request) -> Answer:
    return Answer(200, {"value": _all(request)})


def _all(request: Request) -> list[Json]:
    cluster, pool = CLUSTERS.existing(request), POOLS.existing(request)
    nodes = request.backend.control_planes.nodes(cluster, pool)
    return [_machine(pool.id, node) for node in sorted(nodes, key=_name)]


def _name(node: Json) -> str:
    return str(node["metadata"]["name"])


def _machine(pool: str, node: Json) -> Json:
    name = node["metadata"]["name"]
    addresses = [
        {"family": "IPv4", "ip": address["address"]}
        for address in node["status"]["addresses"]
        if address["type"] == "InternalIP"
    ]
    return {
        "id": f"{pool}/machines/{name}",
        "name": name,
        "type": TYPE,
        "properties": {
            "network": {"ipAddresses": addresses},
            "resourceId": node["spec"]["providerID"].removeprefix("azure://"),
        },
    }


ROUTES = (
    Route("GET", f"{POOLS.path}/machines", list_all),
    Route("GET", f"{POOLS.path}/machines/{{machine}}", get),
)
