"""The types of AKS's API, from aks_types.csv: the fields of each, and the kinds of their values.

A kind is a type of the table, a primitive (`string`, `boolean`, `integer`, `number`), `list of` or
`map of` a kind, or `anything`. The table is generated from the Azure SDK for Python.
"""

import csv
from collections.abc import Mapping
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
    types: dict[str, dict[str, str]] = {}
    with TABLE.open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            types.setdefault(row["type"], {})[row["field"]] = row["kind"]
    return MappingProxyType(types)
