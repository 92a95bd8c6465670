"""All other types of Azure: stored, not simulated. What was sent comes back, and nothing else acts.

Their tables are in stored.toml.
"""

import re
import tomllib
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from aks_catalogue import regions
from aks_catalogue.regions import plain
from rehearsal.arm import bodies, errors
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.resource_type import Change, Place, ResourceType
from rehearsal.arm.resources import groups, tags
from rehearsal.arm.state import Resource, Store
from rehearsal.offline_plug_ins import MADE_UP

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _kinds(name: str) -> frozenset[str]:
    """Returns the types of a list, in lower case."""
    return frozenset(map(str.lower, _TABLES[name]))


def _by_kind(name: str) -> dict[str, Any]:
    """Returns what a table says of types, which are in lower case."""
    return {kind.lower(): about for kind, about in _TABLES[name].items()}


PROVIDERS: tuple[str, ...] = tuple(_TABLES["providers"])
_MADE, _INLINE, _LISTED = map(_by_kind, ("made", "inline", "listed"))
_PLAYED, _PLACED, _NEVER_201 = map(_kinds, ("played", "placed", "never_201"))
_NOT_STORED, _OF_AKS = map(_kinds, ("not_stored", "of_aks"))
_AKS = "microsoft.containerservice"
_ROLE, _ASSIGNMENT = (
    f"Microsoft.Authorization/{name}" for name in ("roleDefinitions", "roleAssignments")
)
_POOL, _SUBNET = (
    "Microsoft.ContainerService/managedClusters/agentPools",
    "microsoft.network/virtualnetworks/subnets",
)
# The envelope of every type; the rest of a body is the type's own.
_TYPES = {
    "Resource": {
        "location": "string",
        "tags": "map of string",
        "properties": "map of anything",
        "identity": "map of anything",
    }
}
# A resource can be in the scope of another one.
_PATH = re.compile(
    r"(?P<scope>(/resourceGroups/(?P<group>[^/]+)(/providers/.+)?)?)"
    r"/providers/(?P<inside>[^/]+(/[^/]+)+)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(\w+) eq '([^']*)'", re.IGNORECASE)


def route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Returns the route of a request for a type that is stored, and the names in its path."""
    found = _PATH.fullmatch(path)
    if found is None or not _is_stored(kind := _kind(inside := found["inside"])):
        return None
    _, *segments = inside.split("/")
    handlers = _OF_LISTS if len(segments) % 2 else _OF_RESOURCES
    if kind.lower() == _ROLE.lower():
        handlers = _OF_ROLES
    if segments[-1].lower() == "checknameavailability":
        handlers = _OF_NAMES
    if method not in handlers:
        return None
    handler = handlers[method]
    is_played = kind.lower() in _PLAYED
    return Route(method, path, handler if is_played else _told(handler)), found.groupdict("")


def _is_stored(kind: str) -> bool:
    namespace, _, inside = kind.lower().partition("/")
    if namespace == _AKS:
        return inside in _OF_AKS
    own = (namespace, f"{namespace}/{inside.partition('/')[0]}")
    return "." in namespace and not inside.startswith("locations") and not _NOT_STORED & {*own}


def told(store: Store) -> list[str]:
    """Returns the types of the resources that are stored only, each once."""
    kinds = (row["type"] for row in store.rows("SELECT DISTINCT type FROM resources"))
    return sorted(kind for kind in kinds if kind.lower() not in _PLAYED and _is_stored(kind))


def is_missing(request: Request, identifier: str) -> bool:
    """Whether a resource of this subscription does not exist. Others cannot be looked up."""
    is_of_this = identifier.lower().startswith(f"{request.subscription}/".lower())
    return is_of_this and request.store.find(identifier.rstrip("/")) is None


# The header of each answer, which is in the log as well, if nothing of the type is simulated.
HEADER, NOTE = "x-rehearsal", "stored, not simulated"


def _told(handler: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    def told(request: Request) -> Answer:
        answer = handler(request)
        return replace(answer, headers={**answer.headers, HEADER: NOTE})

    return told


def _put(request: Request, above: str, present: Resource | None) -> Change:
    body = _read(request)
    location, kind = _location(request, body, present), _kind(request.names["inside"])
    resource = present or Resource(PLACE.id(request), kind, above, location, {}, "Succeeded")
    change = _changed(request, resource, body)
    return replace(change, created=200) if kind.lower() in _NEVER_201 else change


def _patch(request: Request, _: str, resource: Resource) -> Change:
    body = _read(request)
    body.pop("location", None)
    inside = {**_with_inline(request, resource), **body.get("properties", {})}
    return _changed(request, resource, {**resource.body, **body, "properties": inside})


def _delete(request: Request, _: str, resource: Resource) -> Change:
    _refuse_in_use(request, request.store.within(resource.id))
    return Change(resource)


def _refuse_in_use(request: Request, going: Iterable[Resource]) -> None:
    """Refuses to delete subnets in which nodes or their pods are."""
    subnets = {each.id.lower(): each.name for each in going if each.type.lower() == _SUBNET}
    for pool in request.store.of_type(_POOL) if subnets else ():
        for path in ("vnetSubnetID", "podSubnetID"):
            name = subnets.get(str(pool.properties.get(path)).rstrip("/").lower())
            if name and pool.properties["count"]:
                raise errors.ArmError(errors.SUBNET_IN_USE, name=name, user=pool.id)


def list_all(request: Request) -> Answer:
    """Lists the resources of a type within a scope: a resource, a group or the subscription."""
    kind = _kind(request.names["inside"]).lower()
    above = _above(request)
    conditions = dict(_CONDITION.findall(request.http.query.get("$filter") or ""))
    found = [
        _shown(request, each)
        for each in request.store.within(above)
        if each.type.lower() == kind
        and all(_is(each.properties.get(name), value) for name, value in conditions.items())
    ]
    return request.page(found, dict)


def check_name(request: Request) -> Answer:
    """Tells whether nothing in the rehearsal has a name that is one of its kind in all of Azure."""
    name, kind = (str(request.body.get(key) or "") for key in ("name", "type"))
    is_taken = any(
        _is(each.type, kind) and _is(each.name, name)
        for each in request.store.within(request.subscription)
    )
    return Answer(200, {"nameAvailable": not is_taken})


def list_roles(request: Request) -> Answer:
    """Returns the built-in roles, the one with a name in the path, or the one in the filter."""
    *_, last = request.names["inside"].split("/")
    conditions = dict(_CONDITION.findall(request.http.query.get("$filter") or ""))
    wanted = conditions.get("roleName")
    roles = [
        {
            "id": f"{request.subscription}/providers/{_ROLE}/{name}",
            "name": name,
            "type": _ROLE,
            "properties": {"roleName": title, "type": "BuiltInRole", "assignableScopes": ["/"]},
        }
        for title, name in _TABLES["roles"].items()
        if wanted is None or _is(title, wanted)
    ]
    if last.lower() == "roledefinitions":
        return request.page(roles, dict)
    for role in roles:
        if _is(role["name"], last):
            return Answer(200, role)
    raise errors.ArmError(errors.NOT_REHEARSED, what=f"the role {last}")


def _is(value: Any, wanted: str) -> bool:
    return isinstance(value, str) and value.lower() == wanted.lower()


def _kind(inside: str) -> str:
    """Returns the type of what is behind `/providers/` in a path."""
    namespace, *segments = inside.split("/")
    return "/".join([namespace, *segments[::2]])


def _above(request: Request) -> str:
    """Returns the id above a resource in the path; refuses one that is not there, or going."""
    if request.names["group"]:
        groups.above(request)
    namespace, *segments = request.names["inside"].split("/")
    scope = f"{request.subscription}{request.names['scope']}"
    above = segments[: (len(segments) - 1) // 2 * 2]
    if namespace.startswith(MADE_UP):
        above = []
    # Such as the blob service of a storage account, which is there from the start.
    above = above[:-2] if above[-1:] == ["default"] else above
    identifier = f"{scope}/providers/{'/'.join([namespace, *above])}" if above else scope
    if "/providers/" in identifier and request.store.find(identifier) is None:
        verb = {"GET": "read", "HEAD": "read", "DELETE": "delete"}.get(request.http.method, "write")
        words = {"type": _kind(request.names["inside"]), "parent": identifier.rpartition("/")[2]}
        raise errors.ArmError(errors.NO_PARENT, verb=verb, **words)
    return identifier


def _missing(request: Request) -> errors.ArmError:
    inside = request.names["inside"]
    words = {"type": _kind(inside), "name": inside.rpartition("/")[2]}
    return errors.ArmError(errors.NO_RESOURCE, group=request.names["group"], **words)


def _read(request: Request) -> Json:
    reader = bodies.Reader(_TYPES, bodies.of_resource_manager)
    body: Json = reader.read("Resource", request.body)
    tags.admit(body.get("tags"))
    return body


def _location(request: Request, body: Json, present: Resource | None) -> str:
    location = plain(body.get("location") or "")
    if location and location != "global" and location not in regions.regions():
        kind = _kind(request.names["inside"])
        raise errors.ArmError(errors.NO_LOCATION_HERE, location=body["location"], type=kind)
    if not location and present is not None:
        return present.location
    if not location and _kind(request.names["inside"]).lower() in _PLACED:
        raise errors.ArmError(errors.NO_LOCATION)
    groups.refuse_move(present, location, errors.RESOURCE_MOVED)
    return location


def _changed(request: Request, resource: Resource, sent: Json) -> Change:
    """Returns a resource as it was sent, and the items of its lists that are resources."""
    made = {"id", "name", "type", "location", "etag"}
    body = {name: value for name, value in sent.items() if name not in made}
    properties = body["properties"] = dict(body.get("properties") or {})
    kind, inside, gone = resource.type.lower(), list[Resource](), list[Resource]()
    if kind == _ASSIGNMENT.lower():
        properties["scope"] = f"{request.subscription}{request.names['scope']}"
    for name in _LISTED.get(kind, ()):
        properties.pop(name, None)
    for name in _INLINE.get(kind, ()):
        # A list that is left out stays as it is.
        if (items := properties.pop(name, None)) is not None:
            change = _changed_items(request, resource, name, items)
            inside += change.inside
            gone += change.gone
    return Change(resource.with_body(body), inside, gone)


def _changed_items(request: Request, owner: Resource, name: str, items: Any) -> Change:
    kind = f"{owner.type}/{name}"
    if not isinstance(items, list) or not all(map(_has_name, items)):
        reason = f"'properties.{name}' is a list of objects with names"
        raise errors.ArmError(errors.BAD_CONTENT, reason=reason)
    present = {each.name.lower(): each for each in request.store.children(owner.id, kind)}
    inside, gone = list[Resource](), list[Resource]()
    for item in items:
        identifier = f"{owner.id}/{name}/{item['name']}"
        new = Resource(identifier, kind, owner.id, owner.location, {}, "Succeeded")
        change = _changed(request, present.pop(item["name"].lower(), new), item)
        inside += [change.resource, *change.inside]
        gone += change.gone
    _refuse_in_use(request, present.values())
    return Change(owner, inside, [*gone, *present.values()])


def _has_name(item: Any) -> bool:
    name = item.get("name") if isinstance(item, dict) else None
    is_named = isinstance(name, str) and name != "" and "/" not in name
    return is_named and isinstance(item.get("properties") or {}, dict)


def _shown(request: Request, resource: Resource) -> Json:
    names = {
        "name": resource.name,
        "lower": resource.name.lower(),
        "tenant": request.backend.principal.directory,
    }
    made = _filled(_MADE.get(resource.type.lower(), {}), names, resource.id)
    shown: Json = {
        "id": resource.id,
        "name": resource.name,
        "type": resource.type,
        **(
            {"location": resource.location}
            if resource.location and resource.type.count("/") == 1
            else {}
        ),
        "etag": resource.etag,
        **resource.body,
        "properties": {
            **_with_inline(request, resource),
            **made,
            "provisioningState": resource.state,
        },
    }
    identity = resource.body.get("identity") or {}
    if "systemassigned" in str(identity.get("type")).lower():
        own = {"principalId": "{guid}", "tenantId": "{tenant}"}
        shown["identity"] = {**identity, **_filled(own, names, resource.id)}
    return shown


def _with_inline(request: Request, resource: Resource) -> Json:
    """Returns the properties of a resource with the lists of what is below it."""

    def below(name: str) -> list[Resource]:
        return request.store.children(resource.id, f"{resource.type}/{name}")

    kind = resource.type.lower()
    whole = {
        name: [_shown(request, each) for each in below(name)] for name in _INLINE.get(kind, ())
    }
    listed = {name: [{"id": each.id} for each in below(name)] for name in _LISTED.get(kind, ())}
    return {**resource.properties, **whole, **listed}


def _filled(made: Json, names: Json, identifier: str) -> Json:
    return dict(_each_filled(made, names, identifier))


def _each_filled(made: Json, names: Json, identifier: str) -> Iterator[tuple[str, Any]]:
    for name, value in made.items():
        if isinstance(value, dict):
            yield name, _filled(value, names, identifier)
        else:
            yield name, value.format(guid=guid(identifier, name), **names)


def guid(identifier: str, name: str) -> str:
    """Returns what Azure makes up for a property of a resource; it never changes."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{identifier.lower()} {name}"))


PLACE = Place("{scope}/providers/{inside}", _above, _missing)
_TYPE = ResourceType(PLACE, _put, _shown, _patch, _delete)
_OF_RESOURCES = _TYPE.handlers()
_OF_LISTS = {"GET": list_all}
_OF_ROLES = {"GET": list_roles}
_OF_NAMES = {"POST": check_name}
