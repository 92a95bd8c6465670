"""Sizes without GPUs that node pools are commonly made of, from cpu_sizes.csv."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class CpuSize:
    """One virtual machine size without GPUs."""

    name: str
    vcpus: int
    memory_gib: float
    quota_family: str
    generations: frozenset[str]


@cache
def cpu_sizes() -> Mapping[str, CpuSize]:
    """The sizes of the table, by their lower-cased names."""
    with Path(__file__).with_name("cpu_sizes.csv").open(newline="", encoding="utf-8") as table:
        sizes = [
            CpuSize(
                name=row["name"],
                vcpus=int(row["vcpus"]),
                memory_gib=float(row["memory_gib"]),
                quota_family=row["quota_family"],
                generations=frozenset(row["generations"].split(";")),
            )
            for row in csv.DictReader(table)
        ]
    return MappingProxyType({size.name.lower(): size for size in sizes})
