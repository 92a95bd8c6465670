"""What the page shows: one JSON document of what the server knows. To make it changes nothing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rehearsal.arm import operations, prices
from rehearsal.arm.aks.control_planes import FleetControlPlanes
from rehearsal.arm.aks.places import CLUSTER_TYPE, pools_of
from rehearsal.arm.compute.capacity import is_spot
from rehearsal.arm.dashboard import cells
from rehearsal.arm.faults import FaultScript
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import known_sizes
from rehearsal.arm.request_log import RequestLog, without_secrets
from rehearsal.arm.state import Resource, Store
from rehearsal.files import WatchedFile

Json = dict[str, Any]


@dataclass(frozen=True)
class Knowledge:
    home: Path
    store: Store
    control_planes: FleetControlPlanes
    faults: FaultScript
    offers: WatchedFile[OfferScript]
    log: RequestLog

    def document(self) -> Json:
        overview, script = self.control_planes.overview(), self.offers.read()
        known = zip(self.store.of_type(CLUSTER_TYPE), overview["clusters"], strict=True)
        clusters = [self._cluster(resource, shown) for resource, shown in known]
        scripts = [*self.faults.entries(), *script.sizes, *script.limits]
        return {
            "stacks": [*_stacks(self.home / "state" / ".pulumi")],
            "clusters": clusters,
            "cost": round(sum(pool["cost"] for each in clusters for pool in each["pools"]), 6),
            "operations": [*self._operations()],
            "stored": [*_stored(overview)],
            "scripts": [scripted(each) for each in scripts],
            "complaints": [*filter(None, (self.faults.complaint(), self.offers.complaint))],
            "requests": [_request(line) for line in self.log.recent],
        }

    def _cluster(self, cluster: Resource, overview: Json) -> Json:
        pods = self.control_planes.pods(cluster)
        kept = ("name", "group", "provisioningState", "controlPlane", "reason")
        return {
            **{name: overview[name] for name in kept},
            "version": cluster.properties["currentKubernetesVersion"],
            "pools": [self._pool(cluster, pool, pods) for pool in pools_of(self.store, cluster)],
            "pods": [*map(cells.pod, filter(cells.is_shown, pods))],
        }

    def _pool(self, cluster: Resource, pool: Resource, pods: list[Json]) -> Json:
        properties, nodes = pool.properties, self.control_planes.nodes(cluster, pool)
        scales = properties.get("enableAutoScaling")
        return {
            "name": pool.name,
            "size": properties["vmSize"],
            "isSpot": is_spot(pool),
            "state": pool.state,
            "least": properties["minCount"] if scales else properties["count"],
            "most": properties["maxCount"] if scales else properties["count"],
            "cost": round(_price(pool) * len(nodes), 6),
            "nodes": [cells.node(properties, node, pods) for node in nodes],
        }

    def _operations(self) -> Iterator[Json]:
        for row in self.store.rows("SELECT * FROM operations WHERE ended IS NULL ORDER BY due"):
            yield {
                "kind": row["kind"].lower().replace("_", " "),
                "on": [_below(each.id) for each in self.store.worked_on_by(row["id"])],
                "started": row["started"],
                "seconds": row["due"] - row["started"],
                "isHeld": row["status"] == operations.HELD,
            }


def scripted(entry: Any) -> Any:
    """Returns the keys that an entry of a script sets, whatever keys its kind has."""
    own = TypeAdapter(type(entry)).dump_python(entry, mode="json", exclude_defaults=True)
    return without_secrets({name.rstrip("_"): _finite(value) for name, value in own.items()})


def _finite(value: Any) -> Any:
    """Returns a value as JSON has it, which has no infinite numbers."""
    is_odd = isinstance(value, float) and not math.isfinite(value)
    return str(value) if is_odd else value


def _stacks(backend: Path) -> Iterator[Json]:
    """Yields the stacks of the rehearsal's own backend, if it has one."""
    for file in sorted((backend / "stacks").glob("*/*.json")):
        locks = (backend / "locks").glob(f"*/{file.parent.name}/{file.stem}/*.json")
        yield {"name": file.stem, "project": file.parent.name, "isUpdating": any(locks)}


def _price(pool: Resource) -> float:
    """Returns what a node costs an hour; nothing for a size that no table has."""
    size = known_sizes().get(pool.properties["vmSize"].lower())
    kind = " Spot" if is_spot(pool) else ""
    is_windows = pool.properties["osType"] == "Windows"
    return prices.an_hour(size, kind, is_windows=is_windows) if size else 0.0


def _stored(overview: Json) -> Iterator[str]:
    for cluster in overview["clusters"]:
        owner = f"cluster {cluster['name']}"
        yield from (f"{path} of {owner}" for path in cluster["storedOnly"])
        for pool in cluster["pools"]:
            yield from (f"{path} of pool {pool['name']} of {owner}" for path in pool["storedOnly"])
    yield from (f"all of {kind}" for kind in overview["storedTypes"])


def _request(line: Json) -> Json:
    kept = ("number", "time", "method", "status")
    return {**{name: line[name] for name in kept}, "path": _below(line["path"])}


def _below(path: str) -> str:
    """Returns a path without the subscription, which is the same for all."""
    parts = path.split("/", 3)
    return f"/{parts[3]}" if parts[1:2] == ["subscriptions"] and parts[3:] else path
