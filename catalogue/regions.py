"""Azure's regions, from regions.csv."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 21)


@dataclass(frozen=True, kw_only=True)
class Region:
    """One region: its name in requests and for people, and its zones."""

    name: str
    display_name: str
    zones: tuple[str, ...]


def plain(name: str) -> str:
    """A name as Azure compares names, those of regions above all: without case and white space."""
    return "".join(name.split()).lower()


@cache
def regions() -> Mapping[str, Region]:
    """The regions of the table, by name."""
    with Path(__file__).with_name("regions.csv").open(newline="", encoding="utf-8") as table:
        found = [
            Region(
                name=row["name"],
                display_name=row["display_name"],
                zones=tuple(filter(None, row["zones"].split(";"))),
            )
            for row in csv.DictReader(table)
        ]
    return MappingProxyType({region.name: region for region in found})
