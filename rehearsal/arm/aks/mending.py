"""Repairs stored resources that this version would not accept: an older release stored them.

All code relies on the types of the API. So when the server starts, values of another type are
removed as if they had never been sent, and resources that lack required values are removed too.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from catalogue.aks_types import API_VERSION, aks_types
from rehearsal.arm import bodies, operations
from rehearsal.arm.aks import clusters, defaults, pools
from rehearsal.arm.bodies import Misfit, Reader, Types
from rehearsal.arm.request import Json
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource, Store
from rehearsal.files import log_line

_KINDS: dict[str, tuple[Types, str]] = {
    groups.TYPE: (groups.TYPES, "ResourceGroup"),
    clusters.TYPE: (aks_types(), "ManagedCluster"),
    pools.TYPE: (aks_types(), "AgentPool"),
}


def open_store(path: Path) -> Store:
    """Opens and repairs the stored state. A damaged database is renamed, and a new one begins."""
    if damage := _damage(path):
        aside = path.with_name(f"{path.name}.damaged")
        path.replace(aside)
        for rest in ("-wal", "-shm"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        log_line(
            f"{path} is damaged: {damage}. It is renamed to {aside}, and the cloud starts empty."
        )
    store = Store(path)
    mend(store)
    return store


def _damage(path: Path) -> str | None:
    try:
        with closing(Store(path)) as store:
            results = [str(row[0]) for row in store.rows("PRAGMA quick_check")]
    except sqlite3.OperationalError:
        raise  # Not damage: a folder in its place, or a full disk.
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if results == ["ok"] else results[0]


def mend(store: Store) -> None:
    """Repairs all resources, with a line in server.log for each repair."""
    for row in store.rows("SELECT * FROM resources"):
        if row["id"].lower() != row["key"]:
            _remove(store, row, "its id is not its key")
        elif row["operation"] and not operations.is_open(store, row["operation"]):
            statement = "UPDATE resources SET operation = NULL, state = 'Failed' WHERE key = ?"
            store.rows(statement, row["key"])
            log_line(f"Repaired {row['id']}: its operation no longer exists")
    # In the order of creation: a cluster comes before its pools.
    for row in store.rows("SELECT * FROM resources ORDER BY sequence"):
        if row["type"] in _KINDS:
            _mend_body(store, row)
    for row in store.rows("SELECT * FROM resources ORDER BY sequence"):
        is_inside = row["type"] != groups.TYPE
        if is_inside and not store.rows("SELECT 1 FROM resources WHERE key = ?", row["parent"]):
            _remove(store, row, "its parent no longer exists")


def _mend_body(store: Store, row: sqlite3.Row) -> None:
    """Removes invalid values from a resource, and fills in what it lacks."""
    body, mistakes = _read(row)
    has = set(body.get("properties") or ())
    resource = _with_defaults(store, row, body)
    if resource is None:
        mistakes.append("required properties are missing")
    elif added := sorted(resource.properties.keys() - has):
        # An older version did not have these properties.
        mistakes.append(f"added {', '.join(added)}")
    if not mistakes:
        return
    log_line(f"Repaired {row['id']}: {'; '.join(mistakes)}")
    if resource is None:
        _remove(store, row, "required properties are missing in the rest")
    else:
        store.keep(resource)


def _remove(store: Store, row: sqlite3.Row, reason: str) -> None:
    store.rows("DELETE FROM resources WHERE key = ?", row["key"])
    log_line(f"Removed {row['id']}: {reason}.")


def _read(row: sqlite3.Row) -> tuple[Json, list[str]]:
    """Returns the valid part of a resource's body, and what is wrong with the rest."""
    types, kind = _KINDS[row["type"]]
    mistakes: list[str] = []

    def misfit(misfit: Misfit) -> Any:
        path = ".".join(map(str, misfit.path)) or "its body"
        mistakes.append(f"{path} is not of type {misfit.kind}")
        return bodies.LEFT_OUT

    try:
        stored = json.loads(row["body"])
    except (ValueError, RecursionError):
        return {}, ["its body is not JSON"]
    body = Reader(types, misfit).read(kind, stored)
    if not isinstance(body, dict) or "properties" not in body:
        mistakes.append("it has no properties")
    return (body if isinstance(body, dict) else {}), mistakes


def _with_defaults(store: Store, row: sqlite3.Row, body: Json) -> Resource | None:
    """Returns a resource with missing defaults filled in; None if required values are missing."""
    resource = Resource(
        **{name: row[name] for name in ("id", "type", "parent", "location", "state", "operation")},
        body=body,
        etag=row["etag"],
    )
    has = body.get("properties") or {}
    if row["type"] == groups.TYPE:
        resource.body = {"tags": body.get("tags") or {}, "properties": {}}
        return resource
    if row["type"] == pools.TYPE:
        cluster = store.find(row["parent"])
        if cluster is None or "vmSize" not in has:
            return None
        body["properties"] = has | defaults.pool(has, has, cluster.properties, API_VERSION)
        return resource
    if "resourceUID" not in has or not (has.get("dnsPrefix") or has.get("fqdnSubdomain")):
        return None
    place = resource.name, row["parent"].rpartition("/")[2], resource.location
    body["properties"] = has | defaults.cluster(has, has, place, API_VERSION, {})
    resource.body = {"tags": {}, "sku": defaults.SKU, "identity": None} | body
    return resource
