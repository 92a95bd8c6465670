"""Requests as services get them, their answers, and routes."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from aiohttp import web

from aks_catalogue import regions
from aks_catalogue.regions import plain
from rehearsal.arm import errors
from rehearsal.arm.home import Principal
from rehearsal.arm.offers import Offers
from rehearsal.arm.state import Resource, Store

Json = dict[str, Any]
Item = TypeVar("Item")

# An opaque token on Azure; here it is the index of the next item.
PAGE_TOKEN = "$skiptoken"  # noqa: S105 (no secret)
# A number in a query: the position of an item, or how many.
NUMBER = re.compile(r"[0-9]{1,9}")
# AKS sends the token under two names.
PAGE_TOKENS_OF_AKS = ("$skipToken", "skipToken")


class ControlPlanes(Protocol):
    """The control planes of the clusters, as services use them."""

    def changed(self) -> None:
        """Wakes the control planes: a request may have changed the desired state."""

    def ended(self, row: sqlite3.Row, now: float) -> float | None:
        """Returns when a due operation ended; None while there is still work for it."""

    def kubeconfig(self, cluster: Resource, role: str) -> Json:
        """Returns the credentials of a cluster, as Azure lists them."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Backend:
    """What all requests share: the store, the principal, the control planes and the offers."""

    store: Store
    principal: Principal
    control_planes: ControlPlanes
    # By offers.json as it is now.
    offers: Callable[[], Offers]
    time_scale: float


@dataclass(frozen=True)
class Request:
    """One authenticated request, with its parsed body and path."""

    backend: Backend
    http: web.Request
    offers: Offers
    now: float
    api_version: str
    names: Mapping[str, str]
    content: Any

    @property
    def store(self) -> Store:
        return self.backend.store

    @property
    def body(self) -> Json:
        if not isinstance(self.content, dict):
            raise errors.ArmError(errors.BAD_CONTENT, reason="a JSON object is expected")
        return self.content

    @property
    def origin(self) -> str:
        return f"https://{self.http.host}"

    @property
    def subscription(self) -> str:
        return f"/subscriptions/{self.backend.principal.subscription}"

    def location(self, kind: str) -> str:
        """Returns the location in the path; refuses one where the type is not available."""
        location = plain(self.names["location"])
        if location not in regions.regions():
            raise errors.ArmError(errors.NO_LOCATION_HERE, location=location, type=kind)
        return location

    def due(self, seconds: float) -> float:
        """Returns the time at which something ends that takes that long at time scale 1."""
        return self.now + seconds * self.backend.time_scale

    def check_etag(self, present: Resource | None) -> None:
        """Refuses a write whose If-Match or If-None-Match does not hold."""
        etag = present.etag if present else None
        for header, must_match in (("If-Match", True), ("If-None-Match", False)):
            value = self.http.headers.get(header)
            if value is None:
                continue
            is_match = etag is not None and value.strip('"') in (etag, "*")
            if is_match != must_match:
                raise errors.ArmError(errors.CHANGED_SINCE, header=header, value=value, etag=etag)

    def page(
        self, items: Sequence[Item], show: Callable[[Item], Json], *, times: int = 1
    ) -> Answer:
        """Returns the requested page of a list, with a link to the next one.

        A page has so many `times` the usual number of items.
        """
        start, end = self._slice((PAGE_TOKEN,), times)
        body: Json = {"value": [show(item) for item in items[start:end]]}
        if end < len(items):
            body["nextLink"] = self._next((PAGE_TOKEN,), end)
        return Answer(200, body)

    def page_of_aks(self, items: Sequence[Item], show: Callable[[Item], Json]) -> Answer:
        """Returns a page as AKS does: an empty page follows the last item."""
        start, end = self._slice(PAGE_TOKENS_OF_AKS)
        shown = [show(item) for item in items[start:end]]
        following = {"nextLink": self._next(PAGE_TOKENS_OF_AKS, start + len(shown))}
        return Answer(200, {"value": shown} | (following if shown else {}))

    def _slice(self, tokens: tuple[str, ...], times: int = 1) -> tuple[int, int]:
        token = self.http.query.get(tokens[0], "0")
        if not NUMBER.fullmatch(token):
            raise errors.ArmError(errors.BAD_PARAMETER, tokens[0], name=tokens[0], value=token)
        return int(token), int(token) + times * self.offers.script.page_size

    def _next(self, tokens: tuple[str, ...], start: int) -> str:
        query = {**self.http.query, **dict.fromkeys(tokens, str(start))}
        return f"{self.origin}{self.http.rel_url.raw_path}?{urlencode(query)}"


@dataclass(frozen=True)
class Route:
    """A method and a path below a subscription; `{name}` stands for one path segment."""

    method: str
    template: str
    handler: Callable[[Request], Answer]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template), re.IGNORECASE)


def match(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """Returns the route of a request and the names in its path, in the case that was sent."""
    for route in routes:
        matched = route.pattern.fullmatch(path)
        if matched and route.method == method:
            return route, matched.groupdict()
    return None
