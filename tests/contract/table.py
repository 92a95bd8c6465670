"""Reads a table of cases: what a plug-in is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, kw_only=True)
class Case:
    """What all cases have. `str` of it names the case, its source and how certain that is."""

    name: str
    source: str
    token: str
    unconfirmed: str = ""

    def __str__(self) -> str:
        doubt = f"; unconfirmed: {self.unconfirmed}" if self.unconfirmed else ""
        return f"{self.name} ({self.source}{doubt})"


@dataclass(frozen=True, kw_only=True)
class DiffCase(Case):
    old: dict[str, Any]
    new: dict[str, Any]
    differs: dict[str, str]
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReadCase(Case):
    id: str
    answer: Any
    status: int = 200
    # None is an import.
    inputs: dict[str, Any] | None = None
    state: dict[str, Any] = field(default_factory=dict)
    finds: dict[str, Any] = field(default_factory=dict)
    gone: bool = False
    # The API version of the request.
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckCase(Case):
    inputs: dict[str, Any]
    adds: dict[str, Any] = field(default_factory=dict)
    refuses: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Table:
    # By their names in the table: tokens of types, and ids of resources of them.
    types: Mapping[str, str]
    ids: Mapping[str, str]
    # By type, the paths whose change replaces a resource.
    replacing: Mapping[str, frozenset[str]]
    diffs: list[DiffCase]
    reads: list[ReadCase]
    checks: list[CheckCase]


def read_table(path: Path) -> Table:
    content = yaml.safe_load(path.read_text())
    types, ids = content["types"], content.get("ids", {})

    def cases(kind: str) -> list[dict[str, Any]]:
        return [case | {"token": types[case.pop("type")]} for case in content.get(kind, ())]

    id_of = {types[name]: resource_id for name, resource_id in ids.items()}
    return Table(
        types,
        ids,
        {name: frozenset(paths) for name, paths in content.get("replacing", {}).items()},
        [DiffCase(**case) for case in cases("diffs")],
        [ReadCase(id=id_of[case["token"]], **case) for case in cases("reads")],
        [CheckCase(**case) for case in cases("checks")],
    )
