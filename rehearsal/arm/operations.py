"""Long-running operations: each is due at a set time, and takes effect then.

Nothing waits in memory. Operations that are due take effect before the next request is served, so
they also end on time when the server was stopped in between.
"""

import datetime
import json
import math
import sqlite3
import uuid
from collections.abc import Callable, Iterable

from rehearsal.arm import errors
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.state import Resource, Store

# Seconds at time scale 1: long enough to watch, short enough to wait for.
DURATIONS = {
    "group delete": 4.0,
    "cluster create": 8.0,
    "cluster update": 5.0,
    "cluster delete": 5.0,
    "pool create": 5.0,
    "pool update": 4.0,
    "pool delete": 3.0,
}
STATE_MEANWHILE = {"create": "Creating", "update": "Updating", "delete": "Deleting"}
POLLS_PER_OPERATION = 4

# To clients, a held operation looks like any other that is under way.
HELD = "Held"

# Returns when a due operation ended; None while there is still work for it.
Ended = Callable[[sqlite3.Row, float], float | None]

CONTAINER_SERVICE = "providers/Microsoft.ContainerService/locations/{location}"
PREEMPTED = {
    "code": "OperationPreempted",
    "message": "The resource was deleted with its resource group while the operation ran.",
}


def begin(
    request: Request, kind: str, resources: Iterable[Resource], failure: Json | None = None
) -> str:
    """Starts an operation that ends in success or in the given failure; returns its id.

    The resources already hold their target state.
    """
    operation = str(uuid.uuid4())
    due = request.due(DURATIONS[kind])
    error = json.dumps(failure) if failure else None
    statement = (
        "INSERT INTO operations (id, kind, started, due, error, status)"
        " VALUES (?, ?, ?, ?, ?, 'InProgress')"
    )
    request.store.rows(statement, operation, kind, request.now, due, error)
    for resource in resources:
        resource.operation = operation
        resource.state = STATE_MEANWHILE[kind.split()[1]]
        request.store.write(resource)
    return operation


def complete_due(store: Store, now: float, ended: Ended) -> None:
    """Completes the operations that are due and have no work left."""
    statement = "SELECT * FROM operations WHERE status = 'InProgress' AND due <= ? ORDER BY due"
    for row in store.rows(statement, now):
        # An earlier operation of this round may have cancelled it.
        if _row(store, row["id"])["status"] != "InProgress":
            continue
        end = ended(row, now)
        if end is None:
            continue
        row = _row(store, row["id"])  # noqa: PLW2901 (`ended` may have set its error)
        error = json.loads(row["error"]) if row["error"] else None
        status = "Failed" if error else "Succeeded"
        _end(store, row["id"], end, status, error)
        for resource in store.worked_on_by(row["id"]):
            if row["kind"].endswith("delete") and not error:
                _remove(store, resource, end)
            else:
                resource.operation = None
                resource.state = status
                store.keep(resource)


def fail_when_due(store: Store, operation: str, error: Json) -> None:
    """Makes an operation that is under way fail when it is due."""
    store.rows("UPDATE operations SET error = ? WHERE id = ?", json.dumps(error), operation)


def hold(store: Store, operation: str) -> None:
    """Keeps an operation under way, due or not, until held operations are released."""
    store.rows("UPDATE operations SET status = ? WHERE id = ?", HELD, operation)


def release_held(store: Store) -> None:
    store.rows("UPDATE operations SET status = 'InProgress' WHERE status = ?", HELD)


def _remove(store: Store, resource: Resource, now: float) -> None:
    for inner in store.within(resource.id):
        store.remove(inner)
        if inner.operation and inner.operation != resource.operation:
            _end(store, inner.operation, now, "Canceled", PREEMPTED)


def _end(store: Store, operation: str, now: float, status: str, error: Json | None = None) -> None:
    statement = "UPDATE operations SET status = ?, ended = ?, error = ? WHERE id = ?"
    store.rows(statement, status, now, json.dumps(error) if error else None, operation)


def retry_headers(request: Request, operation: str) -> dict[str, str]:
    """Returns the header that says how soon to ask again.

    `Retry-After` has whole seconds only, and the SDK for Python ignores `Retry-After: 0` and waits
    its default of thirty seconds. It also knows the header in milliseconds.
    """
    row = _row(request.store, operation)
    wait = (row["due"] - row["started"]) / POLLS_PER_OPERATION
    if wait < 1:
        return {"x-ms-retry-after-ms": str(max(1, math.ceil(wait * 1000)))}
    return {"Retry-After": str(round(wait))}


def accepted(request: Request, status: int, operation: str, location: str, body: object) -> Answer:
    """Returns the answer to a request to AKS that goes on in the background."""
    place = f"{request.origin}{request.subscription}/{CONTAINER_SERVICE.format(location=location)}"
    version = f"?api-version={request.api_version}"
    headers = {"Azure-AsyncOperation": f"{place}/operations/{operation}{version}"}
    if status == 202:
        headers["Location"] = f"{place}/operationresults/{operation}{version}"
    return Answer(status, body, headers | retry_headers(request, operation))


def accepted_by_front(request: Request, operation: str) -> Answer:
    """Returns the answer to a request to Resource Manager that goes on in the background."""
    place = f"{request.origin}{request.subscription}/operationresults/{operation}"
    headers = {"Location": f"{place}?api-version={request.api_version}"}
    return Answer(202, None, headers | retry_headers(request, operation))


def show(request: Request) -> Answer:
    row = _row(request.store, request.names["operation"])
    body: Json = {
        "name": row["id"],
        "status": "InProgress" if _is_under_way(row) else row["status"],
        "startTime": _time(row["started"]),
    }
    if row["ended"] is not None:
        body["endTime"] = _time(row["ended"])
        if row["error"] is not None:
            body["error"] = json.loads(row["error"])
    return Answer(200, body, retry_headers(request, row["id"]) if _is_under_way(row) else {})


def show_result(request: Request) -> Answer:
    """Answers at the address in `Location`: 202 during the deletion, then an empty success."""
    row = _row(request.store, request.names["operation"])
    if not _is_under_way(row):
        return Answer(204 if "location" in request.names else 200)
    if "location" in request.names:
        return accepted(request, 202, row["id"], request.names["location"], None)
    return accepted_by_front(request, row["id"])


def _is_under_way(row: sqlite3.Row) -> bool:
    return row["status"] in ("InProgress", HELD)


def _row(store: Store, operation: str) -> sqlite3.Row:
    rows = store.rows("SELECT * FROM operations WHERE id = ?", operation.lower())
    if not rows:
        raise errors.ArmError(errors.NO_OPERATION, name=operation)
    return rows[0]


def _time(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat().replace("+00:00", "Z")


ROUTES = (
    Route("GET", f"/{CONTAINER_SERVICE}/operations/{{operation}}", show),
    Route("GET", f"/{CONTAINER_SERVICE}/operationresults/{{operation}}", show_result),
    Route("GET", "/operationresults/{operation}", show_result),
)
