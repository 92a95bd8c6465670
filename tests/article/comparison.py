"""Compares the requests of the two ways to ARM, resource by resource."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tests.article.arm_view import Request

_SUBSCRIPTION = re.compile(r"^/subscriptions/[^/]+", re.IGNORECASE)
_GROUP = re.compile(r"/resourcegroups/[^/]+", re.IGNORECASE)
_POOL = re.compile(r".*/managedclusters/[^/]+/agentpools/[^/]+", re.IGNORECASE)
_INLINE_POOL = re.compile(r"properties\.agentPoolProfiles\[[^]]*\]\.")


class _Stand(Enum):
    # For a value that is not sent, or is null or empty.
    NOT_SENT = "-"
    # In an explanation, for a value that differs in every run.
    ANYTHING = "anything"


NOT_SENT, ANYTHING = _Stand.NOT_SENT, _Stand.ANYTHING


@dataclass(frozen=True)
class Explanation:
    """Why the two ways send different values. It holds for these values only."""

    name: str
    by_hand: Any
    by_program: Any
    reason: str

    def holds_for(self, item: "Item") -> bool:
        return (
            self.name.lower() == item.name.lower()
            and self.by_hand in (ANYTHING, item.by_hand)
            and self.by_program in (ANYTHING, item.by_program)
        )


@dataclass(frozen=True)
class Item:
    """One part of a request: a header, the API version, or a property."""

    # The name in an explanation: the same for every pool.
    name: str
    where: str
    by_hand: Any
    by_program: Any
    # Why it differs; None if there is no explanation.
    reason: str | None = None

    @property
    def is_same(self) -> bool:
        return bool(self.by_hand == self.by_program)

    @property
    def is_unexplained(self) -> bool:
        return not self.is_same and self.reason is None


@dataclass(frozen=True)
class Thing:
    """A resource that both ways created: a group, a cluster or a pool."""

    path: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Comparison:
    things: tuple[Thing, ...]
    # The paths of resources that only one way created.
    only_by_hand: tuple[str, ...] = ()
    only_by_program: tuple[str, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether both ways created the same resources, and every difference has a reason."""
        is_one_sided = bool(self.only_by_hand or self.only_by_program)
        is_known = not any(item.is_unexplained for item in self.items)
        return bool(self.items) and is_known and not is_one_sided

    @property
    def items(self) -> list[Item]:
        return [item for thing in self.things for item in thing.items]


def compare(
    by_hand: Iterable[Request], by_program: Iterable[Request], known: Iterable[Explanation]
) -> Comparison:
    """Compares the requests that created each resource."""
    hand, program, explanations = _creations(by_hand), _creations(by_program), tuple(known)
    things = [
        Thing(_path(put), tuple(_items(hand[key], put, explanations)))
        for key, put in program.items()
        if key in hand
    ]
    return Comparison(
        tuple(things),
        tuple(_path(put) for key, put in hand.items() if key not in program),
        tuple(_path(put) for key, put in program.items() if key not in hand),
    )


def _creations(requests: Iterable[Request]) -> dict[str, Request]:
    """The request that created each resource, by its path in lower case."""
    creations: dict[str, Request] = {}
    for request in requests:
        if request.method == "PUT" and request.is_accepted:
            creations.setdefault(_path(request).lower(), request)
    return creations


def _path(request: Request) -> str:
    """The path without the subscription, which differs between the clouds."""
    return _SUBSCRIPTION.sub("", request.path)


def _items(hand: Request, program: Request, known: Iterable[Explanation]) -> Iterator[Item]:
    for by_hand, by_program in zip(_parts(hand), _parts(program), strict=True):
        for where in by_hand | by_program:
            values = by_hand.get(where, NOT_SENT), by_program.get(where, NOT_SENT)
            item = Item(_name(where, _path(program)), where, *values)
            if not item.is_same:
                reasons = (each.reason for each in known if each.holds_for(item))
                yield replace(item, reason=next(reasons, None))
            elif item.by_hand != NOT_SENT:
                yield item


def _name(where: str, path: str) -> str:
    if where.startswith(("header ", "query ")):
        return where
    if _INLINE_POOL.match(where):
        return _INLINE_POOL.sub("pool ", where)
    kind = "group" if _GROUP.fullmatch(path) else "pool" if _POOL.fullmatch(path) else "cluster"
    return f"{kind} {where.removeprefix('properties.')}"


def _parts(request: Request) -> tuple[dict[str, Any], ...]:
    """Headers, query and properties. The names of headers and query parameters ignore case."""
    headers = {f"header {name.lower()}": value for name, value in request.headers.items()}
    query = {f"query {name.lower()}": value for name, value in request.query.items()}
    return headers, query, dict(_leaves(request.body, ""))


def _leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{where}[{each.get('name', number)}]")
    else:
        # For Azure null and empty values are the same as values that are not sent.
        yield where, NOT_SENT if value in (None, "", [], {}) else value
