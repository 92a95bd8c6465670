"""What the rehearsal does of AKS, row by row: each row has its test, and a page has what differs.

`python -m tests.rehearsal.arm.test_coverage` writes the page anew.
"""

import ast
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rehearsal.arm.aks import refusals
from rehearsal.arm.aks.refusals import Rule

ROOT = Path(__file__).parents[3]
TABLES = Path(__file__).with_name("coverage")
PAGE = ROOT / "docs" / "rehearsal-differences.md"

# In the order of the page.
PARTS = (
    "pools",
    "clusters",
    "operations",
    "lists",
    "errors",
    "refusals",
    "endpoints",
    "bodies",
)
# What the rehearsal does about a row, and what the row has to say of it.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "as recorded": ("tests",),
    "as documented": ("tests",),
    "exception": ("reason", "consequence"),
    "unknown": ("reason",),
}
# Refusals are rows already; each has its request there.
RULES = (
    *refusals.rules("pool_request"),
    *refusals.rules("pool_result"),
    *refusals.rules("cluster_request"),
    *refusals.rules("cluster_result"),
)
OF_RULES = "tests/rehearsal/arm/aks/test_refusals.py::test_each_rule_has_a_request_that_breaks_it"
FIELDS = frozenset(["id", "aks", "source", "here", "reason", "consequence", "tests"])

HEAD = """\
# Where the rehearsal differs from AKS

The rehearsal's server does what AKS and Azure Resource Manager did in recordings, and what their
pages say. This page lists the rest. The tables in `tests/rehearsal/arm/coverage/` have every row,
with its source, its test and its reason.

Refusals stand in `tools/rehearsal/arm/aks/refusals.toml`, each with its source. Half of them have
words of this project, since those of AKS are not on record. What has no source is not refused.
"""


@dataclass(frozen=True)
class Part:
    """One table."""

    name: str
    title: str
    rows: list[dict[str, Any]]


@cache
def part(name: str) -> Part:
    content = tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8"))
    rules = [*map(_of_rule, RULES)] if name == "refusals" else []
    return Part(name, content["title"], [*rules, *content.get("row", [])])


def _of_rule(rule: Rule) -> dict[str, Any]:
    """Returns the row of a refusal, which has all that the page says of it."""
    is_recorded = rule.source.startswith("test_")
    return {
        "id": rule.name,
        "aks": rule.summary,
        "source": rule.source,
        "here": "as recorded" if is_recorded else "as documented",
        "tests": [OF_RULES],
    }


def page() -> str:
    return "\n".join([HEAD, *(_section(part(name)) for name in PARTS)])


def _section(shown: Part) -> str:
    lines = [f"## {shown.title}", ""]
    differs = [row for row in shown.rows if row["here"] == "exception"]
    if differs:
        lines += ["| AKS | here |", "|---|---|", *map(_difference, differs), ""]
    unknown = [row for row in shown.rows if row["here"] == "unknown"]
    if unknown:
        lines += ["Unknown:", "", *(f"- {row['aks']}" for row in unknown), ""]
    return "\n".join(lines)


def _difference(row: dict[str, Any]) -> str:
    consequence = row["consequence"]
    here = f"{consequence[0].upper()}{consequence[1:].rstrip('.')}."
    aks, here = (" ".join(cell.replace("|", "\\|").split()) for cell in (row["aks"], here))
    return f"| {aks} | {here} |"


@cache
def _tests_of(file: Path) -> frozenset[str]:
    """Returns the names of the functions of a file, those of classes with the class before them."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        names |= {f"{prefix}{one.name}" for one in inner if isinstance(one, ast.FunctionDef)}
    return frozenset(names)


def faults(row: dict[str, Any]) -> list[str]:
    """Returns what is wrong with a row."""
    problems = [f"no {name}" for name in ("id", "aks", "source", "here") if not row.get(name)]
    problems += [f"unknown field {name}" for name in sorted(set(row) - FIELDS)]
    if row.get("here") not in NEEDS:
        problems.append(f"here is none of {', '.join(NEEDS)}")
    problems += [f"no {name}" for name in NEEDS.get(row.get("here", ""), ()) if not row.get(name)]
    for test in row.get("tests", ()):
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file() or name not in _tests_of(ROOT / file):
            problems.append(f"no test {test}")
    return problems


@pytest.mark.parametrize("name", PARTS)
def test_each_row_has_its_support_and_its_test(name: str) -> None:
    wrong = {row.get("id", "?"): faults(row) for row in part(name).rows if faults(row)}
    assert not wrong


def test_each_table_is_used_and_each_row_has_a_unique_id() -> None:
    assert sorted(file.stem for file in TABLES.iterdir()) == sorted(PARTS)
    names = Counter(row["id"] for name in PARTS for row in part(name).rows)
    assert [name for name, times in names.items() if times > 1] == []


def test_the_page_is_made_from_the_tables() -> None:
    again = "write it anew: python -m tests.rehearsal.arm.test_coverage"
    assert PAGE.read_text(encoding="utf-8") == page(), again


GOOD = {
    "id": "one",
    "aks": "does this",
    "source": "some_recording (3, 2025)",
    "here": "as recorded",
    "tests": ["tests/rehearsal/arm/test_coverage.py::test_an_incomplete_row_is_reported"],
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, []),
        ({"tests": []}, ["no tests"]),
        ({"tests": ["tests/nothing.py::test_it"]}, ["no test tests/nothing.py::test_it"]),
        (
            {"tests": ["tests/rehearsal/arm/test_coverage.py::test_gone"]},
            ["no test tests/rehearsal/arm/test_coverage.py::test_gone"],
        ),
        ({"here": "exception", "reason": "speed"}, ["no consequence"]),
        ({"here": "unknown"}, ["no reason"]),
        ({"here": "perhaps"}, ["here is none of " + ", ".join(NEEDS)]),
        ({"source": ""}, ["no source"]),
        ({"note": "x"}, ["unknown field note"]),
    ],
)
def test_an_incomplete_row_is_reported(change: dict[str, Any], fault: list[str]) -> None:
    assert faults(GOOD | change) == fault


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
