"""Fills in what a request leaves out, by the rows of filled_in.toml."""

import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from catalogue import kubernetes
from catalogue.shapes import at
from rehearsal.arm.request import Json

TABLE = Path(__file__).with_name("filled_in.toml")
# What stands for nothing in a condition, and for anything.
NOTHING, ANYTHING = "", "*"


@dataclass(frozen=True)
class Row:
    """A value that AKS gives to a path under conditions."""

    when: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    value: Any = None
    source: str = ""
    is_list: bool = False
    label: str = ""
    taint: str = ""

    def holds(self, values: Json) -> bool:
        return all(meets(at(values, path), wanted) for path, wanted in self.when.items())


@cache
def rows(table: str) -> tuple[Row, ...]:
    content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    names = {"from": "source", "list": "is_list"}
    return tuple(
        Row(**{names.get(name, name): value for name, value in row.items()})
        for row in content[table]
    )


def fill(table: str, body: Json, context: Json) -> Json:
    """Returns a body with all that a table fills in; conditions see what stands around it too."""
    filled = deepcopy(body)
    for row in rows(table):
        values = {**context, **filled}
        if at(filled, row.path) is None and row.holds(values):
            value = at(values, row.source) if row.source else row.value
            if value is not None:
                put(filled, row.path, [value] if row.is_list else deepcopy(value))
    return filled


def drop(table: str, body: Json, context: Json) -> None:
    """Takes the values of a table's rows out of a body."""
    for row in holding(table, body, context):
        if meets(at(body, row.path), row.value):
            take(body, row.path)


def holding(table: str, body: Json, context: Json) -> Iterator[Row]:
    """Yields the rows whose conditions hold as the body is by then."""
    yield from (row for row in rows(table) if row.holds({**context, **body}))


def meets(actual: object, wanted: object) -> bool:
    """Whether a value meets the condition of a row."""
    is_there = actual is not None and actual not in ("", [], {})
    match wanted:
        case list():
            return any(meets(actual, one) for one in wanted)
        case "":
            return not is_there
        case "*":
            return is_there
        case str() if wanted.startswith((">=", "<")):
            least, version = (
                kubernetes.minor_version(text) for text in (wanted.strip("<>="), str(actual))
            )
            return (
                version is not None
                and least is not None
                and (version >= least) is (wanted[0] == ">")
            )
    return actual == wanted


def put(values: Json, path: str, value: object) -> None:
    """Puts a value at a path, unless something else than an object stands on the way."""
    section, _, rest = path.partition(".")
    if not rest:
        values[section] = value
    elif isinstance(values.setdefault(section, {}), dict):
        put(values[section], rest, value)


def take(values: Json, path: str) -> None:
    """Takes away what stands at a path."""
    section, _, name = path.rpartition(".")
    owner = at(values, section) if section else values
    if isinstance(owner, dict):
        owner.pop(name, None)
