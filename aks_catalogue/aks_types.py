"""The types of AKS's API, from aks_types.csv: the fields of each, and the kinds of their values.

A kind is a type of the table, a primitive (`string`, `boolean`, `integer`, `number`), `list of` or
`map of` a kind, or `anything`. An enumeration has its choices. The table is generated from the
Azure SDK for Python.

To renew it, raise azure-mgmt-containerservice in pyproject.toml and run
`python -m tests.aks_catalogue.test_aks_types`; then API_VERSION and AS_OF.
"""

import csv
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType

# The date of these facts.
AS_OF = date(2026, 11, 22)
# The API version of the table.
API_VERSION = "2026-08-01"
TABLE = Path(__file__).with_name("aks_types.csv")


@cache
def aks_types() -> Mapping[str, Mapping[str, str]]:
    """Returns the kinds of the fields, by type and field."""
    return MappingProxyType(_column("kind"))


@cache
def choices(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the choices of the enumerations in a type, by path.

    In a path `[]` stands for each item of a list, and `*` for each name of a map.
    """
    return MappingProxyType(dict(_enumerations(kind, "", ())))


def _enumerations(
    kind: str, path: str, inside: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for field, whole in aks_types().get(kind, {}).items():
        *containers, inner = whole.split(" of ")
        signs = "".join("[]" if container == "list" else ".*" for container in containers)
        below = f"{path}.{field}{signs}".lstrip(".")
        if words := _choices().get(kind, {}).get(field):
            yield below, tuple(words.split())
        elif inner not in inside:
            yield from _enumerations(inner, below, (*inside, kind))


@cache
def _choices() -> Mapping[str, Mapping[str, str]]:
    return _column("choices")


def _column(name: str) -> dict[str, dict[str, str]]:
    types: dict[str, dict[str, str]] = {}
    with TABLE.open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            types.setdefault(row["type"], {})[row["field"]] = row[name]
    return types
