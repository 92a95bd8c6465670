"""Resource groups."""

from aks_catalogue import regions, resource_groups
from aks_catalogue.regions import plain
from rehearsal.arm import bodies, errors, operations
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resource_type import Change, Place, ResourceType
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
CHANGES = frozenset(["PUT", "PATCH", "DELETE"])


class _Groups(Place[None]):
    def find(self, request: Request) -> Resource | None:
        """Returns the group in the path; AKS has created those of nodes."""
        if group := super().find(request):
            return group
        name = request.names["group"].lower()
        return next((group for group in _of_nodes(request) if group.name.lower() == name), None)


GROUPS = _Groups(
    "/resourceGroups/{group}",
    above=lambda _: None,
    missing=lambda request: errors.ArmError(errors.NO_GROUP, name=request.names["group"]),
)


def above(request: Request) -> Resource:
    """Returns the group in the path; refuses a change in one that is being deleted."""
    return open_to_change(request) if request.http.method in CHANGES else GROUPS.existing(request)


def open_to_change(request: Request) -> Resource:
    """Returns the group in the path; refuses one that is being deleted."""
    group = GROUPS.existing(request)
    _refuse_going(group)
    return group


def _refuse_going(group: Resource) -> None:
    if group.operation is not None:
        raise errors.ArmError(errors.GROUP_GOING, name=group.name)


def all_groups(request: Request) -> list[Resource]:
    """Returns the groups of the subscription, with those of nodes."""
    groups = request.store.of_type(TYPE)
    stored = {group.id.lower() for group in groups}
    return [*groups, *(each for each in _of_nodes(request) if each.id.lower() not in stored)]


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


def _put(request: Request, _: None, present: Resource | None) -> Change:
    name, body = request.names["group"], _read(request)
    location = required_location(body)
    if not resource_groups.NAME.fullmatch(name):
        refusal, rule = errors.BAD_GROUP_NAME, resource_groups.NAME_RULE
        raise errors.ArmError(refusal, name=name, rule=rule)
    if location not in regions.regions():
        known = ",".join(regions.regions())
        refusal = errors.NO_LOCATION_FOR_GROUP
        raise errors.ArmError(refusal, location=request.body["location"], locations=known)
    tags_sent = {"tags": body.get("tags") or {}}
    if present is None:
        place = GROUPS.id(request), TYPE, request.subscription, location
        return Change(Resource(*place, tags_sent, "Succeeded"))
    _refuse_going(present)
    refuse_move(present, location, errors.GROUP_MOVED)
    return Change(present.with_body(present.body | tags_sent))


def _patch(request: Request, _: None, group: Resource) -> Change:
    _refuse_going(group)
    body = _read(request)
    changed = {"tags": body["tags"] or {}} if "tags" in body else {}
    return Change(group.with_body(group.body | changed))


def _read(request: Request) -> Json:
    reader = bodies.Reader(TYPES, bodies.of_resource_manager)
    body: Json = reader.read("ResourceGroup", request.body)
    tags.admit(body.get("tags"))
    return body


def delete(request: Request) -> Answer:
    group = GROUPS.existing(request)
    if group.body.get("managedBy"):
        what = "the deletion of the resource group of a cluster's nodes"
        raise errors.ArmError(errors.NOT_REHEARSED, what=what)
    operation = group.operation or operations.begin(request, Kind.GROUP_DELETE, [group])
    return operations.accepted_by_front(request, operation)


def list_all(request: Request) -> Answer:
    if chosen := {"$filter", "$top"} & request.http.query.keys():
        # To leave it out would list more than what was asked for.
        what = f"{' and '.join(sorted(chosen))} of the list of resource groups"
        raise errors.ArmError(errors.NOT_REHEARSED, what=what)
    return request.page(all_groups(request), lambda group: _shown(request, group))


def _shown(_: Request, group: Resource) -> Json:
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


ROUTES = (
    *ResourceType(GROUPS, _put, _shown, _patch).routes("PUT", "PATCH", "GET", "HEAD"),
    Route("DELETE", GROUPS.path, delete),
    Route("GET", "/resourceGroups", list_all),
)
