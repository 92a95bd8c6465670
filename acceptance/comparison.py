"""What the two ways sent to ARM for the same thing, side by side."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from acceptance.arm_view import Request

_SUBSCRIPTION = re.compile(r"^/subscriptions/[^/]+", re.IGNORECASE)
_GROUP = re.compile(r"/resourcegroups/[^/]+", re.IGNORECASE)
_POOL = re.compile(r".*/managedclusters/[^/]+/agentpools/[^/]+", re.IGNORECASE)
_INLINE_POOL = re.compile(r"properties\.agentPoolProfiles\[[^]]*\]\.")


class _Stand(Enum):
    # For a value that is not sent, or that says nothing: null, or empty.
    UNSAID = "-"
    # In an explanation, for a value that is another one at every run.
    ANYTHING = "anything"


UNSAID, ANYTHING = _Stand.UNSAID, _Stand.ANYTHING


@dataclass(frozen=True)
class Explanation:
    """Why the two ways say something otherwise. It holds for these values, and for no others."""

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
    """One thing that was said: a header, the API version, or a property."""

    # As an explanation names it: the same for every pool.
    name: str
    where: str
    by_hand: Any
    by_program: Any
    # Why it differs; without one where nobody knows.
    reason: str | None = None

    @property
    def is_same(self) -> bool:
        return bool(self.by_hand == self.by_program)

    @property
    def is_unexplained(self) -> bool:
        return not self.is_same and self.reason is None


@dataclass(frozen=True)
class Thing:
    """What both ways made: a group, a cluster or a pool."""

    path: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Comparison:
    things: tuple[Thing, ...]
    # The paths of what only one of them made.
    only_by_hand: tuple[str, ...] = ()
    only_by_program: tuple[str, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether both made the same things, and no difference is without a reason."""
        is_one_sided = bool(self.only_by_hand or self.only_by_program)
        is_known = not any(item.is_unexplained for item in self.items)
        return bool(self.items) and is_known and not is_one_sided

    @property
    def items(self) -> list[Item]:
        return [item for thing in self.things for item in thing.items]


def compare(
    by_hand: Iterable[Request], by_program: Iterable[Request], known: Iterable[Explanation]
) -> Comparison:
    """Everything that was made in both ways, request by request."""
    hand, program, explanations = _made(by_hand), _made(by_program), tuple(known)
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


def _made(requests: Iterable[Request]) -> dict[str, Request]:
    """The request that made a thing, by the thing's path in one case."""
    made: dict[str, Request] = {}
    for request in requests:
        if request.method == "PUT" and request.is_accepted:
            made.setdefault(_path(request).lower(), request)
    return made


def _path(request: Request) -> str:
    """The subscription of each cloud is its own."""
    return _SUBSCRIPTION.sub("", request.path)


def _items(hand: Request, program: Request, known: Iterable[Explanation]) -> Iterator[Item]:
    for one, other in zip(_said(hand), _said(program), strict=True):
        for where in one | other:
            values = one.get(where, UNSAID), other.get(where, UNSAID)
            item = Item(_name(where, _path(program)), where, *values)
            if not item.is_same:
                reasons = (each.reason for each in known if each.holds_for(item))
                yield replace(item, reason=next(reasons, None))
            elif item.by_hand != UNSAID:
                yield item


def _name(where: str, path: str) -> str:
    if where.startswith(("header ", "query ")):
        return where
    if _INLINE_POOL.match(where):
        return _INLINE_POOL.sub("pool ", where)
    kind = "group" if _GROUP.fullmatch(path) else "pool" if _POOL.fullmatch(path) else "cluster"
    return f"{kind} {where.removeprefix('properties.')}"


def _said(request: Request) -> tuple[dict[str, Any], ...]:
    """Headers, query and properties; the names of the first two have no case."""
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
        # Azure takes a null, and what is empty, for nothing said.
        yield where, UNSAID if value in (None, "", [], {}) else value
