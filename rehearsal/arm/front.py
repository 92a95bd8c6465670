"""Resource Manager's front: checks a request, and passes it to the service that answers it."""

import json
import re
import time
from dataclasses import dataclass

from aiohttp import web

from rehearsal.arm import bodies, errors, operations
from rehearsal.arm.aks import clusters, pools, versions
from rehearsal.arm.compute import skus, usages
from rehearsal.arm.request import Answer, Backend, Request, Route, match
from rehearsal.arm.resources import groups, registrations, subscriptions
from rehearsal.arm.tokens import Issuer

API_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-preview)?", re.IGNORECASE)
SUBSCRIPTION = re.compile(r"/subscriptions/([^/]+)(/.*)?", re.IGNORECASE)
ROUTES = (
    *subscriptions.ROUTES,
    *groups.ROUTES,
    *clusters.ROUTES,
    *pools.ROUTES,
    *registrations.ROUTES,
    *skus.ROUTES,
    *usages.ROUTES,
    *versions.ROUTES,
    *operations.ROUTES,
)


@dataclass(frozen=True)
class Front:
    backend: Backend
    issuer: Issuer
    audience: str

    def answer(self, http_request: web.Request, content: bytes) -> web.Response:
        """Serves one request from beginning to end."""
        self.issuer.check(http_request.headers.get("Authorization"), self.audience)
        answer = self._served(http_request, content)
        return web.Response(
            status=answer.status,
            headers=answer.headers,
            body=None if answer.body is None else json.dumps(answer.body).encode(),
            content_type="application/json",
        )

    def _served(self, http_request: web.Request, content: bytes) -> Answer:
        backend, now = self.backend, time.time()
        api_version = _api_version(http_request)
        path = http_request.path.rstrip("/")
        routes: tuple[Route, ...] = subscriptions.ROUTES_ABOVE
        below = path
        if inside := SUBSCRIPTION.fullmatch(path):
            if inside[1].lower() != backend.principal.subscription:
                raise errors.ArmError(errors.NO_SUBSCRIPTION, subscription=inside[1])
            routes, below = ROUTES, inside[2] or ""
        route, names = match(routes, http_request.method, below)
        request = Request(
            backend=backend,
            http=http_request,
            offers=backend.offers(),
            now=now,
            api_version=api_version,
            names=names,
            content=bodies.parsed(content),
        )
        # Separate from the request, so that a refusal does not undo it.
        with backend.store.transaction():
            operations.complete_due(backend.store, now, backend.control_planes.ended)
        with backend.store.transaction():
            registrations.refuse_unregistered(backend.store, below, now)
            answer = route.handler(request)
        backend.control_planes.changed()
        return answer


def _api_version(http_request: web.Request) -> str:
    query = {name.lower(): value for name, value in http_request.query.items()}
    version = query.get("api-version")
    if not version:
        raise errors.ArmError(errors.NO_API_VERSION)
    if not API_VERSION.fullmatch(version):
        raise errors.ArmError(errors.BAD_API_VERSION, version=version)
    return version.lower()


def error_response(error: errors.ArmError, origin: str) -> web.Response:
    headers = {}
    if error.refusal.status == 401:
        headers["WWW-Authenticate"] = (
            f'Bearer authorization_uri="{origin}/adfs", error="invalid_token", '
            f'error_description="{error.message}"'
        )
    return web.json_response(error.body(), status=error.refusal.status, headers=headers)
