"""Long-running operations: each has a due time, at which it takes effect.

Nothing waits in memory: due operations take effect before the next request is served. So they also
end on time if the server was stopped in between.
"""

import base64
import binascii
import datetime
import hashlib
import json
import math
import sqlite3
import uuid
from collections.abc import Callable, Iterable
from enum import Enum
from urllib.parse import urlencode

from rehearsal.arm import errors
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.state import Resource, Store

_NODES = "{done}/{nodes} nodes completed"
_OF_CREATION = (
    "ProvisioningNetworkResources",
    "ProvisioningControlPlane",
    "ReconcilingDNS",
    "CreatingAgentPools",
    f"CreatingAgentPools: {_NODES}",
    "ReconcilingAddons",
)


class Kind(Enum):
    """A kind of operation: its duration, and the states that it shows."""

    GROUP_DELETE = 4.0, "Deleting"
    CLUSTER_CREATE = 8.0, "Creating", _OF_CREATION
    CLUSTER_UPDATE = 5.0, "Updating", (_OF_CREATION[1], _OF_CREATION[-1])
    CLUSTER_DELETE = 5.0, "Deleting"
    CLUSTER_STOP = 4.0, "Stopping"
    CLUSTER_START = 6.0, "Starting"
    POOL_CREATE = 5.0, "Creating", (f"CreatingAgentPool: {_NODES}",)
    POOL_UPDATE = 4.0, "Updating"
    POOL_DELETE = 3.0, "Deleting"

    def __init__(self, seconds: float, meanwhile: str, steps: tuple[str, ...] = ()) -> None:
        # In seconds at time scale 1: long enough to watch, short enough to wait for.
        self.seconds = seconds
        # The provisioning state of its resources until it ends.
        self.meanwhile = meanwhile
        # The statuses that it shows, in this order.
        self.steps = steps


DELETIONS = (Kind.GROUP_DELETE, Kind.CLUSTER_DELETE, Kind.POOL_DELETE)
POLLS_PER_OPERATION = 4
# How long the status of an ended operation is available.
KEPT_SECONDS = 86_400.0

# The key of an error that an operation shows without failing.
PASSING = "passing"
# To clients, a held operation looks like any other in progress.
HELD = "Held"

# Returns the time at which a due operation ended; None while it still has work to do.
Ended = Callable[[sqlite3.Row, float], float | None]

CONTAINER_SERVICE = "providers/Microsoft.ContainerService/locations/{location}"
# The operation URLs of AKS have an api-version of their own and signatures: 1.5 KB at least.
API_VERSION = "2025-03-01"
CERTIFICATE_LETTERS, SIGNATURE_LETTERS, HASH_LETTERS = 1300, 342, 43
TICKS_OF_1970, TICKS_A_SECOND = 621_355_968_000_000_000, 10_000_000

PREEMPTED = {
    "code": "OperationPreempted",
    "message": "The resource was deleted with its resource group while the operation ran.",
}


def begin(
    request: Request,
    kind: Kind,
    resources: Iterable[Resource],
    failure: Json | None = None,
    meanwhile: str | None = None,
) -> str:
    """Starts an operation that ends in success or in the given failure; returns its id.

    The resources already hold their target state. `meanwhile` is their provisioning state until the
    end, if it differs from the kind's.
    """
    operation = str(uuid.uuid4())
    due = request.due(kind.seconds)
    error = json.dumps(failure) if failure else None
    request.store.rows("DELETE FROM operations WHERE ended < ?", request.now - KEPT_SECONDS)
    statement = (
        "INSERT INTO operations (id, kind, started, due, error, status)"
        " VALUES (?, ?, ?, ?, ?, 'InProgress')"
    )
    request.store.rows(statement, operation, kind.name, request.now, due, error)
    for resource in resources:
        resource.operation = operation
        resource.state = meanwhile or kind.meanwhile
        request.store.write(resource)
    return operation


def complete_due(store: Store, now: float, ended: Ended) -> None:
    """Completes the operations that are due and have no work left.

    An operation that began in the future began before the clock was set back: it restarts now.
    """
    for table, began in (("operations", "started"), ("registrations", "asked")):
        moved = f"UPDATE {table} SET due = due - {began} + ?, {began} = ? WHERE {began} > ?"  # noqa: S608
        store.rows(moved, now, now, now)
    statement = "SELECT * FROM operations WHERE status = 'InProgress' AND due <= ? ORDER BY due"
    for row in store.rows(statement, now):
        # An operation completed in this loop may have cancelled it.
        if _row(store, row["id"])["status"] != "InProgress":
            continue
        end = ended(row, now)
        if end is None:
            continue
        row = _row(store, row["id"])  # noqa: PLW2901 (`ended` may have set its error)
        kind, status = Kind[row["kind"]], "Failed" if fails(row) else "Succeeded"
        _end(store, row["id"], end, status, json.loads(row["error"] or "null"))
        for resource in store.worked_on_by(row["id"]):
            if kind in DELETIONS and status == "Succeeded":
                _remove(store, resource, end)
            else:
                resource.operation = None
                resource.state = status
                # The etag differs from the one in the response to the request.
                store.write(resource)


def fail_when_due(store: Store, operation: str, error: Json) -> None:
    """Makes an operation in progress fail when it is due."""
    store.rows("UPDATE operations SET error = ? WHERE id = ?", json.dumps(error), operation)


def accompany(store: Store, operation: str, error: Json) -> None:
    """Makes an operation show an error, while it runs and afterwards, without failing."""
    fail_when_due(store, operation, {PASSING: error})


def fails(row: sqlite3.Row) -> bool:
    """Returns whether a due operation ends in a failure."""
    return bool(row["error"]) and PASSING not in json.loads(row["error"])


def hold(store: Store, operation: str) -> None:
    """Keeps an operation in progress until held operations are released."""
    store.rows("UPDATE operations SET status = ? WHERE id = ?", HELD, operation)


def release_held(store: Store) -> None:
    store.rows("UPDATE operations SET status = 'InProgress' WHERE status = ?", HELD)


def _remove(store: Store, resource: Resource, now: float) -> None:
    for inner in store.within(resource.id):
        store.remove(inner)
        # The group of a cluster's nodes goes with the cluster.
        if nodes := inner.body.get("properties", {}).get("nodeResourceGroup"):
            subscription = "/".join(inner.id.split("/")[:3])
            for beside in store.within(f"{subscription}/resourceGroups/{nodes}"):
                store.remove(beside)
        if inner.operation and inner.operation != resource.operation:
            _end(store, inner.operation, now, "Canceled", PREEMPTED)


def _end(store: Store, operation: str, now: float, status: str, error: Json | None = None) -> None:
    statement = "UPDATE operations SET status = ?, ended = ?, error = ? WHERE id = ?"
    store.rows(statement, status, now, json.dumps(error) if error else None, operation)


def retry_headers(request: Request, operation: str) -> dict[str, str]:
    """Returns the header with the time until the next poll.

    AKS sends none, and clients then wait thirty seconds. `Retry-After` has whole seconds only, and
    the SDK for Python treats `Retry-After: 0` as no header, so times below a second go into the
    header in milliseconds, which it reads too.
    """
    row = _row(request.store, operation)
    wait = (row["due"] - row["started"]) / POLLS_PER_OPERATION
    if wait < 1:
        return {"x-ms-retry-after-ms": str(max(1, math.ceil(wait * 1000)))}
    return {"Retry-After": str(round(wait))}


def accepted(request: Request, status: int, operation: str, location: str, body: object) -> Answer:
    """Returns AKS's answer to a request whose operation continues in the background."""
    headers = {"Azure-AsyncOperation": _address(request, "operations", operation, location)}
    if status == 202:
        headers["Location"] = _address(request, "operationresults", operation, location)
    return Answer(status, body, headers | retry_headers(request, operation))


def _address(request: Request, kind: str, operation: str, location: str) -> str:
    place = f"{request.origin}{request.subscription}/{CONTAINER_SERVICE.format(location=location)}"
    query = {
        "api-version": API_VERSION,
        "t": str(TICKS_OF_1970 + int(request.now * TICKS_A_SECOND)),
        "c": _letters(f"certificate {request.subscription}", CERTIFICATE_LETTERS),
        "s": _letters(f"signature {operation} {request.now}", SIGNATURE_LETTERS),
        "h": _letters(f"hash {operation} {request.now}", HASH_LETTERS),
    }
    return f"{place}/{kind}/{operation}?{urlencode(query)}"


def _letters(seed: str, count: int) -> str:
    """Returns letters that look like a signature. Nobody checks them."""
    content = hashlib.shake_256(seed.encode()).digest(count)
    return base64.urlsafe_b64encode(content).decode()[:count]


def accepted_by_front(request: Request, operation: str) -> Answer:
    """Returns Resource Manager's answer to a request that continues in the background.

    Its URL has an opaque token, which differs in every response.
    """
    content = json.dumps([operation, str(uuid.uuid4())]).encode()
    token = base64.urlsafe_b64encode(content).decode().rstrip("=")
    place = f"{request.origin}{request.subscription}/operationresults/{token}"
    headers = {"Location": f"{place}?api-version={request.api_version}"}
    return Answer(202, None, headers | retry_headers(request, operation))


def _in_token(token: str) -> str:
    try:
        operation, _ = json.loads(base64.urlsafe_b64decode(token + "=="))
    except (binascii.Error, ValueError, TypeError):
        raise errors.ArmError(errors.NO_OPERATION, name=token) from None
    return str(operation)


def show(request: Request) -> Answer:
    """Serves the URL in `Azure-AsyncOperation`."""
    row = _row(request.store, request.names["operation"])
    is_under_way = _is_under_way(row)
    status = _step(request, row) if is_under_way else row["status"]
    body: Json = {"name": row["id"], "status": status, "startTime": timestamp(row["started"])}
    if not is_under_way:
        body["endTime"] = timestamp(row["ended"])
    error = json.loads(row["error"] or "{}")
    if PASSING in error:
        body["error"] = error[PASSING]
    elif error and not is_under_way:
        body["error"] = error
    return Answer(200, body, retry_headers(request, row["id"]) if is_under_way else {})


def _step(request: Request, row: sqlite3.Row) -> str:
    """Returns the status that an operation in progress shows."""
    steps = ("InProgress", *Kind[row["kind"]].steps)
    duration = max(row["due"] - row["started"], 1e-9)
    progress = len(steps) * (request.now - row["started"]) / duration
    number = max(0, min(int(progress), len(steps) - 1))
    nodes = sum(
        resource.properties.get("count") or 0
        for resource in request.store.worked_on_by(row["id"])
        if resource.type.endswith("agentPools")
    )
    done = min(nodes, int(nodes * (progress - number)))
    return steps[number].format(done=done, nodes=nodes)


def show_result(request: Request) -> Answer:
    """Serves the URL in `Location`, while the operation runs and afterwards."""
    in_aks = "location" in request.names
    name = request.names["operation"] if in_aks else _in_token(request.names["token"])
    row = _row(request.store, name)
    if not in_aks:
        return accepted_by_front(request, row["id"]) if _is_under_way(row) else Answer(200)
    address = _address(request, "operationresults", row["id"], request.names["location"])
    if not _is_under_way(row):
        return Answer(204, None, {"Location": address})
    body = {"startTime": timestamp(row["started"]), "status": _step(request, row)}
    return Answer(202, body, {"Location": address} | retry_headers(request, row["id"]))


def _is_under_way(row: sqlite3.Row) -> bool:
    return row["status"] in ("InProgress", HELD)


def _row(store: Store, operation: str) -> sqlite3.Row:
    rows = store.rows("SELECT * FROM operations WHERE id = ?", operation.lower())
    if not rows:
        raise errors.ArmError(errors.NO_OPERATION, name=operation)
    return rows[0]


def timestamp(moment: float) -> str:
    """Returns a time as AKS writes it: without trailing zeros."""
    text = f"{datetime.datetime.fromtimestamp(moment, datetime.UTC):%Y-%m-%dT%H:%M:%S.%f}"
    return text.rstrip("0").rstrip(".") + "Z"


ROUTES = (
    Route("GET", f"/{CONTAINER_SERVICE}/operations/{{operation}}", show),
    Route("GET", f"/{CONTAINER_SERVICE}/operationresults/{{operation}}", show_result),
    Route("GET", "/operationresults/{token}", show_result),
)
