"""What a state holds that no request could bring there now: an older release took it.

Everything that reads the state relies on the types of the API. So a value of another kind goes when
the server starts, as if it had never been sent, and what cannot be without it goes as well.
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


def opened(path: Path) -> Store:
    """Returns what is stored, mended. A file that is no database any more is set aside."""
    if damage := _damage(path):
        aside = path.with_name(f"{path.name}.damaged")
        path.replace(aside)
        for rest in ("-wal", "-shm"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        log_line(f"{path} is damaged: {damage}. It is {aside} now, and a new one begins.")
    store = Store(path)
    mend(store)
    return store


def _damage(path: Path) -> str | None:
    try:
        with closing(Store(path)) as store:
            found = [str(row[0]) for row in store.rows("PRAGMA quick_check")]
    except sqlite3.OperationalError:
        raise  # No fault of the file: a folder in its place, or no room on the disk.
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if found == ["ok"] else found[0]


def mend(store: Store) -> None:
    """Mends each resource; server.log has a line about each that needed it."""
    for row in store.rows("SELECT * FROM resources"):
        if row["type"] not in _KINDS or row["id"].lower() != row["key"]:
            _remove(store, row, "it is none of a resource")
        elif row["operation"] and not operations.is_open(store, row["operation"]):
            statement = "UPDATE resources SET operation = NULL, state = 'Failed' WHERE key = ?"
            store.rows(statement, row["key"])
            log_line(f"{row['id']} is mended: what it waited for is gone")
    # In the order in which they were made: a cluster comes before its pools.
    for row in store.rows("SELECT * FROM resources ORDER BY sequence"):
        _mend_body(store, row)
    for row in store.rows("SELECT * FROM resources ORDER BY sequence"):
        is_inside = row["type"] != groups.TYPE
        if is_inside and not store.rows("SELECT 1 FROM resources WHERE key = ?", row["parent"]):
            _remove(store, row, "what it was in is gone")


def _mend_body(store: Store, row: sqlite3.Row) -> None:
    """Takes out what is wrong in a resource, and fills in what it lacks."""
    body, mistakes = _read(row)
    has = set(body.get("properties") or ())
    resource = _whole(store, row, body)
    if resource is None:
        mistakes.append("it says too little")
    elif added := sorted(resource.properties.keys() - has):
        # Of an older version, which did not know it.
        mistakes.append(f"it has no {', '.join(added)}")
    if not mistakes:
        return
    log_line(f"{row['id']} is mended: {'; '.join(mistakes)}")
    if resource is None:
        _remove(store, row, "the rest of it says too little")
    else:
        store.keep(resource)


def _remove(store: Store, row: sqlite3.Row, reason: str) -> None:
    store.rows("DELETE FROM resources WHERE key = ?", row["key"])
    log_line(f"{row['id']} is gone: {reason}.")


def _read(row: sqlite3.Row) -> tuple[Json, list[str]]:
    """Returns what is right about a resource, and what is not."""
    types, kind = _KINDS[row["type"]]
    mistakes: list[str] = []

    def misfit(found: Misfit) -> Any:
        path = ".".join(map(str, found.path)) or "all of it"
        mistakes.append(f"{path} is no {found.kind}")
        return bodies.LEFT_OUT

    try:
        stored = json.loads(row["body"])
    except (ValueError, RecursionError):
        return {}, ["it is no JSON"]
    body = Reader(types, misfit).read(kind, stored)
    if not isinstance(body, dict) or "properties" not in body:
        mistakes.append("it has no properties")
    return (body if isinstance(body, dict) else {}), mistakes


def _whole(store: Store, row: sqlite3.Row, body: Json) -> Resource | None:
    """Returns a resource with the defaults of what it lacks; None if more is missing."""
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
