"""Fills in properties that a request leaves out, by the rows of filled_in.toml."""

import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from aks_catalogue import kubernetes
from aks_catalogue.shapes import at
from rehearsal.arm.request import Json

TABLE = Path(__file__).with_name("filled_in.toml")
# In a condition: an absent value, and any value.
NOTHING, ANYTHING = "", "*"


@dataclass(frozen=True)
class Row:
    """A row: the value that AKS sets at a path, and its conditions."""

    when: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    value: Any = None
    source: str = ""
    is_list: bool = False
    label: str = ""
    taint: str = ""

    def applies(self, values: Json) -> bool:
        return all(meets(at(values, path), expected) for path, expected in self.when.items())


@cache
def rows(table: str) -> tuple[Row, ...]:
    content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    names = {"from": "source", "list": "is_list"}
    return tuple(
        Row(**{names.get(name, name): value for name, value in row.items()})
        for row in content[table]
    )


def fill(table: str, body: Json, context: Json) -> Json:
    """Returns a body with the values of a table; conditions may also refer to the context."""
    filled = deepcopy(body)
    for row in rows(table):
        values = {**context, **filled}
        if at(filled, row.path) is None and row.applies(values):
            value = at(values, row.source) if row.source else row.value
            if value is not None:
                set_value(filled, row.path, [value] if row.is_list else deepcopy(value))
    return filled


def drop(table: str, body: Json, context: Json) -> None:
    """Removes the values of a table's rows from a body."""
    for row in applicable(table, body, context):
        if meets(at(body, row.path), row.value):
            remove_value(body, row.path)


def applicable(table: str, body: Json, context: Json) -> Iterator[Row]:
    """Yields the rows whose conditions hold; the body may change in between."""
    yield from (row for row in rows(table) if row.applies({**context, **body}))


def meets(actual: object, expected: object) -> bool:
    """Whether a value meets the condition of a row."""
    is_there = actual is not None and actual not in ("", [], {})
    match expected:
        case {"not": list() as others}:
            return not meets(actual, others)
        case list():
            return any(meets(actual, choice) for choice in expected)
        case "":
            return not is_there
        case "*":
            return is_there
        case str() if expected.startswith((">=", "<")):
            least, version = (
                kubernetes.minor_version(text) for text in (expected.strip("<>="), str(actual))
            )
            return (
                version is not None
                and least is not None
                and (version >= least) is (expected[0] == ">")
            )
    return actual == expected


def set_value(values: Json, path: str, value: object) -> None:
    """Sets a value at a path, unless a part of the path is not an object."""
    section, _, rest = path.partition(".")
    if not rest:
        values[section] = value
    elif isinstance(values.setdefault(section, {}), dict):
        set_value(values[section], rest, value)


def remove_value(values: Json, path: str) -> None:
    """Removes the value at a path."""
    section, _, name = path.rpartition(".")
    owner = at(values, section) if section else values
    if isinstance(owner, dict):
        owner.pop(name, None)
