"""A type of Azure is a declaration: one PUT, PATCH, GET, HEAD and DELETE serves all types.

Judging comes before changing: what a request makes of resources is whole before it is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rehearsal.arm import errors, operations
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.state import Resource

# What stands above a resource: another one, its ID, or nothing.
Above = TypeVar("Above")


@dataclass(frozen=True)
class Place(Generic[Above]):
    """Where the resources of a type stand."""

    # Below a subscription; names in braces are those in the path of a request.
    path: str
    # Returns what stands above; refuses a request without it, and a change below what is going.
    above: Callable[[Request], Above]
    # The error for a resource that is not there.
    missing: Callable[[Request], errors.ArmError]

    def id(self, request: Request) -> str:
        """Returns the ID in the path of a request, as it was sent."""
        return f"{request.subscription}{self.path.format(**request.names)}"

    def find(self, request: Request) -> Resource | None:
        """Returns the resource in the path of a request, if it is there."""
        return request.store.find(self.id(request))

    def existing(self, request: Request) -> Resource:
        """Returns the resource in the path of a request; what is above has to be there, too."""
        self.above(request)
        found = self.find(request)
        if found is None:
            raise self.missing(request)
        return found


@dataclass(frozen=True)
class Change:
    """What a request makes of a resource."""

    resource: Resource
    # What changes with it, such as the pools of a cluster, and what it no longer has.
    inside: Sequence[Resource] = ()
    gone: Sequence[Resource] = ()
    # The error with which the operation will fail, and the state of all until then, if it is not
    # the usual one.
    failure: Json | None = None
    meanwhile: str | None = None
    # The status of the answer if the resource is new.
    created: int = 201


def _whatever(_: Request, __: object, resource: Resource) -> Change:
    """Returns a resource as it is: nothing speaks against the request."""
    return Change(resource)


@dataclass(frozen=True)
class ResourceType(Generic[Above]):
    """What is a type's own: each function judges a request, and returns what comes of it.

    They get what stands above the resource, and the resource itself, if it is there.
    """

    place: Place[Above]
    put: Callable[[Request, Above, Resource | None], Change]
    shown: Callable[[Request, Resource], Json]
    patch: Callable[[Request, Above, Resource], Change] = _whatever
    delete: Callable[[Request, Above, Resource], Change] = _whatever
    # The operations that a request begins; without them its change is done at once.
    creation: Kind | None = None
    update: Kind | None = None
    deletion: Kind | None = None

    def serve_put(self, request: Request) -> Answer:
        above, present = self._found(request)
        change = self.put(request, above, present)
        if present is None:
            return self._done(request, change, self.creation, change.created)
        return self._done(request, change, self.update, 200)

    def serve_patch(self, request: Request) -> Answer:
        above, present = self._found(request)
        if present is None:
            raise self.place.missing(request)
        return self._done(request, self.patch(request, above, present), self.update, 200)

    def serve_get(self, request: Request) -> Answer:
        return Answer(200, self.shown(request, self.place.existing(request)))

    def serve_head(self, request: Request) -> Answer:
        self.place.above(request)
        return Answer(204 if self.place.find(request) else 404)

    def serve_delete(self, request: Request) -> Answer:
        above, present = self._found(request)
        if present is None:
            return Answer(204)
        change = self.delete(request, above, present)
        if self.deletion is not None:
            return self._begun(request, change, self.deletion, 202)
        for each in request.store.within(present.id):
            request.store.remove(each)
        return Answer(200)

    def _found(self, request: Request) -> tuple[Above, Resource | None]:
        above, present = self.place.above(request), self.place.find(request)
        request.check_etag(present)
        return above, present

    def _done(self, request: Request, change: Change, kind: Kind | None, status: int) -> Answer:
        if kind is not None:
            return self._begun(request, change, kind, status)
        for each in change.gone:
            request.store.remove(each)
        for each in (change.resource, *change.inside):
            request.store.write(each)
        return Answer(status, self.shown(request, change.resource))

    def _begun(self, request: Request, change: Change, kind: Kind, status: int) -> Answer:
        resource, of = change.resource, [change.resource, *change.inside]
        operation = operations.begin(request, kind, of, change.failure, change.meanwhile)
        body = None if kind is self.deletion else self.shown(request, resource)
        return operations.accepted(request, status, operation, resource.location, body)

    def handlers(self) -> Mapping[str, Callable[[Request], Answer]]:
        return {
            "PUT": self.serve_put,
            "PATCH": self.serve_patch,
            "GET": self.serve_get,
            "HEAD": self.serve_head,
            "DELETE": self.serve_delete,
        }

    def routes(self, *methods: str) -> tuple[Route, ...]:
        return tuple(Route(name, self.place.path, self.handlers()[name]) for name in methods)
