"""Resource groups."""

import re

from rehearsal.arm import errors, operations
from rehearsal.arm.call import Answer, Call, Json
from rehearsal.arm.routes import Route
from rehearsal.arm.state import Resource

TYPE = "Microsoft.Resources/resourceGroups"
NAME = re.compile(r"[\w().-]{0,89}[\w()-]")


def existing(call: Call) -> Resource:
    """The resource group that the path names."""
    group = call.store.find(call.group)
    if group is None:
        raise errors.ArmError(errors.NO_GROUP, name=call.names["group"])
    return group


def open_to_change(call: Call) -> Resource:
    """The resource group that the path names, unless it is being deleted."""
    group = existing(call)
    if group.operation is not None:
        raise errors.ArmError(errors.GROUP_GOING, name=group.name)
    return group


def put(call: Call) -> Answer:
    name, location = call.names["group"], required_location(call.body)
    if not NAME.fullmatch(name):
        raise errors.ArmError(errors.BAD_GROUP_NAME, name=name)
    present = call.store.find(call.group)
    if present is not None:
        open_to_change(call)
        if present.location != location:
            raise errors.ArmError(
                errors.GROUP_MOVED, "location", wanted=location, present=present.location
            )
    group = present or Resource(call.group, TYPE, call.subscription, location, {}, "Succeeded")
    group.body = {"tags": call.body.get("tags") or {}, "properties": {}}
    call.store.write(group)
    return Answer(200 if present else 201, shown(group))


def patch(call: Call) -> Answer:
    group = open_to_change(call)
    group.body["tags"] = call.body.get("tags") or {}
    call.store.write(group)
    return Answer(200, shown(group))


def get(call: Call) -> Answer:
    return Answer(200, shown(existing(call)))


def head(call: Call) -> Answer:
    return Answer(204 if call.store.find(call.group) else 404)


def delete(call: Call) -> Answer:
    group = existing(call)
    if group.operation is None:
        operation = operations.begin(call, "group delete", [group])
    else:
        operation = group.operation
    return operations.accepted_by_front(call, operation)


def list_all(call: Call) -> Answer:
    return Answer(200, {"value": [shown(group) for group in call.store.of_type(TYPE)]})


def shown(group: Resource) -> Json:
    return {
        "id": group.id,
        "name": group.name,
        "type": TYPE,
        "location": group.location,
        "tags": group.body["tags"],
        "properties": {"provisioningState": group.state},
    }


def required_location(body: Json) -> str:
    """The location a body names; `East US` and `eastus` are one."""
    location = body.get("location")
    if not isinstance(location, str) or not location:
        raise errors.ArmError(errors.NO_LOCATION)
    return location.replace(" ", "").lower()


PATH = "/resourceGroups/{group}"
ROUTES = (
    Route("PUT", PATH, put),
    Route("PATCH", PATH, patch),
    Route("GET", PATH, get),
    Route("HEAD", PATH, head),
    Route("DELETE", PATH, delete),
    Route("GET", "/resourceGroups", list_all),
)
