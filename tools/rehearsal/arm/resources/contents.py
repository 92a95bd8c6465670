"""The lists of resources of a subscription and of a resource group."""

from rehearsal.arm import filters
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resources import groups
from rehearsal.arm.state import Resource

FILTERS = ("location", "name", "resourceGroup", "resourceType", "tagName", "tagValue")
# The parts of a resource's body that these lists have.
KNOWN = ("sku", "kind", "identity", "tags")


def list_all(request: Request) -> Answer:
    return _listed(request, request.store.within(request.subscription))


def list_in_group(request: Request) -> Answer:
    return _listed(request, request.store.within(groups.above(request).id))


def _listed(request: Request, resources: list[Resource]) -> Answer:
    conditions = filters.conditions(request, FILTERS)
    expanded = (request.http.query.get("$expand") or "").split(",")
    # Top-level resources only: no resource groups, no child resources, and nothing without a
    # place, as role assignments.
    items = [_entry(request, item, expanded) for item in resources if _is_tracked(item)]
    return Answer(
        200, {"value": filters.top(request, (i for i in items if filters.meets(i, conditions)))}
    )


def _is_tracked(resource: Resource) -> bool:
    return (
        resource.type != groups.TYPE and resource.type.count("/") == 1 and resource.location != ""
    )


def _entry(request: Request, resource: Resource, expanded: list[str]) -> Json:
    # Here the group's id has Resource Manager's spelling, even for resources of AKS.
    group = request.store.find(resource.parent)
    _, _, inside = resource.id.partition("/providers/")
    item = {
        "id": f"{group.id if group else resource.parent}/providers/{inside}",
        "name": resource.name,
        "type": resource.type,
        "location": resource.location,
        **{name: resource.body[name] for name in KNOWN if resource.body.get(name)},
    }
    return item | ({"provisioningState": resource.state} if "provisioningState" in expanded else {})


ROUTES = (
    Route("GET", "/resources", list_all),
    Route("GET", "/resourceGroups/{group}/resources", list_in_group),
)
