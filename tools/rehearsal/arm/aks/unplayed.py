"""Which properties are stored and come back, but change nothing in the rehearsal."""

from collections.abc import Callable, Iterator
from copy import deepcopy

from aks_catalogue.shapes import at
from rehearsal.arm.aks import defaults, fields, filling
from rehearsal.arm.request import Json
from rehearsal.arm.state import Resource

_SERVER_MADE = frozenset(
    [*fields.names(fields.CLUSTER, fields.SERVERS), *fields.names(fields.POOL, fields.SERVERS)]
    + [*defaults.SERVER_MADE, "networkProfile.loadBalancerProfile.effectiveOutboundIPs"]
    + ["oidcIssuerProfile.issuerURL"]
)


def of_cluster(cluster: Resource, first_pool: Json) -> list[str]:
    """Returns the paths of a cluster's properties that are stored only, in alphabetical order."""
    place = (cluster.name, cluster.id.split("/")[4], cluster.location)
    return _stored_only(
        "cluster",
        cluster.properties,
        lambda sent: defaults.cluster(sent, None, place, first_pool),
    )


def of_pool(pool: Resource, cluster: Resource) -> list[str]:
    """Returns the paths of a pool's properties that are stored only, in alphabetical order."""
    return _stored_only(
        "pool",
        pool.properties,
        lambda sent: defaults.pool(sent, None, cluster.properties),
    )


def _stored_only(resource: str, properties: Json, fill: Callable[[Json], Json]) -> list[str]:
    """Returns what is not played, and has another value than AKS fills in."""

    def is_filled_in(path: str) -> bool:
        rest = deepcopy(properties)
        filling.remove_value(rest, path)
        return bool(at(fill(rest), path) == at(properties, path))

    bare = fill(_played(resource, properties))
    different = sorted(_differences(properties, bare, resource))
    return [path for path in different if not is_filled_in(path)]


def _played(resource: str, properties: Json) -> Json:
    """Returns the part of the properties that the rehearsal plays."""
    played: Json = {}
    for path in fields.PLAYED[resource]:
        value = at(properties, path)
        if value is not None:
            filling.set_value(played, path, value)
    return played


def _differences(actual: Json, bare: Json, resource: str, above: str = "") -> Iterator[str]:
    """Yields the paths that are not played and have another value than after a bare PUT."""
    for name, value in actual.items():
        path = f"{above}{name}"
        default = bare.get(name, fields.IMPLIED.get(path))
        # What is false or empty is as good as left out.
        if (
            value == default
            or not (value or default)
            or path in fields.PLAYED[resource]
            or path in _SERVER_MADE
        ):
            continue
        if isinstance(value, dict) and (isinstance(default, dict) or _is_above(path, resource)):
            yield from _differences(value, default or {}, resource, f"{path}.")
        else:
            yield path


def _is_above(path: str, resource: str) -> bool:
    return any(each.startswith(f"{path}.") for each in fields.PLAYED[resource])
