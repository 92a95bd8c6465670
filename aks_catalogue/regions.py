"""Azure's regions, from regions.csv.

To renew it: `az account list-locations --output table` has names and geographies. Then AS_OF.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType

# The date of these facts.
AS_OF = date(2026, 11, 21)


@dataclass(frozen=True, kw_only=True)
class Region:
    """An Azure region: its name in requests, its display name, and its zones."""

    name: str
    display_name: str
    zones: tuple[str, ...]


def plain(name: str) -> str:
    """Normalizes a name as Azure does for comparisons: without case and white space."""
    return "".join(name.split()).lower()


@cache
def regions() -> Mapping[str, Region]:
    """Returns the regions of the table, by name."""
    with Path(__file__).with_name("regions.csv").open(newline="", encoding="utf-8") as table:
        rows = [
            Region(
                name=row["name"],
                display_name=row["display_name"],
                zones=tuple(filter(None, row["zones"].split(";"))),
            )
            for row in csv.DictReader(table)
        ]
    return MappingProxyType({region.name: region for region in rows})
