"""Capacity reservation groups, and the reservations of machines in them."""

from rehearsal.arm import errors
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource, Store

TYPE = "Microsoft.Compute/capacityReservationGroups"
RESERVATION = f"{TYPE}/capacityReservations"
PATH = f"/resourceGroups/{{group}}/providers/{TYPE}/{{reservations}}"


def put_group(request: Request) -> Answer:
    return _put(request, TYPE, groups.open_to_change(request).id, _id(request))


def put(request: Request) -> Answer:
    parent = _existing(request, _id(request), TYPE)
    identifier = f"{parent.id}/capacityReservations/{request.names['reservation']}"
    return _put(request, RESERVATION, parent.id, identifier)


def get_group(request: Request) -> Answer:
    return Answer(200, _shown(request, _existing(request, _id(request), TYPE)))


def list_in_group(request: Request) -> Answer:
    group = _existing(request, _id(request), TYPE)
    found = request.store.children(group.id, RESERVATION)
    return Answer(200, {"value": [_shown(request, item) for item in found]})


def find(store: Store, identifier: str) -> Resource | None:
    """Returns the group with a resource ID."""
    found = store.find(identifier)
    return found if found is not None and found.type == TYPE else None


def reservations(store: Store, group: Resource) -> list[Resource]:
    return store.children(group.id, RESERVATION)


def _put(request: Request, kind: str, parent: str, identifier: str) -> Answer:
    present = request.store.find(identifier)
    location = groups.required_location(request.body)
    groups.refuse_move(present, location, errors.RESOURCE_MOVED)
    body: Json = {
        name: request.body[name] for name in ("sku", "tags", "zones") if name in request.body
    }
    resource = Resource(identifier, kind, parent, location, body, "Succeeded")
    request.store.write(resource)
    return Answer(200 if present else 201, _shown(request, resource))


def _shown(request: Request, resource: Resource) -> Json:
    properties: Json = {"provisioningState": resource.state}
    if resource.type == TYPE:
        inside = reservations(request.store, resource)
        properties = {"capacityReservations": [{"id": item.id} for item in inside]}
    return {
        "id": resource.id,
        "name": resource.name,
        "type": resource.type,
        "location": resource.location,
        **resource.body,
        "properties": properties,
    }


def _existing(request: Request, identifier: str, kind: str) -> Resource:
    found = request.store.find(identifier)
    if found is None:
        words = {"name": identifier.rpartition("/")[2], "group": request.names["group"]}
        raise errors.ArmError(errors.NO_RESOURCE, type=kind, **words)
    return found


def _id(request: Request) -> str:
    return f"{request.subscription}{PATH.format(**request.names)}"


ROUTES = (
    Route("PUT", PATH, put_group),
    Route("GET", PATH, get_group),
    Route("GET", f"{PATH}/capacityReservations", list_in_group),
    Route("PUT", f"{PATH}/capacityReservations/{{reservation}}", put),
)
