"""The front of Resource Manager: checks a request and routes it to its service."""

import json
import re
import time
from dataclasses import dataclass

from aiohttp import web

from rehearsal.arm import bodies, errors, operations
from rehearsal.arm.aks import (
    actions,
    clusters,
    pools,
    scale_sets,
    versions,
)
from rehearsal.arm.compute import scores, skus, usages
from rehearsal.arm.request import Answer, Backend, Request, Route, match
from rehearsal.arm.resources import (
    groups,
    registrations,
    stored,
    subscriptions,
)
from rehearsal.arm.tokens import Issuer

OF_AKS = re.compile(r"/providers/Microsoft\.ContainerService/", re.IGNORECASE)
VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?", re.IGNORECASE)
SUBSCRIPTION = re.compile(r"/subscriptions/([^/]+)(/.*)?", re.IGNORECASE)
ROUTES = (
    *subscriptions.ROUTES,
    *groups.ROUTES,
    *clusters.ROUTES,
    *pools.ROUTES,
    *actions.ROUTES,
    *scale_sets.ROUTES,
    *registrations.ROUTES,
    *skus.ROUTES,
    *usages.ROUTES,
    *scores.ROUTES,
    *versions.ROUTES,
    *operations.ROUTES,
)


@dataclass(frozen=True)
class Front:
    backend: Backend
    issuer: Issuer
    audience: str

    def answer(self, http_request: web.Request, content: bytes) -> web.Response:
        """Serves one authenticated request."""
        self.issuer.check(http_request.headers.get("Authorization"), self.audience)
        answer = self._serve(http_request, content)
        return web.Response(
            status=answer.status,
            headers=answer.headers,
            body=None if answer.body is None else json.dumps(answer.body).encode(),
            content_type="application/json",
            charset=None if OF_AKS.search(http_request.path) else "utf-8",
        )

    def _serve(self, http_request: web.Request, content: bytes) -> Answer:
        backend, now = self.backend, time.time()
        api_version = _api_version(http_request)
        # Azure's SDKs send an empty segment for a resource without a parent.
        path = re.sub("//+", "/", http_request.path).rstrip("/")
        routes: tuple[Route, ...] = subscriptions.ROUTES_ABOVE
        below = path
        if inside := SUBSCRIPTION.fullmatch(path):
            if inside[1].lower() != backend.principal.subscription:
                raise errors.ArmError(errors.NO_SUBSCRIPTION, subscription=inside[1])
            routes, below = ROUTES, inside[2] or ""
        method = http_request.method
        found = match(routes, method, below) or (inside and stored.route(method, below))
        if not found:
            raise errors.ArmError(errors.NOT_REHEARSED, what=f"{method} {below or '/'}")
        route, names = found
        request = Request(
            backend=backend,
            http=http_request,
            offers=backend.offers(),
            now=now,
            api_version=api_version,
            names=names,
            content=bodies.parse(content),
        )
        # In its own transaction, so that a refused request does not roll it back.
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
    if not VERSION.fullmatch(version):
        raise errors.ArmError(errors.BAD_API_VERSION, version=version)
    return version.lower()


def error_response(error: errors.ArmError, origin: str) -> web.Response:
    headers = {"x-ms-failure-cause": error.refusal.cause} if error.refusal.cause else {}
    if error.refusal.status == 401:
        headers["WWW-Authenticate"] = (
            f'Bearer authorization_uri="{origin}/adfs", error="invalid_token", '
            f'error_description="{error.refusal.challenge or error.message}"'
        )
    return web.Response(
        status=error.refusal.status,
        headers=headers,
        body=json.dumps(error.body()).encode(),
        content_type="application/json",
        # Resource Manager states the charset; AKS does not.
        charset=None if error.refusal.is_flat else "utf-8",
    )
