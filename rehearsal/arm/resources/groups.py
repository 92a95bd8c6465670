"""Resource groups."""

from catalogue import regions, resource_groups
from catalogue.regions import plain
from rehearsal.arm import bodies, errors, filters, operations
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resources import tags
from rehearsal.arm.state import Resource

TYPE = "Microsoft.Resources/resourceGroups"
# As of azure-mgmt-resource 26.0; other fields of a body are ignored.
TYPES = {
    "ResourceGroup": {
        "location": "string",
        "managedBy": "string",
        "properties": "anything",
        "tags": "map of string",
    }
}
FILTERS = ("name", "location", "tagName", "tagValue")


def existing(request: Request) -> Resource:
    """Returns the resource group in the path."""
    group = _find(request)
    if group is None:
        raise errors.ArmError(errors.NO_GROUP, name=request.names["group"])
    return group


def _find(request: Request) -> Resource | None:
    if group := request.store.find(request.group):
        return group
    name = request.names["group"].lower()
    return next((group for group in _of_nodes(request) if group.name.lower() == name), None)


def all_groups(request: Request) -> list[Resource]:
    """Returns the groups of the subscription, with those of nodes."""
    return [*request.store.of_type(TYPE), *_of_nodes(request)]


def _of_nodes(request: Request) -> list[Resource]:
    """Returns the groups that AKS has created for the nodes of clusters."""
    return [
        Resource(
            f"{request.subscription}/resourceGroups/{row['name']}",
            TYPE,
            request.subscription,
            row["location"],
            {"tags": {}, "managedBy": row["id"]},
            "Succeeded",
        )
        for row in request.store.rows(
            "SELECT id, location, json_extract(body, '$.properties.nodeResourceGroup') AS name"
            " FROM resources WHERE type = 'Microsoft.ContainerService/managedClusters'"
        )
    ]


def open_to_change(request: Request) -> Resource:
    """Returns the resource group in the path; refuses one that is being deleted."""
    group = existing(request)
    if group.operation is not None:
        raise errors.ArmError(errors.GROUP_GOING, name=group.name)
    return group


def put(request: Request) -> Answer:
    name, body = request.names["group"], _read(request)
    location = required_location(body)
    if not resource_groups.NAME.fullmatch(name):
        raise errors.ArmError(errors.BAD_GROUP_NAME, name=name, rule=resource_groups.NAME_RULE)
    if location not in regions.regions():
        known = ",".join(regions.regions())
        refusal = errors.NO_LOCATION_FOR_GROUP
        raise errors.ArmError(refusal, location=request.body["location"], locations=known)
    present = request.store.find(request.group)
    if present is not None:
        open_to_change(request)
        refuse_move(present, location, errors.GROUP_MOVED)
    group = present or Resource(
        request.group, TYPE, request.subscription, location, {}, "Succeeded"
    )
    group.body = {"tags": body.get("tags") or {}, "properties": {}}
    request.store.write(group)
    return Answer(200 if present else 201, response_body(group))


def patch(request: Request) -> Answer:
    group = open_to_change(request)
    body = _read(request)
    if "tags" in body:
        group.body["tags"] = body["tags"] or {}
    request.store.write(group)
    return Answer(200, response_body(group))


def _read(request: Request) -> Json:
    body: Json = bodies.Reader(TYPES, bodies.of_resource_manager).read(
        "ResourceGroup", request.body
    )
    tags.admit(body.get("tags"))
    return body


def get(request: Request) -> Answer:
    return Answer(200, response_body(existing(request)))


def head(request: Request) -> Answer:
    return Answer(204 if _find(request) else 404)


def delete(request: Request) -> Answer:
    group = existing(request)
    if group.body.get("managedBy"):
        what = "the deletion of the resource group of a cluster's nodes"
        raise errors.ArmError(errors.NOT_REHEARSED, what=what)
    operation = group.operation or operations.begin(request, "group delete", [group])
    return operations.accepted_by_front(request, operation)


def list_all(request: Request) -> Answer:
    conditions = filters.conditions(request, FILTERS)
    groups = map(response_body, all_groups(request))
    matching = (group for group in groups if filters.meets(group, conditions))
    return request.page(filters.top(request, matching), dict)


def response_body(group: Resource) -> Json:
    return {
        "id": group.id,
        "name": group.name,
        "type": TYPE,
        "location": group.location,
        **({"managedBy": group.body["managedBy"]} if "managedBy" in group.body else {}),
        "tags": group.body["tags"],
        "properties": {"provisioningState": group.state},
    }


def required_location(body: Json) -> str:
    """Returns the normalized location in a body: `East US` becomes `eastus`."""
    location = body.get("location")
    if not isinstance(location, str) or not location:
        raise errors.ArmError(errors.NO_LOCATION)
    return plain(location)


def refuse_move(present: Resource | None, location: str, refusal: errors.Refusal) -> None:
    if present is not None and present.location != location:
        words = {"name": present.name, "present": present.location, "requested": location}
        raise errors.ArmError(refusal, "location", **words)


PATH = "/resourceGroups/{group}"
ROUTES = (
    Route("PUT", PATH, put),
    Route("PATCH", PATH, patch),
    Route("GET", PATH, get),
    Route("HEAD", PATH, head),
    Route("DELETE", PATH, delete),
    Route("GET", "/resourceGroups", list_all),
)
