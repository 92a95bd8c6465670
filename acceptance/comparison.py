"""What the two ways sent to ARM for the same thing, side by side."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from acceptance.arm_view import Request

_SUBSCRIPTION = re.compile(r"^/subscriptions/[^/]+", re.IGNORECASE)
_GROUP = re.compile(r"/resourcegroups/[^/]+", re.IGNORECASE)
_POOL = re.compile(r".*/managedclusters/[^/]+/agentpools/[^/]+", re.IGNORECASE)
_INLINE_POOL = re.compile(r"properties\.agentPoolProfiles\[[^]]*\]\.")


@dataclass(frozen=True)
class Unsaid:
    """In place of a value that is not sent, or that says nothing: null, or empty."""

    def __str__(self) -> str:
        return "-"


UNSAID = Unsaid()


@dataclass(frozen=True)
class Anything:
    """Stands in an explanation for a value that is another one at every run."""


ANYTHING = Anything()


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

    @property
    def is_same(self) -> bool:
        return bool(self.by_hand == self.by_program)


@dataclass(frozen=True)
class Compared:
    """An item, with why it differs; without a reason where nobody knows one."""

    item: Item
    reason: str | None

    @property
    def is_unexplained(self) -> bool:
        return not self.item.is_same and self.reason is None


@dataclass(frozen=True)
class Thing:
    """What both ways made: a group, a cluster or a pool."""

    path: str
    compared: tuple[Compared, ...]


@dataclass(frozen=True)
class Comparison:
    things: tuple[Thing, ...]
    # The paths of what only one of them made.
    only_by_hand: tuple[str, ...] = ()
    only_by_program: tuple[str, ...] = ()

    @property
    def is_explained(self) -> bool:
        """Whether both made the same things, and no difference is without a reason."""
        compared = [each for thing in self.things for each in thing.compared]
        is_one_sided = bool(self.only_by_hand or self.only_by_program)
        return bool(compared) and not is_one_sided and not any(c.is_unexplained for c in compared)


def compare(
    by_hand: Iterable[Request], by_program: Iterable[Request], known: Iterable[Explanation]
) -> Comparison:
    """Everything that was made in both ways, request by request."""
    hand, program, explanations = _made(by_hand), _made(by_program), tuple(known)
    things = [
        Thing(path, tuple(_explained(item, explanations) for item in _items(hand[key], other)))
        for key, (path, other) in ((key, (_path(put), put)) for key, put in program.items())
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


def _items(hand: Request, program: Request) -> Iterator[Item]:
    name = _namer(_path(program))
    for part in (_headers, _query, _properties):
        one, other = part(hand), part(program)
        for where in [*one, *(where for where in other if where not in one)]:
            values = one.get(where, UNSAID), other.get(where, UNSAID)
            if values != (UNSAID, UNSAID):
                yield Item(name(where), where, *values)


def _namer(path: str) -> Callable[[str], str]:
    kind = "cluster "
    if _GROUP.fullmatch(path):
        kind = "group "
    elif _POOL.fullmatch(path):
        kind = "pool "

    def name(where: str) -> str:
        if _INLINE_POOL.match(where):
            return _INLINE_POOL.sub("pool ", where)
        if where.startswith(("header ", "query ")):
            return where
        return kind + where.removeprefix("properties.")

    return name


def _headers(request: Request) -> dict[str, Any]:
    # A header's name has no case.
    return {f"header {name.lower()}": value for name, value in request.headers.items()}


def _query(request: Request) -> dict[str, Any]:
    return {f"query {name.lower()}": value for name, value in request.query.items()}


def _properties(request: Request) -> dict[str, Any]:
    return dict(_leaves(request.body, ""))


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


def _explained(item: Item, known: Iterable[Explanation]) -> Compared:
    if item.is_same:
        return Compared(item, None)
    return Compared(item, next((each.reason for each in known if each.holds_for(item)), None))
